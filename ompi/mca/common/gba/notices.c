/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The notices of teams whose device has died (gba_notice_t), as messages between processes. They
 * are sent and taken in from opal_progress, since a member may be anywhere in MPI or OpenSHMEM when
 * another one needs its answer: in a receive from that very one, in shmem_wait_until, or in
 * MPI_Finalize.
 *
 * They go over a communicator of the whole job, which outlives every team: a team is always within
 * one job. Nothing is posted ahead for them: a wildcard receive on MPI_COMM_WORLD would cost all
 * the user's messages. Instead each process asks the PML now and then whether one has come.
 *
 * A process with both components has two of these services, each with a channel of its own. Either
 * may take in what the other one's teams need: libgba knows them all by their ids.
 *
 * The lock: progress may come back to us from any call into the PML, so `stepping` is only tried,
 * and whoever holds it does all the work. What others hand over is in the outbox, under a lock of
 * its own, which is held for no call at all; so a notice can be posted under any other lock.
 */
#include "ompi/mca/common/gba/gba_common.h"

#include "gba/base/clock.h"
#include "gba/base/order.h"
#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"

/* Calls of opal_progress between two looks at the clock: some 100 ns each in a busy MPI_Recv, and
 * up to a millisecond in a barrier that sleeps, so not many. */
#define CALLS 16u

/* Between two looks for notices, which cost about a microsecond: a tenth of a percent of a core.
 * And that long after the last notice of any kind we look at every turn: more are to come. */
#define LOOK_NS  1000000u
#define AWAKE_NS 20000000u

/* Calls of opal_progress, at most, in which a few bytes get out to those who take anything in:
 * about a millisecond. Who is stopped or dead must not hold others. */
#define FLUSH_CALLS 1000u

/* Looks at the end in any case, for what others have told us since the last one. And for how long
 * to wait for answers: a member may not be running just now. */
#define DRAIN_LOOKS 16u
#define DRAIN_NS    500000000u

struct message {
    struct message *next;
    ompi_request_t *request; /* while it is on its way */
    int peer;                /* rank in service.comm */
    gba_notice_t notice;
};

/* First in, first out. */
struct queue {
    struct message *first, **last;
};

static struct {
    bool registered;
    struct ompi_communicator_t *comm;
    opal_mutex_t stepping;
    unsigned calls;
    uint64_t due, awake; /* ns */
    /* Under `stepping`: on their way out and in, and what cannot be answered yet. */
    struct queue sending, receiving, questions;
    long unanswered; /* notices of ours that are out, without their answers */
    opal_mutex_t posting;
    struct queue outbox;
    gba_word_t posted; /* 1: there is something in the outbox */
    gba_word_t owing;  /* 1: there are questions, or messages on their way out */
} service = {.stepping = OPAL_MUTEX_STATIC_INIT, .posting = OPAL_MUTEX_STATIC_INIT};

/* Of each thread: that it is in a step or in a flush, and is to flush at the end of that. */
static _Thread_local bool inside, again;

static void queue_init(struct queue *queue)
{
    queue->first = NULL;
    queue->last = &queue->first;
}

static void queue_put(struct queue *queue, struct message *message)
{
    message->next = NULL;
    *queue->last = message;
    queue->last = &message->next;
}

/* Take all out, to put back those that stay. */
static struct message *queue_empty(struct queue *queue)
{
    struct message *all = queue->first;

    queue_init(queue);
    return all;
}

static void queue_free(struct queue *queue)
{
    struct message *next;

    for (struct message *m = queue_empty(queue); NULL != m; m = next) {
        next = m->next;
        free(m);
    }
}

static struct message *message_make(int peer, const gba_notice_t *notice)
{
    struct message *message = calloc(1, sizeof *message);

    if (NULL == message)
        return NULL;
    message->peer = peer;
    if (NULL != notice)
        message->notice = *notice;
    return message;
}

static void outbox_put(struct message *message)
{
    opal_mutex_lock(&service.posting);
    queue_put(&service.outbox, message);
    gba_word_store_relaxed(&service.posted, 1);
    opal_mutex_unlock(&service.posting);
}

/* All of what is in the outbox is sent; what fails is tried again at the next turn. */
static void outbox_send(void)
{
    struct message *all, *next;

    opal_mutex_lock(&service.posting);
    all = queue_empty(&service.outbox);
    gba_word_store_relaxed(&service.posted, 0);
    opal_mutex_unlock(&service.posting);
    for (struct message *m = all; NULL != m; m = next) {
        next = m->next;
        if (OMPI_SUCCESS == MCA_PML_CALL(isend(&m->notice, sizeof m->notice, MPI_BYTE, m->peer,
                                               GBA_COMMON_TAG_NOTICES, MCA_PML_BASE_SEND_STANDARD,
                                               service.comm, &m->request))) {
            service.unanswered += !m->notice.over;
            queue_put(&service.sending, m);
        } else {
            outbox_put(m);
        }
    }
}

static bool message_over(struct message *message)
{
    if (!REQUEST_COMPLETE(message->request))
        return false;
    /* Acquire: another thread may have completed it. Pairs with the PML's write barrier. */
    gba_fence_acquire();
    (void)ompi_request_free(&message->request);
    return true;
}

/* Post the receives of what has come. */
static void notices_receive(void)
{
    ompi_status_public_t status;
    struct message *m;
    int come;

    for (;;) {
        if (OMPI_SUCCESS != MCA_PML_CALL(iprobe(MPI_ANY_SOURCE, GBA_COMMON_TAG_NOTICES,
                                                service.comm, &come, &status)) ||
            !come)
            return;
        m = message_make(status.MPI_SOURCE, NULL);
        if (NULL == m)
            return; /* it stays with the PML until there is memory */
        if (OMPI_SUCCESS !=
            MCA_PML_CALL(irecv(&m->notice, sizeof m->notice, MPI_BYTE, m->peer,
                               GBA_COMMON_TAG_NOTICES, service.comm, &m->request))) {
            free(m);
            return;
        }
        queue_put(&service.receiving, m);
    }
}

/* Take in what is complete. Returns whether anything was. */
static bool notices_take(void)
{
    struct message *next;
    bool any = false;

    for (struct message *m = queue_empty(&service.receiving); NULL != m; m = next) {
        next = m->next;
        if (!message_over(m)) {
            queue_put(&service.receiving, m);
            continue;
        }
        any = true;
        /* Before it is taken: another thread may leave a round by it at once, and asks then. */
        gba_word_store_relaxed(&service.owing, 1);
        /* Of a team that has come to its end here, which is an answer as well. */
        (void)gba_notice_take(&m->notice);
        if (m->notice.over) {
            service.unanswered--;
            free(m);
        } else {
            queue_put(&service.questions, m);
        }
    }
    return any;
}

/* The message of a question takes the answer back. */
static void questions_answer(void)
{
    struct message *next;
    gba_notice_t answer;

    for (struct message *m = queue_empty(&service.questions); NULL != m; m = next) {
        next = m->next;
        if (GBA_OK != gba_notice_answer(&m->notice, &answer)) {
            queue_put(&service.questions, m);
            continue;
        }
        m->notice = answer;
        outbox_put(m);
    }
}

static void sent_free(void)
{
    struct message *next;

    for (struct message *m = queue_empty(&service.sending); NULL != m; m = next) {
        next = m->next;
        if (message_over(m))
            free(m);
        else
            queue_put(&service.sending, m);
    }
}

static int notices_step(void)
{
    bool any;

    notices_receive();
    any = notices_take();
    questions_answer();
    outbox_send();
    sent_free();
    gba_word_store_relaxed(&service.owing,
                           NULL != service.questions.first || NULL != service.sending.first);
    return any;
}

/* Under the lock, as all of it. Progress in here may bring the end of a barrier, see flush. */
static int notices_step_inside(void)
{
    bool outer = inside;
    int any;

    inside = true;
    any = notices_step();
    inside = outer;
    return any;
}

static int notices_progress(void)
{
    uint64_t now;
    int any = 0;

    /* Not exact among threads, and it need not be. */
    if (0 != ++service.calls % CALLS || 0 != opal_mutex_trylock(&service.stepping))
        return 0;
    now = gba_clock_ns();
    if (0 != gba_word_load_relaxed(&service.posted))
        service.awake = now + AWAKE_NS;
    if (now < service.awake || now >= service.due) {
        service.due = now + LOOK_NS;
        any = notices_step_inside();
        if (any)
            service.awake = now + AWAKE_NS;
    }
    opal_mutex_unlock(&service.stepping);
    if (again && !inside)
        gba_common_notices_flush();
    return any;
}

int gba_common_notices_start(opal_mutex_t *lock, struct ompi_communicator_t *comm)
{
    int rc = OMPI_SUCCESS;

    opal_mutex_lock(lock);
    if (!service.registered) {
        service.comm = comm;
        queue_init(&service.sending);
        queue_init(&service.receiving);
        queue_init(&service.questions);
        queue_init(&service.outbox);
        rc = opal_progress_register(notices_progress);
        service.registered = OMPI_SUCCESS == rc;
    }
    opal_mutex_unlock(lock);
    return rc;
}

/* A step, and whether something has still not got out. */
static bool notices_send(void)
{
    (void)notices_step_inside();
    return 0 != gba_word_load_relaxed(&service.posted) || NULL != service.sending.first;
}

void gba_common_notices_drain(void)
{
    uint64_t end = gba_clock_ns() + DRAIN_NS;
    bool owed = true;

    if (!service.registered)
        return;
    for (unsigned i = 0; i < DRAIN_LOOKS || (owed && gba_clock_ns() < end); i++) {
        opal_mutex_lock(&service.stepping);
        owed = notices_send() || service.unanswered > 0;
        opal_mutex_unlock(&service.stepping);
        (void)opal_progress();
    }
}

void gba_common_notices_stop(void)
{
    if (!service.registered)
        return;
    (void)opal_progress_unregister(notices_progress);
    service.registered = false;
    queue_free(&service.outbox);
    queue_free(&service.questions);
    sent_free();
    /* What is still under way the PML may yet read or write, so that is the PML's. */
}

static void notices_flush(void)
{
    bool owed = true;

    for (unsigned i = 0; (owed || again) && i < FLUSH_CALLS; i++) {
        if (0 == opal_mutex_trylock(&service.stepping)) {
            again = false; /* what is over by now is answered in this step */
            owed = notices_send();
            opal_mutex_unlock(&service.stepping);
        }
        if (owed || again)
            (void)opal_progress();
    }
}

void gba_common_notices_flush(void)
{
    if (!service.registered ||
        (0 == gba_word_load_relaxed(&service.posted) && 0 == gba_word_load_relaxed(&service.owing)))
        return;
    /* In progress of a step, whose lock no trial would get. It is answered further up, before this
     * thread gets back to the user: the step may be past its answers by now. */
    if (inside) {
        again = true;
        return;
    }
    inside = true;
    notices_flush();
    inside = false;
    again = false;
}

uint64_t gba_common_notices_id(uint64_t ids)
{
    static gba_word_t teams;

    /* Of this process and not of another: its rank; and not of a team before: a count. */
    return ids | (uint64_t)OPAL_PROC_MY_NAME.vpid << 32 | (gba_word_add_relaxed(&teams, 1) + 1);
}

void gba_common_notices_tell(const gba_team_t *team, uint64_t *told, uint32_t size,
                             int (*peer)(const void *ctx, uint32_t member), const void *ctx)
{
    struct message *m = NULL, *all = NULL, *next;
    gba_notice_t notice;

    if (GBA_OK != gba_team_notice(team, &notice) || notice.round <= *told)
        return;
    for (uint32_t member = 0; member < size; member++) {
        if (member == notice.member)
            continue;
        m = message_make(peer(ctx, member), &notice);
        if (NULL == m)
            break;
        m->next = all;
        all = m;
    }
    /* To all or to none; the caller comes again as long as the round is not over. */
    if (NULL != m)
        *told = notice.round;
    for (; NULL != all; all = next) {
        next = all->next;
        if (*told == notice.round)
            outbox_put(all);
        else
            free(all);
    }
}

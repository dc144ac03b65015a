/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The failure notifications of teams whose device has failed (gba_notification_t), as messages
 * between processes. opal_progress sends and receives them, because a member may be in any call of
 * MPI or OpenSHMEM when another member needs its answer: in a receive from that same member, in
 * shmem_wait_until, or in MPI_Finalize.
 *
 * They use a communicator of the whole job, which outlives every team: a team is always within one
 * job. No receive is posted in advance, because a wildcard receive on MPI_COMM_WORLD would slow
 * down all messages of the user. Instead each process probes now and then: by time, because a
 * process may call MPI every minute. While it owes a notification or an answer, it does so in every
 * turn of progress.
 *
 * A process with both components has two of these services, each with its own channel. Either
 * service may receive notifications for teams of the other one: libgba finds every team by its id.
 *
 * Locks. Progress may re-enter this file from any call into the PML. So `stepping` is only tried,
 * and its holder does all the work. Other callers put their messages into the outbox. The outbox
 * has its own lock, which is held across no call, so a notification can be posted under any other
 * lock.
 */
#include "ompi/mca/common/gba/notifications.h"

#include "gba/base/clock.h"
#include "gba/base/order.h"
#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/mca/common/gba/message_queue.h"
#include "ompi/mca/common/gba/transport.h"
#include "ompi/mca/pml/pml.h"

/* Time between two steps. A step costs about two microseconds: a fifth of a percent of a core. For
 * AWAKE_NS after the last notification every turn has a step, because more are expected. */
#define STEP_NS  1000000u
#define AWAKE_NS 20000000u

/* Steps at the end in any case, for notifications that have arrived since the last step. DRAIN_NS:
 * the longest wait for answers, because a member may not be running at the time. */
#define DRAIN_SPINS 16u
#define DRAIN_NS    500000000u

static struct {
    gba_word_t registered; /* 1: all fields below are set, see service_runs */
    struct ompi_communicator_t *comm;
    opal_mutex_t stepping;
    gba_word_t due; /* ns: the time of the next step; 0: now */
    uint64_t awake; /* ns */
    /* Under `stepping`: in transit out and in, questions that cannot be answered yet, and our own
     * that are not answered. */
    struct queue sending, receiving, questions, unanswered;
    opal_mutex_t posting;
    struct queue outbox;
    gba_word_t posted; /* 1: the outbox is not empty */
    gba_word_t owing;  /* 1: there are unanswered questions, or messages out of the outbox */
} service = {.stepping = OPAL_MUTEX_STATIC_INIT, .posting = OPAL_MUTEX_STATIC_INIT};

/* Acquire: pairs with gba_common_notifications_start in another thread, which initialises the
 * service first. */
static bool service_runs(void)
{
    return 0 != gba_word_load_acquire(&service.registered);
}

/* Take `stepping`. Returns false if another caller has it, or the service has stopped. */
static bool stepping_try(void)
{
    if (0 != opal_mutex_trylock(&service.stepping))
        return false;
    if (service_runs())
        return true;
    opal_mutex_unlock(&service.stepping);
    return false;
}

/* Whether this process has something to send, or a question that it cannot answer yet. Acquire:
 * pairs with outbox_send. */
static bool owes(void)
{
    return 0 != gba_word_load_acquire(&service.posted) ||
           0 != gba_word_load_relaxed(&service.owing);
}

static void outbox_put(struct message *message)
{
    opal_mutex_lock(&service.posting);
    queue_put(&service.outbox, message);
    gba_word_store_relaxed(&service.posted, 1);
    opal_mutex_unlock(&service.posting);
}

/* Send all messages of the outbox. A message that cannot be sent is tried again at the next step.
 */
static void outbox_send(void)
{
    struct message *all, *next;

    opal_mutex_lock(&service.posting);
    all = queue_empty(&service.outbox);
    /* The messages are in no queue while they are sent, so `owing` shows another thread, and the
     * progress of a send, that they are owed. Release: pairs with gba_common_notifications_out. */
    if (NULL != all)
        gba_word_store_relaxed(&service.owing, 1);
    gba_word_store_release(&service.posted, 0);
    opal_mutex_unlock(&service.posting);
    for (struct message *m = all; NULL != m; m = next) {
        next = m->next;
        if (OMPI_SUCCESS ==
            MCA_PML_CALL(isend(&m->notification, sizeof m->notification, MPI_BYTE, m->peer,
                               GBA_COMMON_TAG_NOTIFICATIONS, MCA_PML_BASE_SEND_STANDARD,
                               service.comm, &m->request))) {
            queue_put(&service.sending, m);
        } else {
            outbox_put(m);
        }
    }
}

/* Whether a message has arrived. A probe that finds none has only made the PML take its messages
 * in, so a second one decides. */
static bool message_arrived(ompi_status_public_t *status)
{
    int come = 0;

    for (int i = 0; i < 2 && !come; i++)
        if (OMPI_SUCCESS != MCA_PML_CALL(iprobe(MPI_ANY_SOURCE, GBA_COMMON_TAG_NOTIFICATIONS,
                                                service.comm, &come, status)))
            return false;
    return come;
}

/* Post the receives of the messages that have arrived. */
static void notifications_receive(void)
{
    ompi_status_public_t status;
    struct message *m;

    while (message_arrived(&status)) {
        m = message_make(status.MPI_SOURCE);
        if (NULL == m)
            return; /* it stays with the PML until there is memory */
        if (OMPI_SUCCESS !=
            MCA_PML_CALL(irecv(&m->notification, sizeof m->notification, MPI_BYTE, m->peer,
                               GBA_COMMON_TAG_NOTIFICATIONS, service.comm, &m->request))) {
            free(m);
            return;
        }
        queue_put(&service.receiving, m);
    }
}

/*
 * Mark the notifications that the sender of `from` no longer needs. A member that answers a round
 * has completed it. A member that has arrived at a round has completed the round before.
 */
static void sending_withdraw(const struct message *from)
{
    uint64_t completed =
        from->notification.completed ? from->notification.round : from->notification.round - 1;

    for (struct message *m = service.sending.first; NULL != m; m = m->next)
        if (m->peer == from->peer && m->notification.team == from->notification.team &&
            m->notification.round <= completed)
            m->needless = true;
}

/* Take the sender of `from` for one that has answered: it sends "completed" once for each round. */
static void unanswered_settle(const struct message *from)
{
    const struct queue *queues[] = {&service.sending, &service.unanswered, &service.outbox};

    /* Those of the outbox, too: the peer does not answer a question that comes after its
     * "completed". */
    opal_mutex_lock(&service.posting);
    for (int i = 0; i < 3; i++)
        for (struct message *m = queues[i]->first; NULL != m; m = m->next)
            m->answered |= m->peer == from->peer &&
                           m->notification.team == from->notification.team &&
                           m->notification.round <= from->notification.round;
    opal_mutex_unlock(&service.posting);
}

/* Process the completed receives. Returns whether there were any. */
static bool notifications_take(void)
{
    struct message *next;
    bool any = false;

    for (struct message *m = queue_empty(&service.receiving); NULL != m; m = next) {
        next = m->next;
        if (!message_complete(m)) {
            queue_put(&service.receiving, m);
            continue;
        }
        any = true;
        /* Before the notification is taken: another thread may complete a round by it at once, and
         * then reads this word. */
        gba_word_store_relaxed(&service.owing, 1);
        /* A result other than GBA_OK means that the team has ended here, which is an answer as
         * well. */
        (void)gba_notification_take(&m->notification);
        sending_withdraw(m);
        if (m->notification.completed) {
            unanswered_settle(m);
            free(m);
        } else {
            queue_put(&service.questions, m);
        }
    }
    return any;
}

/* Answer the questions whose answer is known. The message of a question carries the answer back. */
static void questions_answer(void)
{
    struct message *next;
    gba_notification_t answer;
    gba_status_t status;

    for (struct message *m = queue_empty(&service.questions); NULL != m; m = next) {
        next = m->next;
        status = gba_notification_answer(&m->notification, &answer);
        if (GBA_INPROGRESS == status) {
            queue_put(&service.questions, m);
        } else if (GBA_OK == status) {
            m->notification = answer;
            outbox_put(m);
        } else {
            free(m); /* answered before it came */
        }
    }
}

static void sent_free(void)
{
    struct message *next;

    for (struct message *m = queue_empty(&service.sending); NULL != m; m = next) {
        next = m->next;
        if (!message_complete(m))
            queue_put(&service.sending, m);
        else if (m->notification.completed || m->answered)
            free(m);
        else
            queue_put(&service.unanswered, m);
    }
}

static int notifications_step(void)
{
    bool any;

    notifications_receive();
    any = notifications_take();
    questions_answer();
    outbox_send();
    sent_free();
    queue_free_answered(&service.unanswered);
    /* What could not be sent is in the outbox again. */
    gba_word_store_relaxed(&service.owing, NULL != service.questions.first ||
                                               NULL != service.sending.first ||
                                               0 != gba_word_load_relaxed(&service.posted));
    return any;
}

/* Take a step, unless another caller does. */
static int notifications_turn(uint64_t now)
{
    int any;

    if (!stepping_try())
        return 0;
    any = notifications_step();
    if (any || owes())
        service.awake = now + AWAKE_NS;
    gba_word_store_relaxed(&service.due, now < service.awake ? 0 : now + STEP_NS);
    opal_mutex_unlock(&service.stepping);
    return any;
}

static int notifications_progress(void)
{
    uint64_t now = gba_clock_ns();

    return now >= gba_word_load_relaxed(&service.due) || owes() ? notifications_turn(now) : 0;
}

void gba_common_notifications_poll(void)
{
    if (service_runs())
        (void)notifications_turn(gba_clock_ns());
}

int gba_common_notifications_start(opal_mutex_t *lock, struct ompi_communicator_t *comm)
{
    int rc = OMPI_SUCCESS;

    opal_mutex_lock(lock);
    if (!service_runs()) {
        service.comm = comm;
        queue_init(&service.sending);
        queue_init(&service.receiving);
        queue_init(&service.questions);
        queue_init(&service.unanswered);
        queue_init(&service.outbox);
        rc = opal_progress_register(notifications_progress);
        /* Release: pairs with service_runs. */
        gba_word_store_release(&service.registered, OMPI_SUCCESS == rc);
    }
    opal_mutex_unlock(lock);
    return rc;
}

/* Run a step. Returns whether a message has still not been sent. */
static bool notifications_send(void)
{
    (void)notifications_step();
    return 0 != gba_word_load_relaxed(&service.posted) || NULL != service.sending.first;
}

void gba_common_notifications_drain(void)
{
    uint64_t end = gba_clock_ns() + DRAIN_NS;
    bool owed = true;

    if (!service_runs())
        return;
    for (unsigned i = 0; i < DRAIN_SPINS || (owed && gba_clock_ns() < end); i++) {
        opal_mutex_lock(&service.stepping);
        owed = notifications_send() || NULL != service.unanswered.first;
        opal_mutex_unlock(&service.stepping);
        (void)opal_progress();
    }
}

void gba_common_notifications_stop(void)
{
    if (!service_runs())
        return;
    (void)opal_progress_unregister(notifications_progress);
    /* Another thread may be in a step, or come to one: it sees under the lock that the service has
     * stopped. */
    opal_mutex_lock(&service.stepping);
    gba_word_store_release(&service.registered, 0);
    opal_mutex_lock(&service.posting);
    queue_free(&service.outbox);
    opal_mutex_unlock(&service.posting);
    queue_free(&service.questions);
    queue_free(&service.unanswered);
    sent_free();
    /* The PML may still read or write the messages in transit, so they are not freed. */
    opal_mutex_unlock(&service.stepping);
}

bool gba_common_notifications_out(const gba_team_t *team)
{
    uint64_t id = gba_team_failed_id(team);
    bool out;

    if (0 == id || !service_runs() || !owes())
        return true;
    /* Another thread has the lock; or this thread has it, because the progress of a step has
     * completed the barrier. That step may have passed its answers already, so the next call
     * answers. */
    if (!stepping_try())
        return false;
    (void)notifications_step();
    opal_mutex_lock(&service.posting);
    out = !queue_holds(&service.outbox, id);
    opal_mutex_unlock(&service.posting);
    out = out && !queue_holds(&service.sending, id);
    opal_mutex_unlock(&service.stepping);
    return out;
}

uint64_t gba_common_notifications_id(uint64_t ids)
{
    static gba_word_t teams;

    /* Unique among processes by the rank, and within the process by the count. */
    return ids | (uint64_t)OPAL_PROC_MY_NAME.vpid << 32 | (gba_word_add_relaxed(&teams, 1) + 1);
}

bool gba_common_notifications_post(gba_team_t *team, int (*peer)(const void *ctx, uint32_t member),
                                   const void *ctx)
{
    struct message *m;
    uint32_t to;

    if (0 == gba_team_failed_id(team))
        return true;
    for (;;) {
        /* Memory first, because libgba returns each notification once. */
        m = message_make(0);
        if (NULL == m)
            return false;
        if (GBA_OK != gba_team_notification(team, &m->notification, &to))
            break;
        m->peer = peer(ctx, to);
        outbox_put(m);
    }
    free(m);
    return true;
}

void gba_common_notifications_flush(gba_team_t *team, int (*peer)(const void *ctx, uint32_t member),
                                    const void *ctx)
{
    while (!gba_common_notifications_post(team, peer, ctx) || !gba_common_notifications_out(team))
        (void)opal_progress();
}

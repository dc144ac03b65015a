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

#include <stdlib.h>

#include "gba/base/clock.h"
#include "gba/base/order.h"
#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/mca/common/gba/transport.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"

/* Time between two steps. A step costs about two microseconds: a fifth of a percent of a core. For
 * AWAKE_NS after the last notification every turn has a step, because more are expected. */
#define STEP_NS  1000000u
#define AWAKE_NS 20000000u

/* Steps at the end in any case, for notifications that have arrived since the last step. DRAIN_NS:
 * the longest wait for answers, because a member may not be running at the time. */
#define DRAIN_SPINS 16u
#define DRAIN_NS    500000000u

/* What becomes of a message: one of this process is due, sent, and unanswered until its peer has
 * completed the round; one of another process is received, and a question until this process has
 * completed the round. The answer is due then, in the same object. */
enum state { DUE, SENDING, UNANSWERED, RECEIVING, QUESTION, OVER };

struct message {
    struct message *next;
    ompi_request_t *request; /* while it is in transit */
    enum state state;
    int peer;      /* rank in service.comm */
    bool needless; /* the peer has completed that round, so it needs no notification */
    bool answered; /* the peer has sent that this round is complete */
    gba_notification_t notification;
};

static struct {
    gba_word_t registered; /* 1: all fields below are set, see service_runs */
    struct ompi_communicator_t *comm;
    opal_mutex_t stepping;
    gba_word_t due;           /* ns: the time of the next step; 0: now */
    uint64_t awake;           /* ns */
    struct message *messages; /* under `stepping` */
    opal_mutex_t posting;
    struct message *outbox; /* under `posting` */
    gba_word_t posted;      /* 1: the outbox is not empty */
    gba_word_t owing;       /* 1: a message is due, in transit out, or a question */
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
 * pairs with outbox_take. */
static bool owes(void)
{
    return 0 != gba_word_load_acquire(&service.posted) ||
           0 != gba_word_load_relaxed(&service.owing);
}

/* Put it in front of a list. */
static void message_put(struct message **list, struct message *message, enum state state)
{
    message->state = state;
    message->next = *list;
    *list = message;
}

static bool message_complete(struct message *message)
{
    int error;

    return gba_common_message_complete(&message->request, &error, NULL);
}

/* Take over the outbox. From now on `owing` shows another thread, and the progress of a send, that
 * its messages are owed. Release: pairs with owes. */
static void outbox_take(void)
{
    struct message *next;

    opal_mutex_lock(&service.posting);
    if (service.outbox != NULL)
        gba_word_store_relaxed(&service.owing, 1);
    for (struct message *m = service.outbox; m != NULL; m = next) {
        next = m->next;
        message_put(&service.messages, m, DUE);
    }
    service.outbox = NULL;
    gba_word_store_release(&service.posted, 0);
    opal_mutex_unlock(&service.posting);
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
        m = calloc(1, sizeof *m);
        if (m == NULL)
            return; /* it stays with the PML until there is memory */
        m->peer = status.MPI_SOURCE;
        if (OMPI_SUCCESS !=
            MCA_PML_CALL(irecv(&m->notification, sizeof m->notification, MPI_BYTE, m->peer,
                               GBA_COMMON_TAG_NOTIFICATIONS, service.comm, &m->request))) {
            free(m);
            return;
        }
        message_put(&service.messages, m, RECEIVING);
    }
}

/*
 * Mark the messages of a list to the sender of `from`: those that it no longer needs, and if it has
 * sent "completed", which it does once for each round, those that it will not answer any more. A
 * member that answers a round has completed it. A member that has arrived at a round has completed
 * the round before.
 */
static void list_settle(struct message *list, const struct message *from)
{
    const bool completed = from->notification.completed;
    const uint64_t round = from->notification.round - (completed ? 0 : 1);

    for (struct message *m = list; m != NULL; m = m->next)
        if (m->state <= UNANSWERED && m->peer == from->peer &&
            m->notification.team == from->notification.team && m->notification.round <= round) {
            m->needless = true;
            m->answered |= completed;
        }
}

/* A notification has been received. */
static void message_take(struct message *m)
{
    /* Before it is taken: another thread may complete a round by it at once, and then reads this
     * word. */
    gba_word_store_relaxed(&service.owing, 1);
    /* A result other than GBA_OK means that the team has ended here, which is an answer as well. */
    (void)gba_notification_take(&m->notification);
    list_settle(service.messages, m);
    /* Those of the outbox, too: the peer does not answer a question that comes after its
     * "completed". */
    opal_mutex_lock(&service.posting);
    list_settle(service.outbox, m);
    opal_mutex_unlock(&service.posting);
    m->state = m->notification.completed ? OVER : QUESTION;
}

/* Answer a question, if the answer is known. */
static void message_answer(struct message *m)
{
    gba_notification_t answer;
    gba_status_t status = gba_notification_answer(&m->notification, &answer);

    if (GBA_INPROGRESS == status)
        return;
    if (GBA_OK == status)
        m->notification = answer;
    m->state = GBA_OK == status ? DUE : OVER; /* answered before it came */
}

/* A message that cannot be sent is tried again at the next step. */
static void message_send(struct message *m)
{
    if (OMPI_SUCCESS == MCA_PML_CALL(isend(&m->notification, sizeof m->notification, MPI_BYTE,
                                           m->peer, GBA_COMMON_TAG_NOTIFICATIONS,
                                           MCA_PML_BASE_SEND_STANDARD, service.comm, &m->request)))
        m->state = SENDING;
}

/* Advance a message as far as possible. Returns whether it has advanced. */
static bool message_step(struct message *m)
{
    const enum state before = m->state;

    if (RECEIVING == m->state && message_complete(m))
        message_take(m);
    if (QUESTION == m->state)
        message_answer(m);
    if (DUE == m->state)
        message_send(m);
    if (SENDING == m->state && message_complete(m))
        m->state = m->notification.completed ? OVER : UNANSWERED;
    if (UNANSWERED == m->state && m->answered)
        m->state = OVER;
    return m->state != before;
}

#define BIT(state) (1u << (state))

/* Whether a list has a message in one of those states. team: and of that team, which its receiver
 * may need; 0: of any. */
static bool list_has(const struct message *list, unsigned states, uint64_t team)
{
    for (const struct message *m = list; m != NULL; m = m->next)
        if (0 != (states & BIT(m->state)) &&
            (0 == team || (m->notification.team == team && !m->needless)))
            return true;
    return false;
}

static void over_free(void)
{
    struct message **link = &service.messages, *m;

    while ((m = *link) != NULL)
        if (OVER == m->state) {
            *link = m->next;
            free(m);
        } else {
            link = &m->next;
        }
}

/* Receive, take, answer and send. Returns whether a notification has advanced. One that has been
 * sent counts, because the peer may have sent its own at the same time. */
static bool notifications_step(void)
{
    bool any = false;

    outbox_take();
    notifications_receive();
    for (struct message *m = service.messages; m != NULL; m = m->next)
        any |= message_step(m);
    over_free();
    gba_word_store_relaxed(&service.owing,
                           list_has(service.messages, BIT(DUE) | BIT(SENDING) | BIT(QUESTION), 0));
    return any;
}

/* Take a step, unless another caller does. */
static int notifications_turn(uint64_t now)
{
    bool any;

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

int gba_common_notifications_start(void)
{
    int rc = OMPI_SUCCESS;

    opal_mutex_lock(&gba_common.lock);
    if (!service_runs()) {
        service.comm = gba_common_framework.world();
        service.messages = service.outbox = NULL;
        rc = opal_progress_register(notifications_progress);
        /* Release: pairs with service_runs. */
        gba_word_store_release(&service.registered, OMPI_SUCCESS == rc);
    }
    opal_mutex_unlock(&gba_common.lock);
    return rc;
}

void gba_common_notifications_drain(void)
{
    uint64_t end = gba_clock_ns() + DRAIN_NS;
    bool owed = true;

    if (!service_runs())
        return;
    for (unsigned i = 0; i < DRAIN_SPINS || (owed && gba_clock_ns() < end); i++) {
        opal_mutex_lock(&service.stepping);
        (void)notifications_step();
        owed = list_has(service.messages, BIT(DUE) | BIT(SENDING) | BIT(UNANSWERED), 0);
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
    outbox_take();
    /* The PML may still read or write the messages in transit, so they are not freed. */
    for (struct message *m = service.messages; m != NULL; m = m->next)
        if ((SENDING != m->state && RECEIVING != m->state) || message_complete(m))
            m->state = OVER;
    over_free();
    service.messages = NULL;
    opal_mutex_unlock(&service.stepping);
}

bool gba_common_notifications_out(const struct gba_common_module *m)
{
    uint64_t id = gba_team_failed_id(m->team);
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
    out = !list_has(service.outbox, BIT(DUE), id) &&
          !list_has(service.messages, BIT(DUE) | BIT(SENDING), id);
    opal_mutex_unlock(&service.posting);
    opal_mutex_unlock(&service.stepping);
    return out;
}

uint64_t gba_common_notifications_id(void)
{
    static gba_word_t teams;

    /* Unique among processes by the rank, and within the process by the count. */
    return gba_common_framework.ids | (uint64_t)OPAL_PROC_MY_NAME.vpid << 32 |
           (gba_word_add_relaxed(&teams, 1) + 1);
}

bool gba_common_notifications_post(const struct gba_common_module *m)
{
    struct message *message;
    uint32_t to;

    if (0 == gba_team_failed_id(m->team))
        return true;
    for (;;) {
        /* Memory first, because libgba returns each notification once. */
        message = calloc(1, sizeof *message);
        if (message == NULL)
            return false;
        if (GBA_OK != gba_team_notification(m->team, &message->notification, &to))
            break;
        message->peer = gba_common_framework.peer(m->owner, to);
        opal_mutex_lock(&service.posting);
        message_put(&service.outbox, message, DUE);
        gba_word_store_relaxed(&service.posted, 1);
        opal_mutex_unlock(&service.posting);
    }
    free(message);
    return true;
}

gba_status_t gba_common_notify(void *module, bool complete)
{
    const bool posted = gba_common_notifications_post(module);

    if (!complete && service_runs())
        (void)notifications_turn(gba_clock_ns());
    return posted && gba_common_notifications_out(module) ? GBA_OK : GBA_INPROGRESS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of failure notifications (notifications.c), and queues of them. Not thread-safe. */
#ifndef GBA_COMMON_MESSAGE_QUEUE_H
#define GBA_COMMON_MESSAGE_QUEUE_H

#include "gba/base/order.h"
#include "gba/runtime.h"
#include "ompi/request/request.h"

struct message {
    struct message *next;
    ompi_request_t *request; /* while it is in transit */
    int peer;                /* rank in service.comm */
    bool needless;           /* the peer has completed that round, so it needs no notification */
    bool answered;           /* the peer has sent that this round is complete */
    gba_notification_t notification;
};

/* First in, first out. */
struct queue {
    struct message *first, **last;
};

static inline void queue_init(struct queue *queue)
{
    queue->first = NULL;
    queue->last = &queue->first;
}

static inline void queue_put(struct queue *queue, struct message *message)
{
    message->next = NULL;
    *queue->last = message;
    queue->last = &message->next;
}

/* Remove all messages; the caller puts back those that stay. */
static inline struct message *queue_empty(struct queue *queue)
{
    struct message *all = queue->first;

    queue_init(queue);
    return all;
}

static inline void queue_free(struct queue *queue)
{
    struct message *next;

    for (struct message *m = queue_empty(queue); NULL != m; m = next) {
        next = m->next;
        free(m);
    }
}

/* Free the messages that are answered. */
static inline void queue_free_answered(struct queue *queue)
{
    struct message *next;

    for (struct message *m = queue_empty(queue); NULL != m; m = next) {
        next = m->next;
        if (m->answered)
            free(m);
        else
            queue_put(queue, m);
    }
}

/* A message for that peer. NULL: out of memory. */
static inline struct message *message_make(int peer)
{
    struct message *message = calloc(1, sizeof *message);

    if (NULL != message)
        message->peer = peer;
    return message;
}

/* Whether the send or the receive of a message is complete; frees its request then. */
static inline bool message_complete(struct message *message)
{
    if (!REQUEST_COMPLETE(message->request))
        return false;
    /* Acquire: another thread may have completed it. Pairs with the PML's write barrier. */
    gba_fence_acquire();
    (void)ompi_request_free(&message->request);
    return true;
}

/* Whether the queue has a message of that team that its receiver may need. */
static inline bool queue_holds(const struct queue *queue, uint64_t team)
{
    for (const struct message *m = queue->first; NULL != m; m = m->next)
        if (m->notification.team == team && !m->needless)
            return true;
    return false;
}

#endif

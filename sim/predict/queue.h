/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events that are to come, in the order of their times; of equal times the one that was pushed
 * first. A radix heap (Ahuja, Mehlhorn, Orlin and Tarjan, "Faster Algorithms for the Shortest Path
 * Problem", 1990): no event is pushed before the time of the last one that was taken, so an event
 * lies in the bucket of the highest bit in which its time differs from that time, and moves to
 * lower buckets only.
 */
#ifndef GBA_PREDICT_QUEUE_H
#define GBA_PREDICT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct predict_event {
    uint64_t time; /* ps */
    uint32_t who;  /* a rank, an actor or a core, by the kind */
    uint32_t what; /* the kind, and what it concerns */
};

struct predict_bucket {
    struct predict_event *events;
    uint32_t count, room;
};

struct predict_queue {
    uint64_t last;  /* the time of the event that was taken last */
    uint32_t first; /* in bucket 0: the next event */
    bool out_of_memory;
    struct predict_bucket bucket[65];
};

/* Push an event. Its time is not before that of the last event that was taken. Out of memory: the
 * event is lost, and out_of_memory set. */
static inline void predict_push(struct predict_queue *queue, uint64_t time, uint32_t who,
                                uint32_t what)
{
    const uint64_t differs = time ^ queue->last;
    struct predict_bucket *bucket =
        &queue->bucket[0 == differs ? 0 : 64 - __builtin_clzll(differs)];

    if (bucket->count == bucket->room) {
        const uint32_t more = bucket->room / 2 + 64;
        void *events = realloc(bucket->events, (bucket->room + more) * sizeof *bucket->events);

        if (events == NULL) {
            queue->out_of_memory = true;
            return;
        }
        bucket->events = events;
        bucket->room += more;
    }
    bucket->events[bucket->count++] = (struct predict_event){time, who, what};
}

/* A bucket becomes empty. It keeps little memory. */
static inline void predict_empty(struct predict_bucket *bucket)
{
    bucket->count = 0;
    if (bucket->room < 1024)
        return;
    free(bucket->events);
    *bucket = (struct predict_bucket){0};
}

/* Take the next event. Returns false if there is none. */
static inline bool predict_pop(struct predict_queue *queue, struct predict_event *event)
{
    struct predict_bucket *bucket = queue->bucket;

    if (queue->first == bucket->count) {
        /* Move the events of the first other bucket to lower ones. */
        queue->first = 0;
        predict_empty(bucket);
        while (0 == bucket->count)
            if (++bucket == queue->bucket + 65)
                return false;
        queue->last = UINT64_MAX;
        for (uint32_t i = 0; i < bucket->count; i++)
            if (bucket->events[i].time < queue->last)
                queue->last = bucket->events[i].time;
        for (uint32_t i = 0; i < bucket->count; i++)
            predict_push(queue, bucket->events[i].time, bucket->events[i].who,
                         bucket->events[i].what);
        predict_empty(bucket);
        if (0 == queue->bucket->count)
            return false; /* out of memory */
    }
    *event = queue->bucket->events[queue->first++];
    return true;
}

static inline void predict_queue_free(struct predict_queue *queue)
{
    for (unsigned i = 0; i < 65; i++)
        free(queue->bucket[i].events);
    *queue = (struct predict_queue){0};
}

#endif

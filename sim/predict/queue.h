/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events that are to come, in the order of their times; of equal times the one that was pushed
 * first. A radix heap (Ahuja, Mehlhorn, Orlin and Tarjan, "Faster Algorithms for the Shortest Path
 * Problem", 1990): no event is pushed before the time of the last one that was taken, so an event
 * lies in the bucket of the highest bit in which its time differs from that time, and moves to
 * lower buckets only. Buckets are lists of chunks, so that a pending event takes 16 bytes.
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

#define PREDICT_CHUNK 63u

struct predict_chunk {
    struct predict_chunk *next;
    uint32_t count;
    struct predict_event at[PREDICT_CHUNK];
};

struct predict_queue {
    uint64_t last;   /* the time of the event that was taken last */
    uint64_t taken;  /* events so far */
    uint32_t first;  /* of the first chunk of bucket 0: the next event */
    uint32_t chunks; /* allocated */
    bool out_of_memory;
    struct predict_chunk *head[65], *tail[65], *unused;
};

static inline struct predict_chunk *predict_chunk_get(struct predict_queue *queue)
{
    struct predict_chunk *chunk = queue->unused;

    if (chunk != NULL)
        queue->unused = chunk->next;
    else {
        chunk = malloc(sizeof *chunk);
        queue->chunks++;
    }
    if (chunk == NULL) {
        queue->out_of_memory = true;
        return NULL;
    }
    chunk->next = NULL;
    chunk->count = 0;
    return chunk;
}

static inline void predict_chunk_put(struct predict_queue *queue, struct predict_chunk *chunk)
{
    chunk->next = queue->unused;
    queue->unused = chunk;
}

/* Push an event. Its time is not before that of the last event that was taken. Out of memory: the
 * event is lost, and out_of_memory set. */
static inline void predict_push(struct predict_queue *queue, uint64_t time, uint32_t who,
                                uint32_t what)
{
    const uint64_t differs = time ^ queue->last;
    const unsigned bucket = 0 == differs ? 0 : 64u - (unsigned)__builtin_clzll(differs);
    struct predict_chunk *chunk = queue->tail[bucket];

    if (chunk == NULL || PREDICT_CHUNK == chunk->count) {
        struct predict_chunk *more = predict_chunk_get(queue);

        if (more == NULL)
            return;
        if (chunk == NULL)
            queue->head[bucket] = more;
        else
            chunk->next = more;
        queue->tail[bucket] = chunk = more;
    }
    chunk->at[chunk->count++] = (struct predict_event){time, who, what};
}

/* Bucket 0 is empty: move the events of the first other bucket to lower ones. Returns whether there
 * are any. */
static inline bool predict_refill(struct predict_queue *queue)
{
    struct predict_chunk *chunk, *next;
    unsigned bucket = 1;
    uint64_t least = UINT64_MAX;

    while (bucket < 65 && queue->head[bucket] == NULL)
        bucket++;
    if (65 == bucket)
        return false;
    chunk = queue->head[bucket];
    for (const struct predict_chunk *c = chunk; c != NULL; c = c->next)
        for (uint32_t i = 0; i < c->count; i++)
            least = c->at[i].time < least ? c->at[i].time : least;
    queue->head[bucket] = queue->tail[bucket] = NULL;
    queue->last = least;
    for (; chunk != NULL; chunk = next) {
        for (uint32_t i = 0; i < chunk->count; i++)
            predict_push(queue, chunk->at[i].time, chunk->at[i].who, chunk->at[i].what);
        next = chunk->next;
        predict_chunk_put(queue, chunk);
    }
    return true;
}

/* Take the next event. Returns false if there is none. */
static inline bool predict_pop(struct predict_queue *queue, struct predict_event *event)
{
    struct predict_chunk *chunk = queue->head[0];

    if (chunk == NULL) {
        if (!predict_refill(queue))
            return false;
        chunk = queue->head[0];
        if (chunk == NULL)
            return false; /* out of memory */
    }
    *event = chunk->at[queue->first++];
    queue->taken++;
    if (queue->first == chunk->count) {
        queue->first = 0;
        queue->head[0] = chunk->next;
        if (chunk->next == NULL)
            queue->tail[0] = NULL;
        predict_chunk_put(queue, chunk);
    }
    return true;
}

static inline void predict_queue_free(struct predict_queue *queue)
{
    for (unsigned bucket = 0; bucket < 65; bucket++)
        for (struct predict_chunk *next, *chunk = queue->head[bucket]; chunk != NULL;
             chunk = next) {
            next = chunk->next;
            free(chunk);
        }
    for (struct predict_chunk *next, *chunk = queue->unused; chunk != NULL; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    *queue = (struct predict_queue){0};
}

#endif

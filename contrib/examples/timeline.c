/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline.h"

#include <errno.h>
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define PINGS 16 /* the shortest round trip of these gives the offset of a clock */

struct timeline_shared {
    long long ping, pong;               /* written by others: a count to the PE, a time to PE 0 */
    long long recorded;                 /* phases, those beyond the capacity included */
    long long failed;                   /* errno of PE 0, or 0 */
    char boot[TIMELINE_NAME_BYTES * 3]; /* of the kernel: the same means the same clock */
};

/* Of another PE, as PE 0 sees it. */
struct remote_clock {
    long long offset,
        error; /* nanoseconds: its clock minus that of PE 0, and how far off that may be */
    int same;  /* it is the same clock: the offset is 0, whatever was measured */
};

static long long now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

int timeline_init(struct timeline *t, size_t capacity)
{
    FILE *boot;

    *t = (struct timeline){.capacity = capacity, .open = {-1, -1, -1, -1}};
    if (capacity == 0)
        return 0;
    t->shared = shmem_malloc(sizeof *t->shared);
    t->event = shmem_malloc(capacity * sizeof *t->event);
    if (!t->shared || !t->event) {
        timeline_fini(t);
        return -1;
    }
    memset(t->shared, 0, sizeof *t->shared);
    /* The pages are touched now, not in the middle of what is measured. */
    memset(t->event, 0, capacity * sizeof *t->event);
    boot = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (boot) {
        if (!fgets(t->shared->boot, sizeof t->shared->boot, boot))
            t->shared->boot[0] = '\0';
        fclose(boot);
    }
    return 0;
}

void timeline_fini(struct timeline *t)
{
    /* A request for too much fails on all PEs, so all PEs free the same. */
    if (t->event)
        shmem_free(t->event);
    if (t->shared)
        shmem_free(t->shared);
    *t = (struct timeline){.capacity = 0};
}

static void end_at(struct timeline *t, int lane, long long time)
{
    if (t->open[lane] >= 0)
        t->event[t->open[lane]].end = time;
    t->open[lane] = -1;
}

void timeline_begin(struct timeline *t, int lane, const char *name)
{
    struct timeline_event *event;
    long long time;

    if (t->capacity == 0)
        return;
    time = now();
    end_at(t, lane, time);
    if (t->shared->recorded++ >= (long long)t->capacity)
        return;
    t->open[lane] = t->shared->recorded - 1;
    event = &t->event[t->open[lane]];
    event->lane = lane;
    event->begin = time;
    strncpy(event->name, name, sizeof event->name - 1); /* the last byte is zero since init */
}

void timeline_end(struct timeline *t, int lane)
{
    if (t->capacity > 0)
        end_at(t, lane, now());
}

void timeline_mark(struct timeline *t, const char *name)
{
    if (name)
        timeline_begin(t, 0, name);
    else
        timeline_end(t, 0);
}

/* On PE 0. Its clock at the middle of a round trip is that of the answer, give or take half the
 * trip. */
static struct remote_clock measure_clock(struct timeline *t, int pe)
{
    struct timeline_shared *shared = t->shared, other;
    struct remote_clock clock = {.error = -1};

    for (int i = 1; i <= PINGS; i++) {
        long long sent, trip;

        shmem_longlong_atomic_set(&shared->pong, 0, 0);
        shmem_quiet();
        sent = now();
        shmem_longlong_atomic_set(&shared->ping, i, pe);
        shmem_longlong_wait_until(&shared->pong, SHMEM_CMP_NE, 0);
        trip = now() - sent;
        if (clock.error >= 0 && trip / 2 >= clock.error)
            continue;
        clock.error = (trip + 1) / 2;
        clock.offset = shmem_longlong_atomic_fetch(&shared->pong, 0) - (sent + trip / 2);
    }
    shmem_getmem(&other, shared, sizeof other, pe);
    clock.same = shared->boot[0] && strcmp(shared->boot, other.boot) == 0;
    return clock;
}

static void answer_pings(const struct timeline *t)
{
    for (int i = 1; i <= PINGS; i++) {
        shmem_longlong_wait_until(&t->shared->ping, SHMEM_CMP_GE, i);
        shmem_longlong_atomic_set(&t->shared->pong, now(), 0);
    }
    shmem_quiet();
    t->shared->ping = 0; /* for the next file; PE 0 does not ping until the barrier */
}

/* On PE 0. Times are microseconds since `zero`, on the clock of PE 0. */
static void write_pe(struct timeline *t, FILE *file, int pe, long long zero)
{
    struct remote_clock clock = {.same = 1};
    struct timeline_shared other;
    struct timeline_event event;

    if (pe != 0)
        clock = measure_clock(t, pe);
    shmem_getmem(&other, t->shared, sizeof other, pe);
    fprintf(file,
            "# PE %d: %s clock; its offset was measured as %.3f us, with an error of %.3f us\n", pe,
            clock.same ? "the same" : "another", 1e-3 * (double)clock.offset,
            1e-3 * (double)clock.error);
    if (clock.same)
        clock.offset = 0;
    if (other.recorded > (long long)t->capacity)
        fprintf(stderr, "timeline: PE %d: only the first %zu of its %lld phases are recorded\n", pe,
                t->capacity, other.recorded);
    for (long long i = 0; i < other.recorded && i < (long long)t->capacity; i++) {
        shmem_getmem(&event, &t->event[i], sizeof event, pe);
        fprintf(file, "%d\t%d\t%s\t%.3f\t%.3f\n", pe, event.lane, event.name,
                1e-3 * (double)(event.begin - clock.offset - zero),
                1e-3 * (double)(event.end - clock.offset - zero));
    }
}

static int write_file(struct timeline *t, const char *path)
{
    const long long zero = t->shared->recorded > 0 ? t->event[0].begin : now();
    FILE *file = fopen(path, "w");
    int error = file ? 0 : errno;

    if (file) {
        fprintf(file,
                "# timeline 1: PE, lane, phase, begin, end; microseconds, separated by tabs\n");
        for (int pe = 0; pe < shmem_n_pes(); pe++)
            write_pe(t, file, pe, zero);
        if (fclose(file) != 0)
            error = errno;
    } else {
        /* The other PEs wait for their pings. */
        for (int pe = 1; pe < shmem_n_pes(); pe++)
            (void)measure_clock(t, pe);
    }
    if (error != 0)
        fprintf(stderr, "timeline: cannot write %s: %s\n", path, strerror(error));
    return error;
}

int timeline_write(struct timeline *t, const char *path)
{
    long long failed;

    if (t->capacity == 0)
        return 0;
    for (int lane = 0; lane < TIMELINE_LANES; lane++)
        timeline_end(t, lane);
    shmem_barrier_all(); /* what PE 0 reads is complete */
    if (shmem_my_pe() == 0) {
        failed = write_file(t, path);
        for (int pe = 0; pe < shmem_n_pes(); pe++)
            shmem_longlong_atomic_set(&t->shared->failed, failed, pe);
    } else {
        answer_pings(t);
    }
    shmem_barrier_all();
    return t->shared->failed == 0 ? 0 : -1;
}

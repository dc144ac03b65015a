/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time lines of OpenSHMEM programs: each PE records its phases in memory, and PE 0 writes those of
 * all PEs, on its own clock, into one file. contrib/examples/plot-timeline draws the file.
 *
 *     struct timeline t;
 *
 *     timeline_init(&t, 10000);           collective
 *     timeline_mark(&t, "plan");          this phase begins, and the one before ends
 *     timeline_mark(&t, "barrier");
 *     timeline_begin(&t, 1, "put A");     beside the phases, in lane 1: a transfer in flight
 *     timeline_end(&t, 1);
 *     timeline_write(&t, "run.timeline"); collective
 *     timeline_fini(&t);                  collective
 *
 * A mark costs a reading of the clock and a store. With a capacity of 0 it costs a comparison.
 */
#ifndef EXAMPLES_TIMELINE_H
#define EXAMPLES_TIMELINE_H

#include <stddef.h>

#define TIMELINE_LANES      4 /* 0: the PE itself; 1 to 3: what goes on beside, such as transfers */
#define TIMELINE_NAME_BYTES 16 /* of a phase, with the zero; longer names are cut */

struct timeline_event {
    char name[TIMELINE_NAME_BYTES];
    long long begin, end; /* nanoseconds of this PE's clock; end 0: it has not ended */
    int lane;
};

struct timeline_shared;

struct timeline {
    size_t capacity;
    struct timeline_shared *shared; /* symmetric */
    struct timeline_event *event;   /* symmetric: [capacity] */
    long long open[TIMELINE_LANES]; /* index of the event that has not ended, or -1 */
};

/*
 * Collective, with the same capacity on all PEs: memory for so many phases of each PE; 0: record
 * nothing. Returns 0, or -1 on all PEs: no symmetric memory.
 */
int timeline_init(struct timeline *t, size_t capacity);
void timeline_fini(struct timeline *t); /* collective */

/* Begin the phase `name` in lane 0, now; NULL: only end the phase that is open. */
void timeline_mark(struct timeline *t, const char *name);

/* The same in any lane. timeline_begin ends the phase that is open in the lane. */
void timeline_begin(struct timeline *t, int lane, const char *name);
void timeline_end(struct timeline *t, int lane);

/*
 * Collective: end what is open, and let PE 0 write the file. Clocks of other hosts are converted to
 * that of PE 0 by their offset at this time, and the file states the error. Returns 0, or -1 on all
 * PEs: the file cannot be written, and PE 0 has printed why.
 */
int timeline_write(struct timeline *t, const char *path);

#endif

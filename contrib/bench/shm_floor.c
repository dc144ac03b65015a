/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The software barriers in shared memory against their floors, in one run:
 *   2 processes, pinned to two CPUs: the bare exchange of two flags;
 *   more processes than CPUs: the bare loop of a central counter with sched_yield.
 * Contestants take turns: floor, A, floor, B, ..., and each is compared with the floor measured
 * just before it. The machine may be noisy; ratios of neighbours are less so.
 *
 * shm_floor [-n PROCESSES] [-p PAIRS] [-i BARRIERS] [-k RADIX]
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gba/transport/node_barrier.h"
#include "gba/transport/shm.h"

#define PAIRS_MAX   99u
#define MEMBERS_MAX 512u

enum contestant { FLOOR, V1, V2, V3, NODE, CONTESTANTS };
static const char *const names[] = {"floor", "v1", "v2", "v3", "node"};

static const char usage[] =
    "usage: shm_floor [-n PROCESSES] [-p PAIRS] [-i BARRIERS] [-k RADIX]\n"
    "Compares the software barriers in shared memory with their floors.\n"
    "  -n PROCESSES  2 to 512 (2)\n"
    "  -p PAIRS      of interleaved batches, 1 to 99 (9)\n"
    "  -i BARRIERS   in a batch (1000000 for two processes, fewer for more)\n"
    "  -k RADIX      of the radix barrier (8)\n";

/* What the floor is made of: lines of their own, two lines apart. */
struct floor {
    _Alignas(128) gba_word_t flag[2][16];
    _Alignas(128) gba_word_t arrived;
    _Alignas(128) gba_word_t release;
};

/* One process; everything but `floor`, `times` and the segments is its own. */
struct process {
    uint32_t rank, size, radix, barriers;
    bool yields;
    struct floor *floor;
    struct gba_segment segment[CONTESTANTS];
    uint32_t seq[CONTESTANTS];
    struct gba_algo_state algo[CONTESTANTS];
    struct gba_shm shm[CONTESTANTS];
    struct gba_node_barrier node;
};

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline void wait_a_little(const struct process *p)
{
    if (p->yields)
        sched_yield();
}

static void run_floor(struct process *p)
{
    struct floor *f = p->floor;

    for (uint32_t i = 0; i < p->barriers; i++) {
        uint64_t seq = ++p->seq[FLOOR];

        if (p->size == 2) {
            gba_word_store_release(&f->flag[p->rank][0], seq);
            while (gba_word_load_acquire(&f->flag[1 - p->rank][0]) < seq)
                wait_a_little(p);
        } else if (gba_word_add_acq_rel(&f->arrived, 1) + 1 == seq * p->size) {
            gba_word_store_release(&f->release, seq);
        } else {
            while (gba_word_load_acquire(&f->release) < seq)
                wait_a_little(p);
        }
    }
}

static void run_algo(struct process *p, enum contestant c, const struct gba_algorithm *algorithm)
{
    for (uint32_t i = 0; i < p->barriers; i++) {
        if (algorithm->start(&p->algo[c], &p->shm[c].base, ++p->seq[c]) != GBA_OK)
            abort();
        while (algorithm->test(&p->algo[c], &p->shm[c].base) != GBA_OK)
            wait_a_little(p);
    }
}

static void run_node(struct process *p)
{
    for (uint32_t i = 0; i < p->barriers; i++) {
        gba_node_barrier_start(&p->node, ++p->seq[NODE]);
        while (gba_node_barrier_test(&p->node) != GBA_OK)
            wait_a_little(p);
    }
}

/* ns per barrier. */
static double run(struct process *p, enum contestant c)
{
    double begin = now_ns();

    switch (c) {
    case FLOOR:
        run_floor(p);
        break;
    case V1:
        run_algo(p, c, &gba_shm_dissemination);
        break;
    case V2:
        run_algo(p, c, &gba_shm_radix);
        break;
    case V3:
        run_algo(p, c, &gba_shm_central);
        break;
    default:
        run_node(p);
        break;
    }
    return (now_ns() - begin) / p->barriers;
}

static uint32_t slots_of(enum contestant c, uint32_t size, uint32_t radix)
{
    switch (c) {
    case V1:
        return gba_shm_dissemination.slots(size, radix);
    case V2:
        return gba_shm_radix.slots(size, radix);
    case V3:
        return gba_shm_central.slots(size, radix);
    default:
        return 0;
    }
}

static void child(struct process *p, uint32_t pairs, double (*times)[CONTESTANTS][2])
{
    uint32_t whole = p->barriers;

    /* A process that waits for one that is not there must not outlive the program. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!p->yields) {
        cpu_set_t cpus;

        CPU_ZERO(&cpus);
        CPU_SET(p->rank, &cpus);
        (void)sched_setaffinity(0, sizeof cpus, &cpus);
    }
    for (int c = V1; c < CONTESTANTS; c++) {
        gba_algo_init(&p->algo[c], p->rank, p->size, p->radix, 0);
        gba_shm_init(&p->shm[c], &p->segment[c], p->rank);
    }
    gba_node_barrier_init(&p->node, &p->segment[NODE], 0);
    p->barriers = whole / 10 + 1; /* warm up */
    for (int c = FLOOR; c < CONTESTANTS; c++)
        (void)run(p, (enum contestant)c);
    p->barriers = whole;
    for (uint32_t pair = 0; pair < pairs; pair++) {
        for (int c = V1; c < CONTESTANTS; c++) {
            double of_floor = run(p, FLOOR);
            double own = run(p, (enum contestant)c);

            if (p->rank == 0) {
                times[pair][c][0] = of_floor;
                times[pair][c][1] = own;
            }
        }
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void report(uint32_t size, uint32_t pairs, double (*times)[CONTESTANTS][2])
{
    double own[PAIRS_MAX], floors[PAIRS_MAX], ratio[PAIRS_MAX];

    printf("%3u processes   ns min  median   floor min  median   ratio min  median\n", size);
    for (int c = V1; c < CONTESTANTS; c++) {
        for (uint32_t pair = 0; pair < pairs; pair++) {
            floors[pair] = times[pair][c][0];
            own[pair] = times[pair][c][1];
            ratio[pair] = own[pair] / floors[pair];
        }
        qsort(own, pairs, sizeof own[0], ascending);
        qsort(floors, pairs, sizeof floors[0], ascending);
        qsort(ratio, pairs, sizeof ratio[0], ascending);
        printf("    %-8s %9.0f %7.0f   %9.0f %7.0f   %9.2f %7.2f\n", names[c], own[0],
               own[pairs / 2], floors[0], floors[pairs / 2], ratio[0], ratio[pairs / 2]);
    }
}

static long option(const char *text, long min, long max)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (*end != 0 || end == text || value < min || value > max) {
        fprintf(stderr, "shm_floor: '%s' is not a number from %ld to %ld\n", text, min, max);
        exit(2);
    }
    return value;
}

static void *shared(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) {
        perror("shm_floor: mmap");
        exit(1);
    }
    return memory;
}

int main(int argc, char **argv)
{
    struct process p = {.size = 2, .radix = GBA_RADIX_DEFAULT, .barriers = 0};
    struct gba_segment_handle handle;
    double(*times)[CONTESTANTS][2] = shared(sizeof(double[PAIRS_MAX][CONTESTANTS][2]));
    uint32_t pairs = 9;
    int letter, bad = 0, status;

    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) < 0;
    while ((letter = getopt(argc, argv, "n:p:i:k:")) != -1) {
        if (letter == 'n')
            p.size = (uint32_t)option(optarg, 2, MEMBERS_MAX);
        else if (letter == 'p')
            pairs = (uint32_t)option(optarg, 1, PAIRS_MAX);
        else if (letter == 'i')
            p.barriers = (uint32_t)option(optarg, 1, 100000000);
        else if (letter == 'k')
            p.radix = (uint32_t)option(optarg, GBA_RADIX_MIN, GBA_RADIX_MAX);
        else
            return 2;
    }
    p.yields = (long)p.size > sysconf(_SC_NPROCESSORS_ONLN);
    if (p.barriers == 0)
        p.barriers = p.yields ? 40000 / p.size : 1000000;
    p.floor = shared(sizeof *p.floor);
    for (int c = V1; c < CONTESTANTS; c++) {
        if (gba_shm_segment_create(p.size, slots_of((enum contestant)c, p.size, p.radix), 0,
                                   &p.segment[c], &handle) != GBA_OK)
            return 1;
    }
    for (p.rank = 0; p.rank < p.size; p.rank++) {
        pid_t pid = fork();

        if (pid == 0) {
            child(&p, pairs, times);
            _exit(0);
        }
        if (pid < 0) {
            perror("shm_floor: fork");
            return 1; /* the others go with us */
        }
    }
    while (wait(&status) > 0)
        bad |= status;
    if (bad != 0)
        return 1;
    report(p.size, pairs, times);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The barriers in shared memory, with threads instead of processes, for ThreadSanitizer. Each
 * thread writes a plain word before a barrier and reads the words of all threads after it. A
 * barrier that lets a member leave too early, or orders too little, is then a data race or a wrong
 * value. Even and odd rounds have separate words, so one barrier lies between reading a word and
 * writing it again.
 *
 * Exit status 0: no error; 66: the sanitizer found an error. Without the sanitizer the test detects
 * early exits only.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gba/base/place.h"
#include "gba/path/node.h"

#define THREADS_MAX 9u
#define ROUNDS      1000u

enum kind {
    V1,
    V2,
    V3,
    TREE,
    V1_GENERIC,
    V2_GENERIC,
    V3_GENERIC,
    TREE_GENERIC,
    NODE,
    HYBRID,
    FLAGS,
    UNORDERED,
    KINDS
};
static const char *const names[] = {"v1",         "v2",         "v3",         "tree",
                                    "v1 generic", "v2 generic", "v3 generic", "tree generic",
                                    "node",       "hybrid",     "flags",      "unordered"};
static const struct gba_algorithm *const algorithms[] = {
    &gba_shm_algorithms[GBA_ALGORITHM_V1], &gba_shm_algorithms[GBA_ALGORITHM_V2],
    &gba_shm_algorithms[GBA_ALGORITHM_V3], &gba_shm_algorithms[GBA_ALGORITHM_TREE],
    &gba_algorithms[GBA_ALGORITHM_V1],     &gba_algorithms[GBA_ALGORITHM_V2],
    &gba_algorithms[GBA_ALGORITHM_V3],     &gba_algorithms[GBA_ALGORITHM_TREE]};

struct trial {
    enum kind kind;
    uint32_t size, first;
    struct gba_segment segment;  /* of all; of the leaders in HYBRID */
    struct gba_segment nodes[3]; /* HYBRID: thread t is on node t % 3: not contiguous */
    uint64_t data[2][THREADS_MAX];
    gba_word_t wrong;
};

struct member {
    struct trial *trial;
    uint32_t rank;
    struct gba_shm shm;
    struct gba_algo_state algo;
    struct gba_node_barrier node;
    struct gba_node flags; /* FLAGS: thread t is in cache t % 3 */
    bool gathered;         /* HYBRID, leaders */
};

static uint32_t leaders_of(const struct trial *trial)
{
    return trial->size < 3 ? trial->size : 3;
}

static void setup(struct member *m)
{
    struct trial *t = m->trial;
    uint32_t place = t->kind == HYBRID ? m->rank % 3 : m->rank;

    gba_shm_init(&m->shm, &t->segment, place, 0);
    gba_algo_init(&m->algo, m->rank, t->size, 3, t->first);
    gba_node_barrier_init(&m->node, &t->segment, t->first);
    if (t->kind == FLAGS) {
        m->flags = (struct gba_node){.barrier = m->node};
        if (gba_node_flags_open(&m->flags.flags, &t->segment, t->first) != GBA_OK)
            abort();
        gba_node_flags_join(&m->flags.flags, &t->segment, place);
        m->flags.barrier.release = m->flags.flags.release;
    }
    if (t->kind == HYBRID) {
        gba_node_barrier_init(&m->node, &t->nodes[place], t->first);
        gba_algo_init(&m->algo, m->rank, leaders_of(t), 2, t->first);
    }
}

/* Several nodes, as the engine combines the parts: gather, v1 among the leaders, release. */
static gba_status_t hybrid_test(struct member *m)
{
    if (m->rank >= 3)
        return gba_node_barrier_test(&m->node);
    if (!m->gathered) {
        if (!gba_node_barrier_gathered(&m->node))
            return GBA_INPROGRESS;
        m->gathered = true;
        (void)gba_algorithms[GBA_ALGORITHM_V1].start(&m->algo, &m->shm.base, m->node.seq);
    }
    if (gba_algorithms[GBA_ALGORITHM_V1].test(&m->algo, &m->shm.base) != GBA_OK)
        return GBA_INPROGRESS;
    gba_node_barrier_release(&m->node);
    return GBA_OK;
}

/* One node, without the leaders' barrier between gather and release. */
static gba_status_t flags_test(struct member *m)
{
    if (m->rank > 0)
        return gba_node_test(&m->flags);
    if (!gba_node_gathered(&m->flags))
        return GBA_INPROGRESS;
    gba_node_release(&m->flags);
    return GBA_OK;
}

static gba_status_t start(struct member *m, uint32_t seq)
{
    switch (m->trial->kind) {
    case NODE:
        gba_node_barrier_start(&m->node, seq);
        return GBA_OK;
    case HYBRID:
        m->gathered = false;
        (void)gba_node_barrier_gather(&m->node, seq);
        return GBA_OK;
    case FLAGS:
        gba_node_gather(&m->flags, seq);
        return GBA_OK;
    case UNORDERED:
        (void)gba_word_add_relaxed(m->node.arrived, 1);
        m->node.target += m->trial->size;
        return GBA_OK;
    default:
        return algorithms[m->trial->kind]->start(&m->algo, &m->shm.base, seq);
    }
}

static gba_status_t test(struct member *m)
{
    switch (m->trial->kind) {
    case NODE:
        return gba_node_barrier_test(&m->node);
    case HYBRID:
        return hybrid_test(m);
    case FLAGS:
        return flags_test(m);
    case UNORDERED:
        return gba_word_load_relaxed(m->node.arrived) >= m->node.target ? GBA_OK : GBA_INPROGRESS;
    default:
        return algorithms[m->trial->kind]->test(&m->algo, &m->shm.base);
    }
}

static void *run_member(void *arg)
{
    struct member *m = arg;
    struct trial *t = m->trial;

    for (uint32_t round = 1; round <= ROUNDS; round++) {
        gba_status_t status;

        t->data[round % 2][m->rank] = round;
        if (start(m, t->first + round) != GBA_OK)
            abort();
        while ((status = test(m)) == GBA_INPROGRESS)
            sched_yield();
        for (uint32_t other = 0; other < t->size; other++) {
            if (status != GBA_OK || t->data[round % 2][other] != round)
                gba_word_store_relaxed(&t->wrong, 1);
        }
    }
    return NULL;
}

static void open_segments(struct trial *t)
{
    struct gba_segment_handle handle;
    uint32_t members = t->kind == HYBRID ? leaders_of(t) : t->size;

    if (gba_shm_segment_create(members, 8, t->first, &t->segment, &handle) != GBA_OK)
        abort();
    for (uint32_t node = 0; t->kind == HYBRID && node < leaders_of(t); node++) {
        if (gba_shm_segment_create((t->size - node + 2) / 3, 0, t->first, &t->nodes[node],
                                   &handle) != GBA_OK)
            abort();
    }
}

static void close_segments(struct trial *t)
{
    gba_shm_segment_close(&t->segment);
    for (uint32_t node = 0; t->kind == HYBRID && node < leaders_of(t); node++)
        gba_shm_segment_close(&t->nodes[node]);
}

static bool run_trial(enum kind kind, uint32_t size, uint32_t first)
{
    static struct trial trial;
    struct member members[THREADS_MAX];
    pthread_t threads[THREADS_MAX];

    trial = (struct trial){.kind = kind, .size = size, .first = first};
    open_segments(&trial);
    for (uint32_t rank = 0; rank < size; rank++)
        gba_word_store_relaxed(gba_segment_place(&trial.segment, rank % trial.segment.members),
                               gba_place_make(0, 0, rank % 3, 1 + rank));
    for (uint32_t rank = 0; rank < size; rank++) {
        members[rank] = (struct member){.trial = &trial, .rank = rank};
        setup(&members[rank]);
    }
    for (uint32_t rank = 0; rank < size; rank++) {
        if (pthread_create(&threads[rank], NULL, run_member, &members[rank]) != 0)
            abort();
    }
    for (uint32_t rank = 0; rank < size; rank++)
        pthread_join(threads[rank], NULL);
    for (uint32_t rank = 0; rank < size; rank++)
        gba_node_flags_close(&members[rank].flags.flags);
    close_segments(&trial);
    if (gba_word_load_relaxed(&trial.wrong) != 0)
        printf("%s, %u threads: left too early\n", names[kind], size);
    return gba_word_load_relaxed(&trial.wrong) == 0;
}

#if defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED __has_feature(thread_sanitizer)
#else
#define SANITIZED 0
#endif
#define RACE_FOUND 66 /* the sanitizer's exit status */

/* Run this program again with a barrier that orders nothing: the sanitizer must report it. */
static bool sanitizer_works(void)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        if (freopen("/dev/null", "w", stderr) != NULL)
            execl("/proc/self/exe", "test_soft_tsan", "unordered", (char *)NULL);
        _exit(1);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == RACE_FOUND;
}

int main(int argc, char **argv)
{
    static const uint32_t sizes[] = {2, 3, 5, THREADS_MAX};
    bool right = true;

    (void)argv;
    if (argc > 1)
        return run_trial(UNORDERED, 3, 0) ? 0 : 1;
    if (SANITIZED && !sanitizer_works()) {
        puts("FAILED: the sanitizer does not see a barrier that orders nothing");
        return 1;
    }
    for (int kind = V1; kind < UNORDERED; kind++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            right &= run_trial((enum kind)kind, sizes[i], 0xFFFFFFF0u);
        right &= run_trial((enum kind)kind, 4, 0x7FFFFFF0u);
    }
    puts(right ? "all barriers order" : "FAILED");
    return right ? 0 : 1;
}

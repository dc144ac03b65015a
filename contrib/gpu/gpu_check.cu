/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPU members on a GPU: early exit and what is visible after a barrier, streams, graphs, failures,
 * and times. contrib/gpu/check builds and runs it. The parent forks the processes of each test and
 * never uses CUDA itself. The argument "mps": the tests with several processes on the GPU.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <signal.h>
#include <unistd.h>

#include "gba/gpu.cuh"
#include "tests/gpu/members.h"

#define LIMIT_NS   20000000000ull /* of a kernel's wait, so that a fault ends */
#define ROUNDS     20000u
#define BLOCKS_MAX 64u
#define CK(call)                                                                   \
    do {                                                                           \
        cudaError_t error_ = (call);                                               \
        if (cudaSuccess != error_) {                                               \
            printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error_)); \
            fflush(stdout);                                                        \
            _exit(1);                                                              \
        }                                                                          \
    } while (0)

/* -------------------------------------------------------------------------------- kernels --- */

/* What a process and its kernels share, in managed memory. */
struct shared {
    gba_gpu_member_t member[BLOCKS_MAX];
    uint64_t *table[BLOCKS_MAX + 1];
    unsigned long long bad; /* old words; and from bit 32 on failed barriers */
};

/* Words of two members: table[i] are those of member i, which reads table[i + 1]. Each thread loads
 * them by plain loads before a barrier, so that the L1 cache has them, stores its own by a plain
 * store, and finds all new ones by plain loads after the barrier. A second barrier keeps the words
 * until all have read. A block is a member, or the grid is one. */
__global__ void litmus_kernel(struct shared *shared, gba_gpu_coop_t coop, uint32_t first,
                              uint32_t rounds, uint32_t words)
{
    const bool grid = GBA_GPU_GRID == coop;
    const uint32_t index = grid ? 0 : blockIdx.x;
    const uint32_t self = grid ? blockIdx.x * blockDim.x + threadIdx.x : threadIdx.x;
    const gba_gpu_member_t member = shared->member[index];
    uint64_t *mine = shared->table[index], warm = 0;
    const uint64_t *theirs = shared->table[index + 1];
    bool failed = false;

    for (uint32_t round = first + 1; round <= first + rounds && !failed; round++) {
        for (uint32_t i = 0; i < words; i++)
            warm += theirs[i];
        mine[self] = round;
        failed = GBA_OK != gba_gpu_barrier(&member, coop, GBA_GPU_ACQ_REL, LIMIT_NS);
        for (uint32_t i = 0; i < words; i++)
            if (theirs[i] != round)
                atomicAdd(&shared->bad, 1ull);
        failed = failed || GBA_OK != gba_gpu_barrier(&member, coop, GBA_GPU_ACQ_REL, LIMIT_NS);
    }
    if (failed || 42 == warm) /* keeps the loads */
        atomicAdd(&shared->bad, 1ull << 32);
}

__global__ void wait_kernel(gba_gpu_member_t member, uint64_t limit_ns, uint64_t *status)
{
    *(volatile uint64_t *)status = 1;
    *(volatile uint64_t *)status =
        (uint64_t)(1000 + gba_gpu_barrier(&member, GBA_GPU_THREAD, GBA_GPU_ACQ_REL, limit_ns));
}

/* -------------------------------------------------------------------------- a rank on a GPU --- */

struct rank {
    struct member *me;
    struct shared *shared;
    gba_gpu_member_t *member; /* of shared */
    uint64_t *data;           /* 2 * 256 words in GPU memory */
    uint64_t *user;           /* all->user for the GPU */
};

static void rank_begin(struct rank *rank, struct member *me, uint32_t count, const char *device,
                       bool stream_only)
{
    memset(rank, 0, sizeof *rank);
    rank->me = me;
    (void)cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync); /* the first time */
    (void)cudaGetLastError();
    CK(cudaFree(NULL));
    CK(cudaHostRegister(me->all->user, sizeof me->all->user, cudaHostRegisterMapped));
    CK(cudaHostGetDevicePointer((void **)&rank->user, me->all->user, 0));
    CK(cudaMallocManaged(&rank->shared, sizeof *rank->shared));
    memset(rank->shared, 0, sizeof *rank->shared);
    rank->member = rank->shared->member;
    CK(cudaMalloc(&rank->data, 512 * sizeof *rank->data));
    CK(cudaMemset(rank->data, 0, 512 * sizeof *rank->data));
    if (!member_team(me, device, true))
        _exit(1);
    for (uint32_t i = 0; i <= count; i++)
        rank->shared->table[i] = rank->data + i % 2 * 256;
    me->attr.members = count;
    me->attr.stream_only = stream_only;
    for (uint32_t i = 0; i < count; i++) {
        me->attr.member = i;
        if (GBA_OK != gba_gpu_member_create(me->team, &me->attr, &rank->member[i]))
            _exit(1);
    }
}

static bool rank_end(struct rank *rank)
{
    unsigned long long bad;
    bool good = true;

    CK(cudaDeviceSynchronize());
    bad = rank->shared->bad;
    if (0 != bad)
        printf("%llu old words, %llu failed barriers\n", bad & 0xFFFFFFFFu, bad >> 32);
    for (uint32_t i = 0; i < rank->me->attr.members; i++)
        good &= GBA_OK == gba_gpu_member_destroy(&rank->member[i]);
    CK(cudaHostUnregister(rank->me->all->user));
    member_end(rank->me);
    return good && 0 == bad;
}

/* -------------------------------------------------------------------------------- visible --- */

/* The threads of a member by its kind. */
static const uint32_t threads_of[] = {1, 32, 64, 64};

/* 1000 rounds of all members of a rank. */
static void litmus(struct rank *rank, int kind, uint32_t first)
{
    const uint32_t blocks = GBA_GPU_GRID == kind ? 4 : rank->me->attr.members;
    gba_gpu_coop_t coop = (gba_gpu_coop_t)kind;
    uint32_t rounds = 1000, words = threads_of[kind];
    void *args[] = {&rank->shared, &coop, &first, &rounds, &words};

    CK(cudaLaunchCooperativeKernel((void *)litmus_kernel, dim3(blocks),
                                   dim3(GBA_GPU_GRID == kind ? words / blocks : words), args, 0,
                                   NULL));
}

/* Two members on two SMs, whose words are in GPU memory. */
static int two_members(struct member *me, void *)
{
    struct rank rank;

    rank_begin(&rank, me, 2, "none", false);
    for (int kind = GBA_GPU_THREAD; kind < GBA_GPU_GRID; kind++) {
        litmus(&rank, kind, 1000 * kind);
        CK(cudaDeviceSynchronize());
    }
    return rank_end(&rank) ? 0 : 1;
}

/* Rank 0 takes part by the CPU, rank 1 by a kernel of a thread, a warp, a block, or a grid. The
 * words of both are in host memory. arg: the device. */
static int mixed_ranks(struct member *me, void *arg)
{
    const char *device = (const char *)arg;
    uint64_t *user = me->all->user, round = 0;
    struct rank rank;
    bool good;

    if (1 == me->rank) {
        rank_begin(&rank, me, 1, device, false);
        rank.shared->table[0] = rank.user;
        rank.shared->table[1] = rank.user + 1024;
        for (int kind = GBA_GPU_THREAD; kind <= GBA_GPU_GRID; kind++)
            litmus(&rank, kind, 1000 * kind);
        return rank_end(&rank) ? 0 : 1;
    }
    good = member_team(me, device, false);
    while (good && round < 4000) {
        const uint32_t words = threads_of[round++ / 1000];

        for (uint32_t i = 0; i < words; i++)
            __atomic_store_n(&user[1024 + i], round, __ATOMIC_RELAXED);
        good = GBA_OK == gba_barrier(me->team);
        for (uint32_t i = 0; i < words; i++)
            if (__atomic_load_n(&user[i], __ATOMIC_RELAXED) != round)
                good = printf("early: CPU, round %lu, thread %u\n", (unsigned long)round, i) < 0;
        good = good && GBA_OK == gba_barrier(me->team);
    }
    if (strstr(device, "die") != NULL)
        printf("%s\n", gba_team_why(me->team));
    member_end(me);
    return good ? 0 : 1;
}

/* ---------------------------------------------------------------------------------- times --- */

/* Barriers of all members of a rank, each by a thread, or of one member in a stream: print ns a
 * round, after a first run. */
static bool timed(struct member *me, const char *what, uint32_t count, const char *device,
                  uint32_t rounds, bool in_stream = false, bool by_words = false)
{
    timespec began, ended;
    struct rank rank;

    rank_begin(&rank, me, count, device, by_words);
    for (int run = 0; run < 2; run++) {
        clock_gettime(CLOCK_MONOTONIC, &began);
        if (!in_stream)
            litmus_kernel<<<count, 1>>>(rank.shared, GBA_GPU_THREAD, 0, rounds / 2, 0);
        for (uint32_t i = 0; in_stream && i < rounds; i++)
            (void)gba_gpu_barrier_on_stream(&rank.member[0], NULL);
        CK(cudaDeviceSynchronize());
        clock_gettime(CLOCK_MONOTONIC, &ended);
    }
    if (0 == me->rank)
        printf("| %s | %.0f |\n", what,
               ((ended.tv_sec - began.tv_sec) * 1e9 + ended.tv_nsec - began.tv_nsec) / rounds);
    fflush(stdout);
    return rank_end(&rank);
}

static int times(struct member *me, void *)
{
    return timed(me, "1 member of one process", 1, "none", ROUNDS) &&
                   timed(me, "64 members of one process", BLOCKS_MAX, "none", ROUNDS) &&
                   timed(me, "in a stream, by operations on words", 1, "none", ROUNDS / 10, true,
                         true) &&
                   timed(me, "in a stream, by a kernel of one thread", 1, "none", ROUNDS / 10, true)
               ? 0
               : 1;
}

/* Each rank is a process with a kernel on the GPU. arg: the device; NULL: without MPS, so that the
 * GPU switches between the processes. */
static int processes(struct member *me, void *arg)
{
    const char *device = arg != NULL ? (const char *)arg : "none";
    char what[64];

    snprintf(what, sizeof what, "%u processes %s MPS, %s", me->all->size,
             arg == NULL ? "without" : "under", device);
    return timed(me, what, 1, device, arg == NULL ? 100 : ROUNDS) ? 0 : 1;
}

/* -------------------------------------------------------------------------------- streams --- */

/* An event after a barrier in a stream completes only after rank 0 has arrived; in the second half
 * a graph makes the barrier at each replay. arg: not NULL: by operations on words. */
static int stream_order(struct member *me, void *arg)
{
    const uint64_t rounds = 40;
    uint64_t *user = me->all->user;
    cudaGraphExec_t replay = NULL;
    cudaGraph_t graph;
    cudaStream_t stream;
    cudaEvent_t event;
    struct rank rank;
    bool good = true;

    if (0 == me->rank) {
        good = member_team(me, "sim", false);
        for (uint64_t round = 1; good && round <= rounds; round++) {
            word_await(&user[1], round);
            usleep(2000);
            word_set(&user[0], round);
            good = GBA_OK == gba_barrier(me->team);
        }
        member_end(me);
        return good ? 0 : 1;
    }
    rank_begin(&rank, me, 1, "sim", arg != NULL);
    CK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    for (uint64_t round = 1; good && round <= rounds; round++) {
        const bool captures = rounds / 2 == round;

        if (captures)
            CK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        if (replay == NULL)
            good = GBA_OK == gba_gpu_barrier_on_stream(&rank.member[0], stream);
        if (captures) {
            CK(cudaStreamEndCapture(stream, &graph));
            CK(cudaGraphInstantiate(&replay, graph, 0));
        }
        if (replay != NULL)
            CK(cudaGraphLaunch(replay, stream));
        CK(cudaEventRecord(event, stream));
        good &= cudaErrorNotReady == cudaEventQuery(event);
        word_set(&user[1], round);
        CK(cudaEventSynchronize(event));
        good &= word_get(&user[0]) >= round;
    }
    good &= GBA_OK == gba_gpu_member_status(&rank.member[0]);
    return rank_end(&rank) && good ? 0 : 1;
}

/* ------------------------------------------------------------------------------- failures --- */

/* Rank 0 is stopped for some time ("stopped", "leaves"), or killed, by rank 1, which waits in a
 * kernel, with a time limit ("killed") or without one ("aborted"). */
static int failing(struct member *me, void *arg)
{
    const char *what = (const char *)arg;
    const bool aborted = 0 == strcmp(what, "aborted");
    const bool killed = aborted || 0 == strcmp(what, "killed");
    const int expected = aborted ? GBA_ERR_STALE : killed ? GBA_ERR_TIMEOUT : GBA_OK;
    uint64_t *rank_0 = &me->all->user[0], *late = &me->all->user[1], *status = &me->all->user[2];
    struct rank rank;
    bool good = true;

    if (0 == me->rank) {
        good = member_team(me, "none", false);
        word_set(rank_0, (uint64_t)getpid());
        word_await(late, 1);
        good &= GBA_OK == gba_barrier(me->team);
        member_end(me);
        return good ? 0 : 1;
    }
    rank_begin(&rank, me, 1, "none", false);
    word_await(rank_0, 1);
    kill((pid_t)*rank_0, SIGSTOP);
    wait_kernel<<<1, 1>>>(rank.member[0], 0 == strcmp(what, "killed") ? 500000000ull : 0,
                          rank.user + 2);
    word_await(status, 1);
    usleep(10000); /* the kernel has arrived, or will soon; not earlier than the others */
    if (killed) {
        kill((pid_t)*rank_0, SIGKILL);
        good &= !aborted || GBA_OK == gba_gpu_member_abort(&rank.member[0]);
    } else {
        good &= GBA_ERR_BUSY == gba_gpu_member_destroy(&rank.member[0]);
        word_set(late, 1);
        usleep(500000);
        kill((pid_t)*rank_0, SIGCONT);
    }
    CK(cudaDeviceSynchronize());
    good &= (uint64_t)(1000 + expected) == word_get(status);
    if (0 == strcmp(what, "leaves"))
        _exit(good ? 0 : 1); /* without destroying */
    return rank_end(&rank) && good ? 0 : 1;
}

/* ----------------------------------------------------------------------------------- main --- */

static void test(const char *name, uint32_t size, int (*body)(struct member *, void *),
                 const char *arg, int expected = 0)
{
    const int result = members_run(size, body, (void *)arg);

    printf("%s %s\n", expected == result ? "ok" : "FAIL:", name);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    setenv("GBA_STUCK_AFTER", "0", 0);
    setenv("GBA_TRIAL_AFTER", "0", 0); /* not in the middle of a measurement */
    if (argc > 1 && 0 == strcmp(argv[1], "mps")) {
        test("2 processes, software", 2, processes, "none");
        test("2 processes, sim", 2, processes, "sim");
        test("8 processes, software", 8, processes, "none");
        test("8 processes, sim", 8, processes, "sim");
    } else {
        test("plain loads of another SM's words", 1, two_members, NULL);
        test("a CPU rank and a GPU rank, software", 2, mixed_ranks, "none");
        test("a CPU rank and a GPU rank, sim", 2, mixed_ranks, "sim");
        test("a device that loses arrivals", 2, mixed_ranks, "sim?lose_arrival=500");
        test("a device that dies: the kernel goes on", 2, mixed_ranks, "sim?die_after=1700");
        test("events and graphs by words", 2, stream_order, "words");
        test("events and graphs by the kernel", 2, stream_order, NULL);
        test("a stopped rank; destroy is refused meanwhile", 2, failing, "stopped");
        test("a killed rank: the wait ends by its limit", 2, failing, "killed", 1);
        test("a killed rank: an abort ends the wait", 2, failing, "aborted", 1);
        test("a process that leaves its member", 2, failing, "leaves");
        test("times of 1 and 64 members, and in a stream", 1, times, NULL);
        test("2 processes without MPS", 2, processes, NULL);
    }
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPU members on a GPU: early exit, streams, graphs, failures, and times beside those of a kernel
 * that does the least (the prototype). contrib/gpu/check builds and runs it. The parent forks the
 * processes of each test and never uses CUDA itself. The argument "mps": the tests with several
 * processes on the GPU.
 */
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include "gba/gpu.cuh"
#include "tests/gpu/members.h"

#define LIMIT_NS   20000000000ull /* of a kernel's wait, so that a fault ends */
#define ROUNDS     20000u
#define PAIR       256u /* threads of the kernel in a test with a CPU rank */
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

static double now_ns()
{
    timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

/* A line of the table. */
static void say(double ns, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    printf("| ");
    vprintf(format, args);
    printf(" | %.0f |\n", ns);
    fflush(stdout);
    va_end(args);
}

/* -------------------------------------------------------------------------------- kernels --- */

/* Each block is a member, by one thread or all. It stores a plain word before each barrier and
 * reads that of the next block after it. */
template <gba_gpu_coop_t COOP>
__global__ void rounds_kernel(const gba_gpu_member_t *members, uint32_t first, uint32_t rounds,
                              uint32_t *data, unsigned long long *bad)
{
    gba_gpu_session_t session;

    if (GBA_GPU_THREAD == COOP && 0 != threadIdx.x)
        return;
    session = gba_gpu_open(&members[blockIdx.x], COOP);
    for (uint32_t round = first + 1; round <= first + rounds; round++) {
        if (0 == threadIdx.x)
            ((volatile uint32_t *)data)[blockIdx.x * 32] = round;
        if (GBA_OK != gba_gpu_session_barrier(&session, GBA_GPU_ACQ_REL, LIMIT_NS)) {
            atomicAdd(bad, 1ull << 32);
            break;
        }
        if (0 == threadIdx.x &&
            (int32_t)(((volatile uint32_t *)data)[(blockIdx.x + 1) % gridDim.x * 32] - round) < 0)
            atomicAdd(bad, 1ull);
    }
    gba_gpu_close(&session);
}

/* The same by single calls, with the count in memory, against another rank: each thread stores a
 * word before a barrier, and reads the other rank's word after it. */
template <gba_gpu_coop_t COOP>
__global__ void pair_kernel(gba_gpu_member_t member, uint32_t first, uint32_t rounds,
                            uint64_t *mine, const uint64_t *theirs, unsigned long long *bad)
{
    const uint32_t self = blockIdx.x * blockDim.x + threadIdx.x;

    if ((GBA_GPU_THREAD == COOP && 0 != self) || (GBA_GPU_WARP == COOP && self > 31) ||
        (GBA_GPU_BLOCK == COOP && 0 != blockIdx.x))
        return;
    for (uint32_t round = first + 1; round <= first + rounds; round++) {
        ((volatile uint64_t *)mine)[self] = round;
        if (GBA_OK != gba_gpu_barrier(&member, COOP, GBA_GPU_ACQ_REL, LIMIT_NS)) {
            atomicAdd(bad, 1ull << 32);
            break;
        }
        if (*(volatile const uint64_t *)theirs < round)
            atomicAdd(bad, 1ull);
    }
}

__global__ void wait_kernel(gba_gpu_member_t member, uint64_t limit_ns, uint64_t *status)
{
    gba_gpu_barrier_session session(GBA_GPU_THREAD, member);

    *(volatile uint64_t *)status = 1;
    *(volatile uint64_t *)status = (uint64_t)(1000 + session.sync(GBA_GPU_ACQ_REL, limit_ns));
}

__global__ void nothing_kernel()
{
}

__global__ void store_kernel(uint64_t *to, uint64_t value)
{
    *(volatile uint64_t *)to = value;
}

/* The least: a store and a poll, without a product around them. */
__global__ void least_kernel(uint64_t *door, uint64_t *flag, uint32_t first, uint32_t rounds,
                             uint32_t *data)
{
    if (0 != threadIdx.x)
        return;
    for (uint32_t round = first + 1; round <= first + rounds; round++) {
        ((volatile uint32_t *)data)[blockIdx.x * 32] = round;
        gba_gpu_store(&door[8 * blockIdx.x], (uint64_t)round << 32 | blockIdx.x, GBA_GPU_RELEASE,
                      0);
        while ((int32_t)((uint32_t)gba_gpu_load(&flag[8 * blockIdx.x], GBA_GPU_ACQUIRE) - round) <
               0)
            ;
    }
}

/* The floor: a counter in GPU memory among blocks. */
__global__ void floor_kernel(unsigned *count, volatile unsigned *flag, uint32_t first,
                             uint32_t rounds)
{
    for (uint32_t round = first + 1; round <= first + rounds; round++) {
        __threadfence();
        if (atomicAdd(count, 1) == gridDim.x - 1) {
            *count = 0;
            __threadfence();
            *flag = round;
        } else {
            while ((int32_t)(*flag - round) < 0)
                ;
        }
        __threadfence();
    }
}

/* -------------------------------------------------------------------------- a rank on a GPU --- */

struct rank {
    struct member *me;
    uint32_t count;
    gba_gpu_member_t member[BLOCKS_MAX];
    gba_gpu_member_t *members; /* in GPU memory */
    uint32_t *data;
    unsigned long long *bad;
    uint64_t *user; /* all->user for the GPU */
};

static bool rank_begin(struct rank *rank, struct member *me, uint32_t count, const char *device,
                       bool stream_only)
{
    memset(rank, 0, sizeof *rank);
    rank->me = me;
    rank->count = count;
    (void)cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync); /* the first time */
    (void)cudaGetLastError();
    CK(cudaFree(NULL));
    CK(cudaHostRegister(me->all->user, sizeof me->all->user, cudaHostRegisterMapped));
    CK(cudaHostGetDevicePointer((void **)&rank->user, me->all->user, 0));
    CK(cudaMalloc(&rank->members, sizeof rank->member));
    CK(cudaMalloc(&rank->data, BLOCKS_MAX * 128));
    CK(cudaMalloc(&rank->bad, sizeof *rank->bad));
    CK(cudaMemset(rank->data, 0, BLOCKS_MAX * 128));
    CK(cudaMemset(rank->bad, 0, sizeof *rank->bad));
    if (!member_team(me, device, true))
        return false;
    me->attr.members = count;
    me->attr.stream_only = stream_only;
    for (uint32_t i = 0; i < count; i++) {
        me->attr.member = i;
        if (GBA_OK != gba_gpu_member_create(me->team, &me->attr, &rank->member[i]))
            return false;
    }
    CK(cudaMemcpy(rank->members, rank->member, sizeof rank->member, cudaMemcpyHostToDevice));
    return true;
}

static bool rank_end(struct rank *rank)
{
    unsigned long long bad;
    bool good = true;

    CK(cudaDeviceSynchronize());
    CK(cudaMemcpy(&bad, rank->bad, sizeof bad, cudaMemcpyDeviceToHost));
    if (0 != bad)
        printf("%llu early exits, %llu failed barriers\n", bad & 0xFFFFFFFFu, bad >> 32);
    for (uint32_t i = 0; i < rank->count; i++)
        good &= GBA_OK == gba_gpu_member_destroy(&rank->member[i]);
    CK(cudaHostUnregister(rank->me->all->user));
    member_end(rank->me);
    return good && 0 == bad;
}

template <gba_gpu_coop_t COOP>
static void rounds_launch(struct rank *rank, uint32_t first, uint32_t rounds = ROUNDS)
{
    rounds_kernel<COOP><<<rank->count, GBA_GPU_BLOCK == COOP ? 256 : 32>>>(
        rank->members, first, rounds, rank->data, rank->bad);
}

/* The median of five runs of a kernel with ROUNDS barriers, ns a barrier. */
template <typename Launch> static double median(Launch launch, uint32_t rounds = ROUNDS)
{
    std::vector<double> times;
    double began;

    for (uint32_t run = 0; run < 6; run++) {
        began = now_ns();
        launch(run * rounds);
        CK(cudaDeviceSynchronize());
        if (run > 0)
            times.push_back((now_ns() - began) / rounds);
    }
    std::sort(times.begin(), times.end());
    return times[2];
}

/* ---------------------------------------------------------------------------------- times --- */

struct least_device {
    volatile uint64_t *door, *flag;
    uint32_t members;
    uint64_t stop;
};

static void *least_serve(void *arg)
{
    least_device *device = (least_device *)arg;

    for (uint32_t next = 1;; next++) {
        for (uint32_t i = 0; i < device->members; i++)
            while ((int32_t)((uint32_t)(device->door[8 * i] >> 32) - next) < 0)
                if (0 != word_get(&device->stop))
                    return NULL;
        __atomic_thread_fence(__ATOMIC_ACQ_REL);
        for (uint32_t i = 0; i < device->members; i++)
            device->flag[8 * i] = next;
    }
}

static double least(uint32_t members)
{
    least_device device = {};
    uint64_t *memory, *words;
    uint32_t *data;
    pthread_t thread;
    double ns;

    CK(cudaHostAlloc(&memory, 65536, cudaHostAllocMapped));
    memset(memory, 0, 65536);
    CK(cudaHostGetDevicePointer((void **)&words, memory, 0));
    CK(cudaMalloc(&data, BLOCKS_MAX * 128));
    device.door = memory;
    device.flag = memory + 4096;
    device.members = members;
    pthread_create(&thread, NULL, least_serve, &device);
    ns = median([&](uint32_t first) {
        least_kernel<<<members, 32>>>(words, words + 4096, first, ROUNDS, data);
    });
    word_set(&device.stop, 1);
    pthread_join(thread, NULL);
    CK(cudaFree(data));
    CK(cudaFreeHost(memory));
    return ns;
}

static double floor_of(uint32_t blocks)
{
    unsigned *words;
    double ns;

    CK(cudaMalloc(&words, 256));
    CK(cudaMemset(words, 0, 256));
    ns = median(
        [&](uint32_t first) { floor_kernel<<<blocks, 1>>>(words, words + 32, first, ROUNDS); });
    CK(cudaFree(words));
    return ns;
}

/* The same members by the store that a device needs (st.mmio). */
static double by_mmio(struct rank *rank)
{
    for (uint32_t i = 0; i < rank->count; i++)
        rank->member[i].direct = 1;
    CK(cudaMemcpy(rank->members, rank->member, sizeof rank->member, cudaMemcpyHostToDevice));
    CK(cudaMemset(rank->data, 0, BLOCKS_MAX * 128));
    return median([&](uint32_t first) { rounds_launch<GBA_GPU_THREAD>(rank, first); });
}

/* One process with 1 to 64 members: times, early exit in GPU memory, and the goal. */
static int times_alone(struct member *me, void *)
{
    static const uint32_t counts[] = {1, 2, 4, 8, 64};
    struct rank rank;
    double base, thread, block, mmio;
    bool good = true, met = true;

    for (uint32_t count : counts) {
        if (!rank_begin(&rank, me, count, "none", false))
            return 1;
        base = least(count);
        thread = median([&](uint32_t first) { rounds_launch<GBA_GPU_THREAD>(&rank, first); });
        CK(cudaMemset(rank.data, 0, BLOCKS_MAX * 128));
        block = median([&](uint32_t first) { rounds_launch<GBA_GPU_BLOCK>(&rank, first); });
        mmio = by_mmio(&rank);
        good &= rank_end(&rank);
        say(base, "%u members of one process: the prototype", count);
        say(thread, "%u members of one process (%.2f of the prototype)", count, thread / base);
        say(block, "the same, blocks of 256 threads (%.2f of the prototype)", block / base);
        say(mmio, "the same, by fence and st.mmio (%.2f of the prototype)", mmio / base);
        met &= count > 8 || thread <= 1.15 * base;
    }
    say(floor_of(2), "floor: 2 blocks of one GPU, a counter in its memory");
    say(floor_of(128), "floor: 128 blocks");
    if (!met)
        printf("the goal of 1.15 of the prototype is missed\n");
    return good && met ? 0 : 1;
}

/* The time of one member, whose barriers in streams are operations on words or kernels. */
template <typename Launch>
static double one_member(struct member *me, bool words, Launch launch, uint32_t rounds, bool *good)
{
    struct rank rank;
    double ns;

    if (!rank_begin(&rank, me, 1, "none", words))
        return *good = false;
    ns = median([&](uint32_t first) { launch(&rank, first); }, rounds);
    *good &= GBA_OK == gba_gpu_member_status(&rank.member[0]) && rank_end(&rank);
    return ns;
}

/* What a program does without: the kernel ends, the CPU synchronizes and makes the barrier; and the
 * barrier in a stream, by words and by a kernel. */
static int times_cpu_and_stream(struct member *me, void *)
{
    const uint32_t rounds = ROUNDS / 10;
    const auto in_stream = [](struct rank *rank, uint32_t) {
        for (uint32_t i = 0; i < rounds; i++) {
            nothing_kernel<<<1, 32>>>();
            (void)gba_gpu_barrier_on_stream(&rank->member[0], NULL);
        }
    };
    double kernel, cpu, words, launched;
    bool good = true;

    words = one_member(me, true, in_stream, rounds, &good);
    launched = one_member(me, false, in_stream, rounds, &good);
    kernel = one_member(
        me, false,
        [](struct rank *rank, uint32_t first) { rounds_launch<GBA_GPU_THREAD>(rank, first); },
        ROUNDS, &good);
    CK(cudaDeviceReset());
    (void)cudaSetDeviceFlags(cudaDeviceScheduleSpin);
    good &= member_team(me, "none", false);
    cpu = median(
        [&](uint32_t) {
            for (uint32_t i = 0; i < rounds; i++) {
                nothing_kernel<<<1, 32>>>();
                CK(cudaStreamSynchronize(NULL));
                (void)gba_bootstrap_team_barrier(me->boot_team);
            }
        },
        rounds);
    say(cpu, "the CPU drives it: kernel, cudaStreamSynchronize, barrier of the CPU, next kernel");
    say(words, "in the stream: kernel, barrier by operations on words");
    say(launched, "in the stream: kernel, barrier by a kernel of one thread");
    if (cpu < 2 * kernel)
        printf("the goal is missed: the CPU-driven barrier is not twice as slow as %.0f\n", kernel);
    return good && cpu >= 2 * kernel ? 0 : 1;
}

static double cpu_seconds()
{
    rusage used;

    getrusage(RUSAGE_SELF, &used);
    return used.ru_utime.tv_sec + used.ru_stime.tv_sec +
           (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/* One CPU while barriers run, none when idle for a second. */
static int cpu_use(struct member *me, void *)
{
    struct rank rank;
    double busy, idle, began;

    if (!rank_begin(&rank, me, 1, "none", false))
        return 1;
    began = now_ns();
    busy = cpu_seconds();
    rounds_launch<GBA_GPU_THREAD>(&rank, 0, 200000);
    CK(cudaDeviceSynchronize());
    busy = (cpu_seconds() - busy) / ((now_ns() - began) / 1e9);
    sleep(2);
    idle = cpu_seconds();
    sleep(1);
    idle = cpu_seconds() - idle;
    printf("CPUs of the process: %.2f in barriers, %.3f when idle\n", busy, idle);
    /* It wakes up again. */
    rounds_launch<GBA_GPU_THREAD>(&rank, 200000, 100);
    return rank_end(&rank) && busy < 1.2 && idle < 0.05 ? 0 : 1;
}

/* ------------------------------------------------------------------------------ with a CPU --- */

template <gba_gpu_coop_t COOP>
static void pair_launch(struct rank *rank, uint32_t first, uint32_t n)
{
    const bool grid = GBA_GPU_GRID == COOP;
    uint64_t *mine = rank->user, *theirs = rank->user + 1024;
    void *args[] = {&rank->member[0], &first, &n, &mine, &theirs, &rank->bad};

    CK(cudaLaunchCooperativeKernel((void *)pair_kernel<COOP>, dim3(grid ? 4 : 1),
                                   dim3(grid ? PAIR / 4 : PAIR), args, 0, NULL));
}

/* Rank 0 takes part by the CPU, rank 1 by a kernel of a thread, a warp, a block, or a grid, which
 * is launched twice. The words of both are in host memory. arg: the device. */
static int mixed_ranks(struct member *me, void *arg)
{
    static const struct {
        void (*launch)(struct rank *rank, uint32_t first, uint32_t rounds);
        uint32_t threads;
    } coops[] = {{pair_launch<GBA_GPU_THREAD>, 1},
                 {pair_launch<GBA_GPU_WARP>, 32},
                 {pair_launch<GBA_GPU_BLOCK>, PAIR},
                 {pair_launch<GBA_GPU_GRID>, PAIR}};
    const char *device = (const char *)arg;
    const uint32_t rounds = 1000;
    uint64_t *user = me->all->user, round = 0;
    struct rank rank;
    bool good;

    if (1 == me->rank) {
        if (!rank_begin(&rank, me, 1, device, false))
            return 1;
        for (uint32_t half = 0; half < 8; half++)
            coops[half / 2].launch(&rank, half * rounds / 2, rounds / 2);
        return rank_end(&rank) ? 0 : 1;
    }
    good = member_team(me, device, false);
    while (good && round < 4 * rounds) {
        const uint32_t threads = coops[round++ / rounds].threads;

        word_set(&user[1024], round);
        good = GBA_OK == gba_bootstrap_team_barrier(me->boot_team);
        for (uint32_t i = 0; i < threads; i++)
            if (__atomic_load_n(&user[i], __ATOMIC_RELAXED) < round)
                good = printf("early: CPU, round %lu, thread %u\n", (unsigned long)round, i) < 0;
    }
    if (strstr(device, "die") != NULL)
        printf("%s\n", gba_team_why(me->team));
    member_end(me);
    return good ? 0 : 1;
}

/* An event after a barrier in a stream completes only after rank 0 has arrived; then a graph that
 * makes the barrier at each replay. arg: not NULL: by operations on words. */
static int stream_order(struct member *me, void *arg)
{
    const int replays = 50;
    uint64_t *user = me->all->user;
    cudaGraphExec_t replay;
    cudaGraph_t graph;
    cudaStream_t stream;
    cudaEvent_t event;
    struct rank rank;
    bool good;

    if (0 == me->rank) {
        good = member_team(me, "sim", false);
        for (uint64_t round = 1; good && round <= 20; round++) {
            word_await(&user[1], round);
            usleep(2000);
            word_set(&user[0], round);
            good = GBA_OK == gba_bootstrap_team_barrier(me->boot_team);
        }
        for (uint64_t round = 1; good && round <= replays; round++) {
            word_set(&user[2], round);
            good =
                GBA_OK == gba_bootstrap_team_barrier(me->boot_team) && word_get(&user[3]) >= round;
        }
        member_end(me);
        return good ? 0 : 1;
    }
    good = rank_begin(&rank, me, 1, "sim", arg != NULL);
    CK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    for (uint64_t round = 1; good && round <= 20; round++) {
        good = GBA_OK == gba_gpu_barrier_on_stream(&rank.member[0], stream);
        CK(cudaEventRecord(event, stream));
        good &= cudaErrorNotReady == cudaEventQuery(event);
        word_set(&user[1], round);
        CK(cudaEventSynchronize(event));
        good &= word_get(&user[0]) >= round;
    }
    CK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    good &= GBA_OK == gba_gpu_barrier_on_stream(&rank.member[0], stream);
    CK(cudaStreamEndCapture(stream, &graph));
    CK(cudaGraphInstantiate(&replay, graph, 0));
    for (uint64_t round = 1; good && round <= replays; round++) {
        store_kernel<<<1, 1, 0, stream>>>(rank.user + 3, round);
        CK(cudaGraphLaunch(replay, stream));
        CK(cudaStreamSynchronize(stream));
        good = word_get(&user[2]) >= round;
    }
    good &= GBA_OK == gba_gpu_member_status(&rank.member[0]);
    return rank_end(&rank) && good ? 0 : 1;
}

/* ------------------------------------------------------------------------------- failures --- */

/* Rank 0 arrives late, is stopped, or is killed (arg) by rank 1, which waits in a kernel. */
static int failing(struct member *me, void *arg)
{
    const char *what = (const char *)arg;
    const bool killed = 0 == strcmp(what, "killed"), stopped = 0 == strcmp(what, "stopped");
    uint64_t *rank_0 = &me->all->user[0], *late = &me->all->user[1], *status = &me->all->user[2];
    struct rank rank;
    bool good;

    if (0 == me->rank) {
        good = member_team(me, "none", false);
        word_set(rank_0, (uint64_t)getpid());
        word_await(late, 1);
        good &= GBA_OK == gba_bootstrap_team_barrier(me->boot_team);
        member_end(me);
        return good ? 0 : 1;
    }
    good = rank_begin(&rank, me, 1, "none", false);
    word_await(rank_0, 1);
    if (stopped)
        kill((pid_t)*rank_0, SIGSTOP);
    wait_kernel<<<1, 1>>>(rank.member[0], killed ? 500000000ull : LIMIT_NS, rank.user + 2);
    word_await(status, 1);
    usleep(10000); /* the kernel has arrived, or will soon; not earlier than the others */
    if (killed) {
        kill((pid_t)*rank_0, SIGKILL);
    } else {
        good &= GBA_ERR_BUSY == gba_gpu_member_destroy(&rank.member[0]);
        word_set(late, 1);
    }
    if (stopped) {
        usleep(500000);
        kill((pid_t)*rank_0, SIGCONT);
    }
    CK(cudaDeviceSynchronize());
    good &= (uint64_t)(1000 + (killed ? GBA_ERR_TIMEOUT : GBA_OK)) == word_get(status);
    if (0 == strcmp(what, "leaves"))
        _exit(good ? 0 : 1); /* without destroying */
    return rank_end(&rank) && good ? 0 : 1;
}

/* ------------------------------------------------------------------------ several processes --- */

/* Without MPS the GPU switches between two processes. */
static int without_mps(struct member *me, void *)
{
    struct rank rank;
    double ns;

    if (!rank_begin(&rank, me, 1, "none", false))
        return 1;
    ns = now_ns();
    rounds_launch<GBA_GPU_THREAD>(&rank, 0, 200);
    CK(cudaDeviceSynchronize());
    if (0 == me->rank)
        say((now_ns() - ns) / 200, "2 processes without MPS");
    return rank_end(&rank) ? 0 : 1;
}

/* Each rank is a process with a kernel on the GPU. The words are in host memory, and then in that
 * of the GPU. arg: the device. */
static int processes(struct member *me, void *arg)
{
    const uint32_t size = me->all->size, next = (me->rank + 1) % size;
    const char *device = (const char *)arg;
    struct rank rank;
    double host, gpu;
    bool met;

    if (!rank_begin(&rank, me, 1, device, false))
        return 1;
    host = median([&](uint32_t first) {
        pair_kernel<GBA_GPU_THREAD><<<1, 32>>>(rank.member[0], first, ROUNDS,
                                               rank.user + 64 * me->rank, rank.user + 64 * next,
                                               rank.bad);
    });
    gpu = median([&](uint32_t first) { rounds_launch<GBA_GPU_THREAD>(&rank, first); });
    met = gpu <= 5000 || 8 != size || 0 != strcmp(device, "none");
    if (0 == me->rank) {
        say(host, "%u processes under MPS, %s, with words in host memory", size, device);
        say(gpu, "%u processes under MPS, %s", size, device);
    }
    if (!met)
        printf("the goal of 5000 ns is missed: %.0f\n", gpu);
    return rank_end(&rank) && met ? 0 : 1;
}

/* ----------------------------------------------------------------------------------- main --- */

static int passed, failed;

static void test(const char *name, uint32_t size, int (*body)(struct member *, void *),
                 const char *arg, int expected = 0)
{
    const int result = members_run(size, body, (void *)arg);

    printf("%s %s\n", expected == result ? "ok" : "FAIL:", name);
    fflush(stdout);
    *(expected == result ? &passed : &failed) += 1;
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
        test("times and early exit of 1 to 64 members", 1, times_alone, NULL);
        test("driven by the CPU, and in a stream", 1, times_cpu_and_stream, NULL);
        test("use of the CPU", 1, cpu_use, NULL);
        test("a CPU rank and a GPU rank, software", 2, mixed_ranks, "none");
        test("a CPU rank and a GPU rank, sim", 2, mixed_ranks, "sim");
        test("a device that loses arrivals", 2, mixed_ranks, "sim?lose_arrival=500");
        test("a device that dies: the kernel goes on", 2, mixed_ranks, "sim?die_after=1700");
        test("events and graphs by words", 2, stream_order, "words");
        test("events and graphs by the kernel", 2, stream_order, NULL);
        test("a late rank; destroy is refused meanwhile", 2, failing, "late");
        test("a stopped rank", 2, failing, "stopped");
        test("a killed rank: the wait ends by its limit", 2, failing, "killed", 1);
        test("a process that leaves its member", 2, failing, "leaves");
        test("2 processes without MPS", 2, without_mps, NULL);
    }
    printf("%d passed, %d failed\n", passed, failed);
    return 0 != failed;
}

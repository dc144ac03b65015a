/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPU members without a GPU: the driver is fake_cuda.c, and threads stand for kernels. Processes of
 * which some take part by GPU members and some by the CPU, on every path of one host, with faults;
 * streams and graphs; a direct member on the fake kernel; refusals.
 */
#define _GNU_SOURCE /* pthread_tryjoin_np */
#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gba/gpu/cuda.h"
#include "gba/gpu/proxy.h"
#include "tests/gpu/fake_cuda.h"
#include "tests/gpu/members.h"
#include "tests/limit.h"
#include "tests/suite.h"
#include "tests/unit/fake_kernel.h"
#include "tests/unit/log_catch.h"

#define GBA_GPU_ON_CPU
#include "gba/gpu.cuh"

#define ROUNDS   120u
#define PER_RANK 3u /* GPU members of a rank, at most */
#define FAKE     "tests/gpu/fake/.libs/libcuda.so.1"

static struct fake_cuda *fake;

/* ------------------------------------------------------------------------ early exit, paths --- */

/* A thread in a member: a kernel, or the CPU. */
struct actor {
    struct member *me;
    gba_gpu_member_t gpu;
    uint32_t slot; /* of all->user, where it stores the round that it enters */
    uint32_t rounds;
    bool good;
};

static uint32_t gpus_of(uint32_t rank)
{
    return 1 == rank % 2 ? 1 + rank / 2 % PER_RANK : 0;
}

/* Whether all actors of all ranks have entered the round. Plain memory of the barrier would do. */
static bool all_entered(const struct member *me, uint64_t round)
{
    for (uint32_t rank = 0; rank < me->all->size; rank++)
        for (uint32_t i = 0; i < (0 == gpus_of(rank) ? 1 : gpus_of(rank)); i++)
            if (__atomic_load_n(&me->all->user[rank * PER_RANK + i], __ATOMIC_RELAXED) < round)
                return false;
    return true;
}

static void *kernel(void *arg)
{
    struct actor *actor = arg;
    gba_gpu_session_t session = gba_gpu_open(&actor->gpu, GBA_GPU_THREAD);

    actor->good = true;
    for (uint64_t round = 1; actor->good && round <= actor->rounds; round++) {
        if (0 == round % 32 && round / 32 % 4 == actor->slot % 4)
            usleep(1000);
        __atomic_store_n(&actor->me->all->user[actor->slot], round, __ATOMIC_RELAXED);
        actor->good = GBA_OK == gba_gpu_session_barrier(&session, GBA_GPU_ACQ_REL, 0) &&
                      all_entered(actor->me, round);
    }
    gba_gpu_close(&session);
    return NULL;
}

/* What a rank does: GPU members and their kernels, or barriers of the CPU. arg: the path. */
static int mixed(struct member *me, void *arg)
{
    const char *why = getenv("GPU_TEST_WHY");
    const uint32_t gpus = gpus_of(me->rank);
    gba_gpu_attr_t attr = {.members = gpus, .oob = &me->oob, .team_attr = &me->attr};
    struct actor actor[PER_RANK];
    pthread_t thread[PER_RANK];
    bool good = GBA_OK == member_team(me, arg, gpus > 0);

    for (attr.member = 0; good && attr.member < gpus; attr.member++) {
        actor[attr.member] =
            (struct actor){.me = me, .slot = me->rank * PER_RANK + attr.member, .rounds = ROUNDS};
        good = GBA_OK == gba_gpu_member_create(me->team, &attr, &actor[attr.member].gpu);
    }
    for (uint32_t i = 0; good && i < gpus; i++)
        pthread_create(&thread[i], NULL, kernel, &actor[i]);
    for (uint64_t round = 1; good && 0 == gpus && round <= ROUNDS; round++) {
        __atomic_store_n(&me->all->user[me->rank * PER_RANK], round, __ATOMIC_RELAXED);
        good = GBA_OK == member_barrier(me) && all_entered(me, round);
    }
    for (uint32_t i = 0; i < gpus && good; i++)
        pthread_join(thread[i], NULL);
    for (uint32_t i = 0; i < gpus && good; i++)
        good = actor[i].good && GBA_OK == gba_gpu_member_destroy(&actor[i].gpu);
    if (why != NULL && strstr(gba_team_why(me->team), why) == NULL) {
        fprintf(stderr, "rank %u: %s\n", me->rank, gba_team_why(me->team));
        good = false;
    }
    member_end(me);
    return good && 0 == fake->registered + fake->allocated ? 0 : 1;
}

TEST(mixed_teams_on_every_path)
{
    static const struct {
        const char *device, *variable, *value, *why;
    } paths[] = {
        {"sim", "GBA_TRIAL_AFTER", "0", "sim: group"},
        {"none", "GBA_SW_ALGORITHM", "v1", "dissemination"},
        {"none", "GBA_SW_ALGORITHM", "v2", "radix"},
        {"none", "GBA_SW_ALGORITHM", "v3", "central"},
        {"none", "GBA_SW_ALGORITHM", "tree", "tree"},
        {"none", "GBA_SW_ENABLE", "0", "fallback"},
        {"none", "GBA_TRIAL_AFTER", "30", "software"}, /* agrees in the middle */
        {"sim?lose_arrival=7", "GBA_TRIAL_AFTER", "0", "sim"},
        {"sim?lose_release=9", "GBA_FIRST_SEQUENCE", "4294967200", "sim"}, /* wraps */
        {"sim?die_after=40", "GBA_TRIAL_AFTER", "0", "software"},
        {"sim?die_release=50", "GBA_TRIAL_AFTER", "0", "software"},
    };

    static const uint32_t sizes[] = {2, 5, 8};

    gba_log_set(log_drop, NULL, GBA_LOG_ERROR);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        setenv(paths[i].variable, paths[i].value, 1);
        setenv("GBA_TRIAL_TEST", 0 == strcmp(paths[i].variable, "GBA_TRIAL_AFTER") ? "1" : "0", 1);
        setenv("GBA_RETRY_AFTER", "20", 1);
        setenv("GPU_TEST_WHY", paths[i].why, 1);
        for (size_t s = 0; s < 3; s++) {
            print_message("%s %s=%s, %u processes\n", paths[i].device, paths[i].variable,
                          paths[i].value, sizes[s]);
            assert_int_equal(members_run(sizes[s], mixed, (void *)(uintptr_t)paths[i].device, NULL),
                             0);
        }
        unsetenv(paths[i].variable);
    }
    unsetenv("GBA_TRIAL_TEST");
    unsetenv("GPU_TEST_WHY");
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
}

/* ----------------------------------------------------------------------------- one process --- */

/* A member of a process that is a team by itself, or has one more rank, see alone. */
struct alone {
    struct member me;
    gba_gpu_attr_t attr;
    gba_gpu_member_t gpu;
};

static gba_status_t self_min(void *ctx, uint64_t *words, uint32_t count)
{
    (void)ctx;
    (void)words;
    (void)count;
    return GBA_OK;
}

static gba_status_t self_allgather(void *ctx, const void *in, void *out, size_t bytes)
{
    (void)ctx;
    memcpy(out, in, bytes);
    return GBA_OK;
}

static void self_name(void *ctx, uint32_t rank, char *text, size_t len)
{
    (void)ctx;
    snprintf(text, len, "rank %u", rank);
}

static gba_status_t self_test(void *ctx)
{
    (void)ctx;
    return GBA_OK;
}

static struct alone *alone(const char *path)
{
    static struct members all = {.size = 1};
    struct alone *one = calloc(1, sizeof *one);

    one->me.all = &all;
    one->me.oob = (gba_oob_t){.size = 1,
                              .min = self_min,
                              .allgather = self_allgather,
                              .test = self_test,
                              .name_member = self_name};
    setenv("GBA_OFFLOAD", "always", 1);
    assert_int_equal(member_team(&one->me, path, true), GBA_OK);
    unsetenv("GBA_OFFLOAD");
    one->attr = (gba_gpu_attr_t){.oob = &one->me.oob, .team_attr = &one->me.attr};
    return one;
}

static void alone_end(struct alone *one)
{
    member_end(&one->me);
    free(one);
    assert_int_equal(fake->registered, 0);
    assert_int_equal(fake->allocated, 0);
}

static void caught(gba_status_t status, gba_status_t expected, const char *line)
{
    assert_int_equal(status, expected);
    assert_logged(line);
    log_forget();
}

TEST(refusals_say_why_and_leave_nothing)
{
    struct alone *one = alone("none");
    gba_gpu_attr_t attr = one->attr;
    gba_gpu_member_t other;

    gba_log_set(log_catch, NULL, GBA_LOG_ERROR);
    log_forget();
    attr.oob = NULL;
    caught(gba_gpu_member_create(one->me.team, &attr, &one->gpu), GBA_ERR_PARAM, "no oob");
    attr = one->attr;
    attr.member = 1;
    caught(gba_gpu_member_create(one->me.team, &attr, &one->gpu), GBA_ERR_PARAM, "not below");
    fake->context = false;
    caught(gba_gpu_member_create(one->me.team, &one->attr, &one->gpu), GBA_ERR_PARAM,
           "no CUDA context is current");
    fake->context = true;
    fake->no_memory = true;
    caught(gba_gpu_member_create(one->me.team, &one->attr, &one->gpu), GBA_ERR_IO,
           "cuMemAlloc failed: CUDA_ERROR_FAKE");
    fake->no_memory = false;
    fake->refused_flags = GBA_CU_REGISTER_MAPPED;
    caught(gba_gpu_member_create(one->me.team, &one->attr, &one->gpu), GBA_ERR_IO,
           "cuMemHostRegister failed");
    fake->refused_flags = 0;
    assert_int_equal(gba_gpu_member_create(one->me.team, &one->attr, &one->gpu), GBA_OK);
    caught(gba_gpu_member_create(one->me.team, &one->attr, &other), GBA_ERR_BUSY, "in use");
    assert_string_equal(gba_gpu_member_why(&one->gpu), "proxy: the path of the team is software");
    /* A kernel waits. The other rank, here the second GPU member, does not exist. */
    gba_gpu_arrive(&one->gpu, GBA_GPU_THREAD, GBA_GPU_RELEASE);
    assert_int_equal(gba_gpu_wait(&one->gpu, GBA_GPU_THREAD, GBA_GPU_ACQUIRE, 0), GBA_OK);
    assert_int_equal(gba_gpu_member_destroy(&one->gpu), GBA_OK);
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
    alone_end(one);
}

static gba_word_t lines;
static char line_late[512];

static void log_late(void *ctx, gba_log_level_t level, const char *line)
{
    (void)level;
    if (strstr(line, "stalled") != NULL) {
        snprintf(line_late, sizeof line_late, "%s", line);
        gba_word_store_release(&lines, 1);
        if (ctx != NULL)
            __atomic_store_n((uint64_t *)ctx, 1, __ATOMIC_RELEASE);
    }
}

TEST(a_late_member_is_named_and_a_waiting_one_is_not_destroyed)
{
    struct alone *one;
    gba_gpu_member_t late;

    setenv("GBA_STUCK_AFTER", "1", 1);
    one = alone("none");
    unsetenv("GBA_STUCK_AFTER");
    gba_log_set(log_late, NULL, GBA_LOG_ERROR);
    one->attr.members = 2;
    assert_int_equal(gba_gpu_member_create(one->me.team, &one->attr, &one->gpu), GBA_OK);
    one->attr.member = 1;
    assert_int_equal(gba_gpu_member_create(one->me.team, &one->attr, &late), GBA_OK);
    gba_gpu_arrive(&one->gpu, GBA_GPU_THREAD, GBA_GPU_RELEASE);
    assert_int_equal(gba_gpu_member_destroy(&one->gpu), GBA_ERR_BUSY);
    while (0 == gba_word_load_acquire(&lines))
        usleep(1000);
    assert_string_equal(line_late, "all: rank 0 (gpu): barrier 1 stalled for 1 s: 1 of 2 GPU "
                                   "members have arrived; missing: gpu member 1");
    assert_int_equal(gba_gpu_wait(&one->gpu, GBA_GPU_THREAD, GBA_GPU_ACQUIRE, 1), GBA_ERR_TIMEOUT);
    /* The wait may be resumed. */
    gba_gpu_arrive(&late, GBA_GPU_THREAD, GBA_GPU_RELEASE);
    assert_int_equal(gba_gpu_wait(&one->gpu, GBA_GPU_THREAD, GBA_GPU_ACQUIRE, 0), GBA_OK);
    assert_int_equal(gba_gpu_barrier(&one->gpu, GBA_GPU_THREAD, GBA_GPU_ACQ_REL, 1),
                     GBA_ERR_TIMEOUT);
    /* Nobody waits any more. */
    assert_int_equal(gba_gpu_member_destroy(&one->gpu), GBA_OK);
    assert_int_equal(gba_gpu_member_destroy(&late), GBA_OK);
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
    alone_end(one);
}

TEST(streams_and_graphs)
{
    struct alone *one = alone("sim");

    gba_log_set(log_catch, NULL, GBA_LOG_ERROR);
    one->attr.stream_only = true;
    assert_int_equal(gba_gpu_member_create(one->me.team, &one->attr, &one->gpu), GBA_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(gba_gpu_barrier_on_stream(&one->gpu, NULL), GBA_OK);
    assert_int_equal(fake->batches, 3);
    assert_int_equal(fake->launches, 0);
    /* A captured barrier goes on where the operations were, at each replay. */
    fake->capturing = true;
    assert_int_equal(gba_gpu_barrier_on_stream(&one->gpu, NULL), GBA_OK);
    fake->capturing = false;
    assert_int_equal(fake->launches, 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(gba_gpu_barrier(&fake->captured, GBA_GPU_THREAD, GBA_GPU_ACQ_REL, 0),
                         GBA_OK);
    assert_int_equal(gba_gpu_barrier_on_stream(&one->gpu, NULL), GBA_OK);
    assert_int_equal(fake->launches, 2);
    assert_int_equal((uint32_t)one->gpu.count[0], 7);
    assert_int_equal(gba_gpu_member_destroy(&one->gpu), GBA_OK);
    /* Without the operations. */
    fake->no_operations = true;
    assert_int_equal(gba_gpu_member_create(one->me.team, &one->attr, &one->gpu), GBA_OK);
    assert_int_equal(gba_gpu_barrier_on_stream(&one->gpu, NULL), GBA_OK);
    assert_int_equal(fake->launches, 3);
    assert_int_equal(gba_gpu_member_destroy(&one->gpu), GBA_OK);
    fake->no_module = true;
    assert_int_equal(gba_gpu_member_create(one->me.team, &one->attr, &one->gpu), GBA_OK);
    log_forget();
    caught(gba_gpu_barrier_on_stream(&one->gpu, NULL), GBA_ERR_UNSUPPORTED, "kernel for streams");
    fake->no_operations = fake->no_module = false;
    assert_int_equal(gba_gpu_member_destroy(&one->gpu), GBA_OK);
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
    alone_end(one);
}

/* --------------------------------------------------------------------------------- direct --- */

static int direct_begin(void **state)
{
    (void)state;
    fake_kernel_start(GBA_GROUPS);
    return 0;
}

static int direct_stop(void **state)
{
    (void)state;
    fake_kernel_stop();
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
    fake->refused_flags = 0;
    return (int)fake_kernel.seen.violations;
}

/* The device works between the calls of the serving thread. */
static void device_run(void)
{
    gba_gpu_pause();
    fake_kernel_run();
    gba_gpu_resume();
    usleep(1000);
}

TEST_WITH(a_direct_member_stores_to_the_device, direct_begin, direct_stop, NULL)
{
    struct alone *one = alone(FAKE_KERNEL_PATH);
    struct actor actor = {.me = &one->me, .rounds = 20, .good = false};
    gba_team_stats_t stats;
    pthread_t thread;

    assert_int_equal(gba_gpu_member_create(one->me.team, &one->attr, &actor.gpu), GBA_OK);
    assert_string_equal(gba_gpu_member_why(&actor.gpu), "direct: the doorbell of the device");
    pthread_create(&thread, NULL, kernel, &actor);
    while (0 != pthread_tryjoin_np(thread, NULL))
        device_run();
    assert_true(actor.good);
    /* The team has counted, so the CPU goes on from there. */
    assert_int_equal(gba_gpu_member_destroy(&actor.gpu), GBA_OK);
    gba_team_stats(one->me.team, &stats);
    assert_int_equal(stats.rounds, 20);
    assert_int_equal(gba_barrier_start(one->me.team), GBA_OK);
    fake_kernel_run();
    assert_int_equal(gba_barrier_test(one->me.team), GBA_OK);
    alone_end(one);
}

TEST_WITH(the_death_of_the_device_ends_a_direct_wait, direct_begin, direct_stop, NULL)
{
    struct alone *one = alone(FAKE_KERNEL_PATH);

    gba_log_set(log_drop, NULL, GBA_LOG_ERROR);
    assert_int_equal(gba_gpu_member_create(one->me.team, &one->attr, &one->gpu), GBA_OK);
    gba_gpu_arrive(&one->gpu, GBA_GPU_THREAD, GBA_GPU_RELEASE);
    gba_gpu_pause();
    fake_kernel_die();
    gba_gpu_resume();
    assert_int_equal(gba_gpu_wait(&one->gpu, GBA_GPU_THREAD, GBA_GPU_ACQUIRE, 0), GBA_ERR_DEAD);
    assert_int_equal(gba_gpu_member_status(&one->gpu), GBA_ERR_DEAD);
    assert_int_equal(gba_gpu_barrier_on_stream(&one->gpu, NULL), GBA_ERR_DEAD);
    assert_int_equal(gba_gpu_member_destroy(&one->gpu), GBA_OK);
    alone_end(one);
}

TEST_WITH(pages_that_cuda_refuses_give_the_proxy, direct_begin, direct_stop, NULL)
{
    static const struct {
        unsigned flag;
        const char *why;
    } refused[] = {
        {GBA_CU_REGISTER_IOMEMORY,
         "proxy: CUDA does not map the doorbell page of the device: CUDA_ERROR_FAKE"},
        {GBA_CU_REGISTER_READ_ONLY,
         "proxy: CUDA does not map the page of the flag of the device: CUDA_ERROR_FAKE"},
    };
    struct alone *one = alone(FAKE_KERNEL_PATH);

    for (size_t i = 0; i < 2; i++) {
        fake->refused_flags = refused[i].flag;
        assert_int_equal(gba_gpu_member_create(one->me.team, &one->attr, &one->gpu), GBA_OK);
        assert_string_equal(gba_gpu_member_why(&one->gpu), refused[i].why);
        gba_gpu_arrive(&one->gpu, GBA_GPU_THREAD, GBA_GPU_RELEASE);
        while (GBA_OK != gba_gpu_wait(&one->gpu, GBA_GPU_THREAD, GBA_GPU_ACQUIRE, 1))
            device_run();
        assert_int_equal(gba_gpu_member_destroy(&one->gpu), GBA_OK);
    }
    alone_end(one);
}

/* ------------------------------------------------------------------- killed and stopped ranks ---
 */

/* Rank 0 waits on its GPU; rank 1 arrives by the CPU once, and then not again. */
static int abandoned(struct member *me, void *arg)
{
    gba_gpu_attr_t attr = {.oob = &me->oob, .team_attr = &me->attr};
    gba_gpu_member_t gpu;
    bool stopped = arg != NULL, good;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (GBA_OK != member_team(me, "none", true))
        return 1;
    if (0 == me->rank || stopped) {
        good = GBA_OK == gba_gpu_member_create(me->team, &attr, &gpu) &&
               GBA_OK == gba_gpu_barrier(&gpu, GBA_GPU_THREAD, GBA_GPU_ACQ_REL, 0);
        __atomic_store_n(&me->all->user[me->rank], 1, __ATOMIC_RELEASE);
        while (1 == me->rank && 2 != __atomic_load_n(&me->all->user[1], __ATOMIC_ACQUIRE))
            usleep(1000);
        good &= (stopped ? GBA_OK : GBA_ERR_TIMEOUT) ==
                gba_gpu_barrier(&gpu, GBA_GPU_THREAD, GBA_GPU_ACQ_REL, stopped ? 0 : 300000000);
        good &= GBA_OK == gba_gpu_member_destroy(&gpu);
        return good ? 0 : 1;
    }
    (void)member_barrier(me);
    __atomic_store_n(&me->all->user[1], 1, __ATOMIC_RELEASE);
    for (;;)
        pause();
}

static void kill_rank_1(struct members *all, const pid_t *pids, void *arg)
{
    while (1 != __atomic_load_n(&all->user[1], __ATOMIC_ACQUIRE))
        usleep(1000);
    kill(pids[1], arg == NULL ? SIGKILL : SIGSTOP);
    if (arg == NULL)
        return;
    usleep(300000);
    __atomic_store_n(&all->user[1], 2, __ATOMIC_RELEASE);
    kill(pids[1], SIGCONT);
}

TEST(a_killed_rank_ends_the_wait_by_its_limit)
{
    assert_int_equal(members_run(2, abandoned, NULL, kill_rank_1), 1); /* the killed one */
}

TEST(a_stopped_rank_goes_on)
{
    assert_int_equal(members_run(2, abandoned, (void *)1, kill_rank_1), 0);
}

/* The watchdog of a rank that waits by the CPU names the rank whose GPU is late. */
static int late_gpu(struct member *me, void *unused)
{
    gba_gpu_attr_t attr = {.oob = &me->oob, .team_attr = &me->attr};
    gba_gpu_member_t gpu;

    (void)unused;
    gba_log_set(log_late, me->all->user, GBA_LOG_ERROR);
    if (GBA_OK != member_team(me, "sim", 1 == me->rank))
        return 1;
    if (0 == me->rank)
        return GBA_OK == member_barrier(me) && 0 != gba_word_load_acquire(&lines) &&
                       strstr(line_late, "missing: rank 1 (gpu)") != NULL
                   ? 0
                   : fprintf(stderr, "%s\n", line_late) > 0;
    if (GBA_OK != gba_gpu_member_create(me->team, &attr, &gpu))
        return 1;
    while (0 == __atomic_load_n(me->all->user, __ATOMIC_ACQUIRE))
        usleep(1000);
    return GBA_OK == gba_gpu_barrier(&gpu, GBA_GPU_THREAD, GBA_GPU_ACQ_REL, 0) &&
                   GBA_OK == gba_gpu_member_destroy(&gpu)
               ? 0
               : 1;
}

TEST(the_watchdog_names_the_rank_and_gpu)
{
    setenv("GBA_STUCK_AFTER", "1", 1);
    assert_int_equal(members_run(2, late_gpu, NULL, NULL), 0);
    unsetenv("GBA_STUCK_AFTER");
}

/* ----------------------------------------------------------------------------------- main --- */

/* Without a driver. Before main has opened the fake one. */
static int no_driver(struct member *me, void *unused)
{
    gba_gpu_attr_t attr = {.oob = &me->oob, .team_attr = &me->attr};
    gba_gpu_member_t gpu;
    char text[256];

    (void)unused;
    if (dlopen("libcuda.so.1", RTLD_NOW) != NULL)
        return 0; /* this machine has one */
    gba_log_set(log_catch, NULL, GBA_LOG_ERROR);
    return GBA_ERR_UNSUPPORTED == gba_gpu_member_create(NULL, &attr, &gpu) && 1 == log_lines &&
                   strstr(log_last, "no GPU member: no CUDA driver: libcuda.so.1") != NULL &&
                   GBA_ERR_UNSUPPORTED == gba_gpu_describe(GBA_PATH_DEVICE, text, sizeof text) &&
                   0 == strncmp(text, "no: no CUDA driver", 18)
               ? 0
               : 1;
}

TEST(no_gpu_and_what_each_way_is)
{
    char text[256];

    assert_int_equal(gba_gpu_describe(GBA_PATH_DEVICE, text, sizeof text), GBA_OK);
    assert_int_equal(strncmp(text, "direct", 6), 0);
    assert_int_equal(gba_gpu_describe(GBA_PATH_SIM, text, sizeof text), GBA_OK);
    assert_int_equal(strncmp(text, "proxy", 5), 0);
}

int main(void)
{
    void *driver;

    alarm(test_limit(240));
    if (0 != members_run(1, no_driver, NULL, NULL))
        return puts("FAIL: without a driver") < 0 ? 2 : 1;
    driver = dlopen(FAKE, RTLD_NOW);
    if (driver == NULL)
        return puts("FAIL: no " FAKE) < 0 ? 2 : 1;
    fake = dlsym(driver, "fake_cuda");
    return SUITE_RUN(NULL, NULL);
}

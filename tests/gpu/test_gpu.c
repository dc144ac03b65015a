/* SPDX-License-Identifier: BSD-3-Clause */
/* GPU members without a GPU: the driver is fake_cuda.c. One process: refusals and failures, streams
 * and graphs, a direct member on the fake kernel. test_gpu_ranks.c has teams of several. */
#define _GNU_SOURCE /* CPU_SET, gettid */
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include "gba/gpu/cuda.h"
#include "gba/gpu/group.h"
#include "tests/gpu/alone.h"
#include "tests/unit/dev/fake_kernel.h"

TEST_WITH(refusals_say_why_and_leave_nothing, quiet, loud, NULL)
{
    struct alone *one = alone("none", 0);
    uint64_t first;

    caught(create(one, 1), GBA_ERR_PARAM, "not below");
    fake->context = false;
    caught(create(one, 0), GBA_ERR_PARAM, "no CUDA context is current");
    fake->context = true;
    fake->no_memory = true;
    caught(create(one, 0), GBA_ERR_IO, "cuMemAlloc failed: CUDA_ERROR_FAKE");
    fake->no_memory = false;
    fake->refused_flags = GBA_CU_REGISTER_MAPPED;
    caught(create(one, 0), GBA_ERR_IO, "cuMemHostRegister failed");
    fake->refused_flags = 0;
    assert_int_equal(create(one, 0), GBA_OK);
    first = one->gpu[0].id;
    caught(create(one, 0), GBA_ERR_BUSY, "in use");
    assert_int_equal(one->gpu[0].id, first);
    assert_string_equal(gba_gpu_member_why(&one->gpu[0]),
                        "proxy: the path of the team is software");
    alone_end(one);
}

/* Beside a team that is busy in each turn of the thread, as with a fast GPU. */
TEST_WITH(a_late_member_is_named_and_a_waiting_one_is_not_destroyed, quiet, loud, NULL)
{
    struct alone *busy = alone_with("GBA_TRIAL_AFTER", "0", "none", 1);
    struct alone *one = alone_with("GBA_STUCK_AFTER", "1", "none", 2);
    uint64_t reported = 0;

    gba_log_set(log_stalled, &reported, GBA_LOG_ERROR);
    gba_gpu_store(busy->gpu[0].doorbell, (busy->gpu[0].count[0] + 0x7ffffff0u) << 32,
                  GBA_GPU_RELEASE, 0);
    gba_gpu_arrive(&one->gpu[0], ONE, GBA_GPU_RELEASE);
    assert_int_equal(destroy(one, 0), GBA_ERR_BUSY);
    word_await(&reported, 1);
    assert_true(log_has(log_last, "(gpu): barrier 1 (GPU) stalled for 1 s: 1 of 2 GPU members have "
                                  "arrived; missing: gpu member 1"));
    assert_int_equal(gba_gpu_wait(&one->gpu[0], ONE, GBA_GPU_ACQUIRE, 1), GBA_ERR_TIMEOUT);
    /* The wait may be resumed. */
    gba_gpu_arrive(&one->gpu[1], ONE, GBA_GPU_RELEASE);
    assert_int_equal(gba_gpu_wait(&one->gpu[0], ONE, GBA_GPU_ACQUIRE, 0), GBA_OK);
    assert_int_equal(gba_gpu_barrier(&one->gpu[0], ONE, GBA_GPU_ACQ_REL, 1), GBA_ERR_TIMEOUT);
    assert_int_equal(gba_gpu_member_abort(&busy->gpu[0]), GBA_OK);
    alone_end(busy);
    alone_end(one); /* nobody waits any more */
}

static uint64_t falls_back, may_end;
static gba_status_t fails_with;

/* The barrier of a runtime that takes some time, and may fail. */
static gba_status_t fallback_slowly(void *unused)
{
    (void)unused;
    word_set(&falls_back, 1);
    word_await(&may_end, 1);
    return fails_with;
}

/* aborts: the program does not wait for the runtime. expected: by a kernel, if it waits. */
static void runtime_fails(bool aborts, gba_status_t status, gba_status_t expected)
{
    struct alone *one = alone_with("GBA_SW_ENABLE", "0", "none", 1), *other;

    fails_with = status;
    falls_back = may_end = 0;
    one->me.team->runtime.fallback = fallback_slowly;
    gba_gpu_arrive(&one->gpu[0], ONE, GBA_GPU_RELEASE);
    word_await(&falls_back, 1);
    /* Meanwhile other teams are served. */
    other = alone("none", 1);
    assert_int_equal(gba_gpu_barrier(&other->gpu[0], ONE, GBA_GPU_ACQ_REL, 0), GBA_OK);
    alone_end(other);
    /* It uses the member, also when the kernel has given up. */
    assert_int_equal(gba_gpu_wait(&one->gpu[0], ONE, GBA_GPU_ACQUIRE, 1), GBA_ERR_TIMEOUT);
    assert_int_equal(destroy(one, 0), GBA_ERR_BUSY);
    if (aborts) {
        assert_int_equal(gba_gpu_member_abort(&one->gpu[0]), GBA_OK);
        assert_int_equal(gba_gpu_wait(&one->gpu[0], ONE, GBA_GPU_ACQUIRE, 0), expected);
        assert_int_equal(destroy(one, 0), GBA_ERR_BUSY);
    }
    word_set(&may_end, 1);
    assert_int_equal(gba_gpu_wait(&one->gpu[0], ONE, GBA_GPU_ACQUIRE, 0), expected);
    while (aborts && !gba_team_has_left(one->me.team)) /* the call of the runtime has ended */
        usleep(1000);
    assert_int_equal(gba_gpu_member_status(&one->gpu[0]), expected);
    assert_int_equal(gba_gpu_barrier_on_stream(&one->gpu[0], NULL), expected);
    while (GBA_ERR_BUSY == destroy(one, 0))
        usleep(1000);
    assert_true(gba_team_has_left(one->me.team));
    alone_end(one);
}

TEST_WITH(an_error_of_the_runtime_ends_the_wait, quiet, loud, NULL)
{
    runtime_fails(false, GBA_ERR_OOB, GBA_ERR_OOB);
    runtime_fails(false, GBA_INPROGRESS, GBA_ERR_IO); /* no status of libgba */
    runtime_fails(true, GBA_OK, GBA_ERR_STALE);
    runtime_fails(true, GBA_ERR_OOB, GBA_ERR_STALE);
}

TEST_WITH(streams_and_graphs, quiet, loud, NULL)
{
    struct alone *one = alone("sim", 0);
    uint64_t first;

    one->me.attr.stream_only = true;
    assert_int_equal(create(one, 0), GBA_OK);
    first = one->gpu[0].count[0];
    for (int i = 0; i < 3; i++)
        assert_int_equal(gba_gpu_barrier_on_stream(&one->gpu[0], NULL), GBA_OK);
    assert_int_equal(fake->batches, 3);
    assert_int_equal(fake->launches, 0);
    /* A captured barrier goes on where the operations were, at each replay. */
    fake->capturing = true;
    assert_int_equal(gba_gpu_barrier_on_stream(&one->gpu[0], NULL), GBA_OK);
    fake->capturing = false;
    assert_int_equal(fake->launches, 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(gba_gpu_barrier(&fake->captured, ONE, GBA_GPU_ACQ_REL, 0), GBA_OK);
    assert_int_equal(gba_gpu_barrier_on_stream(&one->gpu[0], NULL), GBA_OK);
    assert_int_equal(fake->launches, 2);
    assert_int_equal((uint32_t)(one->gpu[0].count[0] - first), 7);
    assert_int_equal(destroy(one, 0), GBA_OK);
    /* Without the operations. */
    fake->no_operations = true;
    assert_int_equal(create(one, 0), GBA_OK);
    assert_int_equal(gba_gpu_barrier_on_stream(&one->gpu[0], NULL), GBA_OK);
    assert_int_equal(fake->launches, 3);
    assert_int_equal(destroy(one, 0), GBA_OK);
    fake->no_module = true;
    assert_int_equal(create(one, 0), GBA_OK);
    log_forget();
    caught(gba_gpu_barrier_on_stream(&one->gpu[0], NULL), GBA_ERR_UNSUPPORTED,
           "kernel for streams");
    fake->no_operations = fake->no_module = false;
    alone_end(one);
}

/* --------------------------------------------------------------------------------- direct --- */

static int direct_begin(void **state)
{
    fake_kernel_start(GBA_GROUPS);
    return quiet(state);
}

static int direct_stop(void **state)
{
    fake_kernel_stop();
    return loud(state) + (int)fake_kernel.seen.violations;
}

/* Wait, while the device works between the calls of the serving thread. */
static void wait_for_device(const gba_gpu_member_t *gpu)
{
    gba_status_t status = GBA_ERR_TIMEOUT;

    while (GBA_ERR_TIMEOUT == status) {
        gba_gpu_pause();
        fake_kernel_run();
        gba_gpu_resume();
        usleep(1000);
        status = gba_gpu_wait(gpu, ONE, GBA_GPU_ACQUIRE, 1);
    }
    assert_int_equal(status, GBA_OK);
}

static void device_dies(void)
{
    gba_gpu_pause();
    fake_kernel_die();
    gba_gpu_resume();
}

/* The team has counted the rounds of the GPU, so the CPU goes on from there. */
static void cpu_goes_on(struct alone *one, uint64_t rounds)
{
    gba_team_stats_t stats;

    assert_int_equal(destroy(one, 0), GBA_OK);
    gba_team_stats(one->me.team, &stats);
    assert_int_equal(stats.rounds, rounds);
    assert_int_equal(gba_barrier_start(one->me.team), GBA_OK);
    assert_int_equal(gba_barrier_test(one->me.team), GBA_INPROGRESS);
    fake_kernel_run();
    assert_int_equal(gba_barrier_test(one->me.team), GBA_OK);
}

TEST_WITH(a_direct_member_stores_to_the_device, direct_begin, direct_stop, NULL)
{
    struct alone *one;

    fake_kernel.features = 0; /* or a watchdog's WAIT could run the device */
    one = alone(FAKE_KERNEL_PATH, 1);
    assert_string_equal(gba_gpu_member_why(&one->gpu[0]), "direct: the doorbell of the device");
    for (int i = 0; i < 20; i++) {
        gba_gpu_arrive(&one->gpu[0], ONE, GBA_GPU_RELEASE);
        assert_int_equal(gba_gpu_wait(&one->gpu[0], ONE, GBA_GPU_ACQUIRE, 1), GBA_ERR_TIMEOUT);
        wait_for_device(&one->gpu[0]);
    }
    cpu_goes_on(one, 20);
    alone_end(one);
}

TEST_WITH(the_death_of_the_device_ends_a_direct_wait, direct_begin, direct_stop, NULL)
{
    struct alone *one = alone(FAKE_KERNEL_PATH, 1);

    gba_gpu_arrive(&one->gpu[0], ONE, GBA_GPU_RELEASE);
    device_dies();
    assert_int_equal(gba_gpu_wait(&one->gpu[0], ONE, GBA_GPU_ACQUIRE, 0), GBA_ERR_DEAD);
    assert_int_equal(gba_gpu_member_status(&one->gpu[0]), GBA_ERR_DEAD);
    assert_int_equal(gba_gpu_barrier_on_stream(&one->gpu[0], NULL), GBA_ERR_DEAD);
    /* The team meets the others no more when it is destroyed. */
    assert_true(gba_team_has_left(one->me.team));
    alone_end(one);
}

static const gba_team_t *leaving;

/* CUDA waits for a kernel, and meanwhile the device dies. */
static void die_meanwhile(void)
{
    device_dies();
    while (!gba_team_has_left(leaving))
        usleep(1000);
}

/* Its rank is in a barrier that goes on without it. */
TEST_WITH(a_member_that_gave_up_is_served_no_more, direct_begin, direct_stop, NULL)
{
    struct alone *one;

    fake_kernel.features = 0; /* or a watchdog's WAIT could run the device, which ends the round */
    fake->refused_flags = GBA_CU_REGISTER_IOMEMORY;
    one = alone(FAKE_KERNEL_PATH, 1);
    leaving = one->me.team;
    assert_int_equal(gba_gpu_barrier(&one->gpu[0], ONE, GBA_GPU_ACQ_REL, 1000000), GBA_ERR_TIMEOUT);
    fake->on_free = die_meanwhile;
    assert_int_equal(destroy(one, 0), GBA_OK);
    assert_int_equal(create(one, 0), GBA_ERR_STALE);
    alone_end(one);
}

/* The rounds of the GPU are in the registers alone: the CPU does not go on without them. */
TEST_WITH(a_rank_that_does_not_know_the_rounds_of_its_gpu_does_not_go_on, direct_begin, direct_stop,
          NULL)
{
    for (int dies = 0; dies < 2; dies++) {
        struct alone *one = alone(FAKE_KERNEL_PATH, 1);

        gba_gpu_arrive(&one->gpu[0], ONE, GBA_GPU_RELEASE);
        gba_gpu_pause();
        fake_kernel_run();
        if (0 != dies)
            fake_kernel_die();
        else
            fake_kernel_fail(GBA_IOC_INSPECT, EIO, 1000000);
        gba_gpu_resume();
        assert_int_equal(gba_gpu_wait(&one->gpu[0], ONE, GBA_GPU_ACQUIRE, 0), GBA_OK);
        if (0 != dies) {
            assert_int_equal(destroy(one, 0), GBA_OK);
            assert_int_equal(gba_barrier_start(one->me.team), GBA_ERR_STALE);
        } else {
            assert_int_equal(destroy(one, 0), GBA_ERR_BUSY);
            gba_gpu_pause();
            fake_kernel_fail(GBA_IOC_INSPECT, 0, 0);
            gba_gpu_resume();
            cpu_goes_on(one, 1);
        }
        alone_end(one);
    }
}

static gba_gpu_member_t going;
static bool blind;

/* CUDA waits for a kernel, which makes one barrier more. blind: nobody can know it. */
static void goes_on(void)
{
    fake->on_free = NULL;
    gba_gpu_arrive(&going, ONE, GBA_GPU_RELEASE);
    wait_for_device(&going);
    gba_gpu_pause();
    fake_kernel_fail(GBA_IOC_INSPECT, EIO, blind ? 1000000 : 0);
    gba_gpu_resume();
}

TEST_WITH(rounds_of_a_direct_member_that_is_destroyed_count, direct_begin, direct_stop, NULL)
{
    for (int i = 0; i < 2; i++) {
        struct alone *one = alone(FAKE_KERNEL_PATH, 1);

        blind = 0 != i;
        going = one->gpu[0];
        fake->on_free = goes_on;
        if (!blind) {
            cpu_goes_on(one, 1);
        } else {
            assert_int_equal(destroy(one, 0), GBA_OK);
            assert_int_equal(gba_barrier_start(one->me.team), GBA_ERR_STALE);
        }
        fake_kernel_fail(GBA_IOC_INSPECT, 0, 0);
        alone_end(one);
    }
}

static void *makes_barrier(void *gpu)
{
    return GBA_OK == gba_gpu_barrier(gpu, ONE, GBA_GPU_ACQ_REL, 0) ? NULL : gpu;
}

TEST_WITH(a_direct_member_repeats_its_arrival, direct_begin, direct_stop, NULL)
{
    struct alone *one = alone(FAKE_KERNEL_PATH, 1);
    pthread_t thread;
    void *failed;

    pthread_create(&thread, NULL, makes_barrier, &one->gpu[0]);
    word_await(one->gpu[0].doorbell, 1);
    word_set(one->gpu[0].doorbell, 0); /* before the device has seen it */
    word_await(one->gpu[0].doorbell, 1);
    wait_for_device(&one->gpu[0]);
    pthread_join(thread, &failed);
    assert_null(failed);
    gba_gpu_arrive(&one->gpu[0], ONE, GBA_GPU_RELEASE);
    word_set(one->gpu[0].doorbell, 0);
    wait_for_device(&one->gpu[0]); /* by waits that end by their limit */
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
    struct alone *one = alone(FAKE_KERNEL_PATH, 0);
    int registered[2];

    for (size_t i = 0; i < 2; i++) {
        fake->refused_flags = refused[i].flag;
        assert_int_equal(create(one, 0), GBA_OK);
        assert_string_equal(gba_gpu_member_why(&one->gpu[0]), refused[i].why);
        registered[i] = fake->registered;
        gba_gpu_arrive(&one->gpu[0], ONE, GBA_GPU_RELEASE);
        wait_for_device(&one->gpu[0]);
        assert_int_equal(destroy(one, 0), GBA_OK);
    }
    assert_int_equal(registered[1], registered[0]); /* no page of a device that may end first */
    alone_end(one);
}

/* ---------------------------------------------------------------------------- the threads --- */

static struct noted { /* a thread */
    pid_t thread;
    char name[16];
} server, helper;

static void note(struct noted *noted)
{
    noted->thread = gettid();
    prctl(PR_GET_NAME, noted->name);
}

static uint64_t naps, looks;

/* In the place of that of the C library: the serving thread sleeps by it. */
/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int nanosleep(const struct timespec *request, struct timespec *left)
{
    note(&server);
    __atomic_fetch_add(&naps, 1, __ATOMIC_ACQ_REL);
    return clock_nanosleep(CLOCK_MONOTONIC, 0, request, left);
}

static int progress_counted(void *unused)
{
    (void)unused;
    __atomic_fetch_add(&looks, 1, __ATOMIC_ACQ_REL);
    return 0;
}

TEST_WITH(a_member_that_waits_asleep_looks_for_messages_after_each_sleep, direct_begin, direct_stop,
          NULL)
{
    struct alone *one;

    fake_kernel.features = 0; /* as above */
    fake->refused_flags = GBA_CU_REGISTER_IOMEMORY;
    one = alone_with("GBA_WAIT", "sleep", FAKE_KERNEL_PATH, 1);
    one->me.team->runtime.progress = progress_counted;
    gba_gpu_arrive(&one->gpu[0], ONE, GBA_GPU_RELEASE);
    word_await(&looks, 1);
    word_set(&naps, 0);
    word_await(&naps, 8); /* it is asleep */
    word_set(&looks, 0);
    word_set(&naps, 0);
    word_await(&naps, 100);
    assert_true(word_get(&looks) >= 90);
    wait_for_device(&one->gpu[0]);
    alone_end(one);
}

static gba_status_t fallback_noted(void *unused)
{
    (void)unused;
    note(&helper);
    return GBA_OK;
}

/* Make a member in a thread that is bound to one CPU, on which it may poll. */
static void *create_bound(void *one)
{
    cpu_set_t process, bound;
    int cpu = 0;

    assert_int_equal(sched_getaffinity(0, sizeof process, &process), 0);
    while (!CPU_ISSET(cpu, &process))
        cpu++;
    CPU_ZERO(&bound);
    CPU_SET(cpu, &bound);
    assert_int_equal(sched_setaffinity(0, sizeof bound, &bound), 0);
    word_set(&naps, 0);
    assert_int_equal(create(one, 0), GBA_OK);
    word_await(&naps, 1);
    assert_int_equal(sched_getaffinity(server.thread, sizeof bound, &bound), 0);
    assert_int_equal(CPU_ISSET(cpu, &bound), 1 == CPU_COUNT(&process));
    return NULL;
}

TEST_WITH(the_threads_have_names_and_cpus_of_their_own, quiet, loud, NULL)
{
    struct alone *one = alone_with("GBA_SW_ENABLE", "0", "none", 0);
    pthread_t creator;
    pid_t first;

    one->me.team->runtime.fallback = fallback_noted;
    assert_int_equal(pthread_create(&creator, NULL, create_bound, one), 0);
    assert_int_equal(pthread_join(creator, NULL), 0);
    assert_string_equal(server.name, "gba-gpu");
    assert_int_equal(gba_gpu_barrier(&one->gpu[0], ONE, GBA_GPU_ACQ_REL, 0), GBA_OK);
    first = helper.thread;
    assert_int_equal(gba_gpu_barrier(&one->gpu[0], ONE, GBA_GPU_ACQ_REL, 0), GBA_OK);
    assert_int_equal(helper.thread, first);
    assert_string_equal(helper.name, "gba-gpu-end");
    alone_end(one);
}

/* ----------------------------------------------------------------------------------- main --- */

/* Without a driver. Before main has opened the fake one. */
static int no_driver(struct member *me, void *unused)
{
    const gba_gpu_attr_t attr = {0};
    gba_gpu_member_t gpu;
    char text[256];

    (void)me;
    (void)unused;
    if (dlopen("libcuda.so.1", RTLD_NOW) != NULL)
        return 0; /* this machine has one */
    gba_log_set(log_catch, NULL, GBA_LOG_ERROR);
    return GBA_ERR_UNSUPPORTED == gba_gpu_member_create(NULL, &attr, &gpu) && 1 == log_lines &&
                   strstr(log_last, "GPU member: no CUDA driver: libcuda.so.1") != NULL &&
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
    if (0 != members_run(1, no_driver, NULL))
        return puts("FAIL: without a driver") < 0 ? 2 : 1;
    return fake_cuda_run();
}

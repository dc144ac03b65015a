/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of GPU members without a GPU: kernels that come late, members that are aborted,
 * destroyed twice or made again, wrong orders, and forks. */
#include <pthread.h>
#include <sys/wait.h>

#include "tests/gpu/alone.h"

/* --------------------------------------------------------------------------- late kernels --- */

static gba_gpu_member_t late;
static int late_status;

/* CUDA waits for a kernel that is launched and has not arrived yet. */
static void late_kernel(void)
{
    fake->on_free = NULL;
    late_status = gba_gpu_barrier(&late, ONE, GBA_GPU_ACQ_REL, 0);
}

TEST_WITH(a_kernel_that_arrives_while_its_member_is_destroyed_ends, quiet, loud, NULL)
{
    struct alone *one = alone("none", 2);

    for (uint32_t i = 0; i < 2; i++) {
        late = one->gpu[i];
        late_status = GBA_OK;
        fake->on_free = late_kernel;
        assert_int_equal(destroy(one, i), GBA_OK);
        assert_int_equal(late_status, GBA_ERR_STALE);
        if (0 == i) /* the other member remains: its barrier ends without the late kernel */
            assert_int_equal(gba_gpu_barrier(&one->gpu[1], ONE, GBA_GPU_ACQ_REL, 0), GBA_OK);
    }
    assert_silent();
    alone_end(one);
}

/* -------------------------------------------------------------------------------- aborted --- */

static void *stream(void *gpu)
{
    (void)gba_gpu_barrier_on_stream(gpu, NULL);
    return NULL;
}

TEST_WITH(an_abort_ends_barriers_in_streams_and_kernels, quiet, loud, NULL)
{
    for (int words = 0; words < 2; words++) {
        struct alone *one = alone_with("GBA_SW_ENABLE", 0 != words ? "0" : "1", "none", 0);
        pthread_t thread;

        one->me.attr.stream_only = 0 != words;
        one->me.attr.members = 2;
        assert_int_equal(create(one, 0), GBA_OK);
        assert_int_equal(create(one, 1), GBA_OK);
        pthread_create(&thread, NULL, stream, &one->gpu[0]);
        while (GBA_OK == gba_gpu_wait(&one->gpu[0], ONE, GBA_GPU_ACQUIRE, 1))
            usleep(100); /* it has not arrived */
        assert_int_equal(gba_gpu_member_abort(&one->gpu[1]), GBA_OK);
        pthread_join(thread, NULL);
        assert_logged("barrier 1 of its GPU members failed: gba_gpu_member_abort");
        assert_int_equal(gba_gpu_member_abort(&one->gpu[1]), GBA_OK);
        assert_int_equal(gba_gpu_member_status(&one->gpu[0]), GBA_ERR_STALE);
        assert_int_equal(gba_gpu_barrier(&one->gpu[1], ONE, GBA_GPU_ACQ_REL, 0), GBA_ERR_STALE);
        assert_int_equal(destroy(one, 1), GBA_OK);
        /* No member joins a group that has failed. */
        caught(create(one, 1), GBA_ERR_STALE, "freed");
        assert_int_equal(destroy(one, 0), GBA_OK);
        /* Nor does the rank go on in the team: the others may have counted the barrier. */
        caught(create(one, 1), GBA_ERR_STALE, "the rank has left the team");
        assert_int_equal(gba_barrier(one->me.team), GBA_ERR_STALE);
        assert_int_equal(gba_barrier_start(one->me.team), GBA_ERR_STALE);
        alone_end(one);
    }
}

/* Other ranks may be in the round, and ask after the death of the device. */
TEST_WITH(nobody_answers_for_a_rank_that_has_left, quiet, loud, NULL)
{
    struct alone *one = alone("sim", 1);
    const gba_notification_t question = {.team = one->me.team->failover.id, .round = 1};
    gba_notification_t answer;

    assert_int_not_equal(question.team, 0);
    assert_int_equal(gba_gpu_member_abort(&one->gpu[0]), GBA_OK);
    alone_end(one);
    assert_int_equal(gba_notification_answer(&question, &answer), GBA_INPROGRESS);
}

static struct alone *stalled;
static uint64_t logged, aborted;

/* A function of the program that the library calls. when: a text of the line at which it aborts. */
static void log_aborts(void *when, gba_log_level_t level, const char *line)
{
    (void)level;
    word_set(&logged, 1);
    if (strstr(line, when) == NULL)
        return;
    log_last[0] = '\0';
    if (GBA_ERR_BUSY != destroy(stalled, 0) || GBA_ERR_BUSY != create(stalled, 0) ||
        GBA_OK != gba_gpu_member_abort(&stalled->gpu[0]))
        snprintf(log_last, sizeof log_last, "%s", "destroyed, created, or not aborted");
    word_set(&aborted, 1);
}

/* In the serving thread, and where it is called in a call of the program: in that of create, and in
 * that of abort. */
TEST_WITH(a_function_for_log_lines_may_abort, quiet, loud, NULL)
{
    enum { STALLED, ENDED, CREATES, ABORTS };
    static char when[][12] = {"stalled", "has ended", "cuMemAlloc", "failed: gba"};

    for (int where = STALLED; where <= ABORTS; where++) {
        struct alone *one = alone_with("GBA_STUCK_AFTER", "1", "none", 2);

        logged = aborted = 0;
        stalled = one;
        gba_log_set(log_aborts, when[where], GBA_LOG_INFO);
        if (CREATES == where) {
            assert_int_equal(destroy(one, 1), GBA_OK);
            fake->no_memory = true;
            assert_int_equal(create(one, 1), GBA_ERR_IO);
            fake->no_memory = false;
        } else if (ABORTS == where) {
            assert_int_equal(gba_gpu_member_abort(&one->gpu[0]), GBA_OK);
        } else {
            gba_gpu_arrive(&one->gpu[0], ONE, GBA_GPU_RELEASE);
            word_await(&logged, 1);
            if (ENDED == where) {
                gba_gpu_arrive(&one->gpu[1], ONE, GBA_GPU_RELEASE);
                word_await(&aborted, 1);
                /* The round has ended before. */
                assert_int_equal(gba_gpu_wait(&one->gpu[0], ONE, GBA_GPU_ACQUIRE, 0), GBA_OK);
                gba_gpu_arrive(&one->gpu[0], ONE, GBA_GPU_RELEASE);
                gba_gpu_arrive(&one->gpu[1], ONE, GBA_GPU_RELEASE);
            }
            assert_int_equal(gba_gpu_wait(&one->gpu[0], ONE, GBA_GPU_ACQUIRE, 0), GBA_ERR_STALE);
            word_await(&aborted, 1);
        }
        assert_int_equal(aborted, 1);
        assert_string_equal(log_last, "");
        assert_int_equal(gba_gpu_member_status(&one->gpu[0]), GBA_ERR_STALE);
        gba_log_set(log_catch, NULL, GBA_LOG_ERROR);
        alone_end(one);
    }
}

/* --------------------------------------------------------------------------- wrong orders --- */

TEST_WITH(wrong_orders_are_refused, quiet, loud, NULL)
{
    struct alone *one = alone("none", 1);
    struct member second = one->me;
    gba_gpu_member_t copy = one->gpu[0], other;

    /* A second team of the bootstrap: the barriers of both would share its exchange. */
    assert_true(member_team(&second, "none", true));
    caught(gba_gpu_member_create(second.team, &second.attr, &other), GBA_ERR_BUSY,
           "another team of the same bootstrap");
    gba_team_destroy(second.team);
    /* The team before its member. */
    gba_team_destroy(one->me.team);
    assert_logged("the team is not destroyed: GPU members use it");
    assert_int_equal(gba_gpu_barrier(&one->gpu[0], ONE, GBA_GPU_ACQ_REL, 0), GBA_OK);
    /* Twice, also by a copy. */
    assert_int_equal(destroy(one, 0), GBA_OK);
    caught(destroy(one, 0), GBA_ERR_PARAM, "destroyed already");
    caught(gba_gpu_member_destroy(&copy), GBA_ERR_PARAM, "destroyed already");
    /* Not logged: a function for log lines may call it. */
    assert_int_equal(gba_gpu_member_abort(&copy), GBA_ERR_PARAM);
    assert_silent();
    assert_int_equal(gba_gpu_member_status(&copy), GBA_ERR_PARAM);
    assert_int_equal(gba_gpu_barrier_on_stream(&one->gpu[0], NULL), GBA_ERR_PARAM);
    assert_string_equal(gba_gpu_member_why(&copy), "the member is destroyed");
    /* The copy is not the next member, whose memory may be the same. */
    assert_int_equal(create(one, 0), GBA_OK);
    caught(gba_gpu_member_destroy(&copy), GBA_ERR_PARAM, "destroyed already");
    assert_int_not_equal(one->gpu[0].id, copy.id);
    alone_end(one);
}

static void log_aborts_always(void *unused, gba_log_level_t level, const char *line)
{
    (void)unused, (void)level, (void)line;
    (void)gba_gpu_member_abort(&stalled->gpu[0]);
}

/* A child may call what its parent has made. Its memory is no copy, because the GPU has the
 * addresses of the first one. */
TEST_WITH(a_forked_child_is_refused, quiet, loud, NULL)
{
    struct alone *one = alone("none", 1);
    const uint64_t flag = word_get(one->gpu[0].flag);
    pid_t child = fork();
    int status;

    if (0 == child) {
        alarm(test_limit(10));
        status = GBA_ERR_UNSUPPORTED == destroy(one, 0) &&
                 GBA_ERR_UNSUPPORTED == gba_gpu_member_abort(&one->gpu[0]) &&
                 GBA_ERR_UNSUPPORTED == create(one, 0) && 3 == log_lines;
        stalled = one;
        gba_log_set(log_aborts_always, NULL, GBA_LOG_ERROR);
        status = status && GBA_ERR_UNSUPPORTED == destroy(one, 0);
        while (flag == word_get(one->gpu[0].flag))
            usleep(100);
        _exit(0 != status ? 0 : 1);
    }
    assert_int_equal(gba_gpu_barrier(&one->gpu[0], ONE, GBA_GPU_ACQ_REL, 0), GBA_OK);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    alone_end(one);
}

/* A member that has given up in barrier 1 is made again, before or after its end. */
TEST_WITH(a_member_that_is_made_again_goes_on_after_its_last_arrival, quiet, loud, NULL)
{
    for (int before = 0; before < 2; before++) {
        struct alone *one = alone("none", 2);
        const uint32_t first = (uint32_t)one->gpu[0].count[0];

        assert_int_equal(gba_gpu_barrier(&one->gpu[0], ONE, GBA_GPU_ACQ_REL, 1), GBA_ERR_TIMEOUT);
        assert_int_equal(destroy(one, 0), GBA_OK);
        if (0 != before)
            assert_int_equal(create(one, 0), GBA_OK);
        assert_int_equal(gba_gpu_barrier(&one->gpu[1], ONE, GBA_GPU_ACQ_REL, 0), GBA_OK);
        if (0 == before)
            assert_int_equal(create(one, 0), GBA_OK);
        assert_int_equal((uint32_t)one->gpu[0].count[0], first + 1);
        assert_int_equal(gba_gpu_barrier(&one->gpu[0], ONE, GBA_GPU_ACQ_REL, 1), GBA_ERR_TIMEOUT);
        assert_int_equal(gba_gpu_barrier(&one->gpu[1], ONE, GBA_GPU_ACQ_REL, 0), GBA_OK);
        assert_int_equal(gba_gpu_wait(&one->gpu[0], ONE, GBA_GPU_ACQUIRE, 0), GBA_OK);
        alone_end(one);
    }
}

int main(void)
{
    return fake_cuda_run();
}

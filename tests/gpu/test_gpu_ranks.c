/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams of several processes on one host, without a GPU: the driver is fake_cuda.c, and threads
 * stand for kernels. Some ranks take part by GPU members and some by the CPU, on every path, with
 * faults; ranks are late, stopped and killed.
 */
#include <signal.h>

#include "tests/gpu/alone.h"

/* ------------------------------------------------------------------------ early exit, paths --- */

struct path {
    const char *device;
    char environment[80];
    const char *why;
};

static int on_path(struct member *me, void *arg)
{
    struct path *path = arg;
    const struct mixed mixed = {path->device, MIXED_ODD, 120};
    char *rest;
    bool good;

    gba_log_set(log_drop, NULL, GBA_LOG_ERROR);
    for (char *set = strtok_r(path->environment, " ", &rest); set != NULL;
         set = strtok_r(NULL, " ", &rest))
        (void)putenv(set);
    good = GBA_OK == mixed_run(me, &mixed);
    if (strstr(gba_team_why(me->team), path->why) == NULL) {
        fprintf(stderr, "rank %u: %s\n", me->rank, gba_team_why(me->team));
        good = false;
    }
    member_end(me);
    return good && 0 == fake->registered + fake->allocated ? 0 : 1;
}

TEST(mixed_teams_on_every_path)
{
    static struct path paths[] = {
        {"sim", "GBA_TRIAL_AFTER=0 GBA_TRIAL_TEST=1", "sim: group"},
        {"none", "GBA_SW_ALGORITHM=v1", "dissemination"},
        {"none", "GBA_SW_ALGORITHM=v2", "radix"},
        {"none", "GBA_SW_ALGORITHM=v3", "central"},
        {"none", "GBA_SW_ALGORITHM=tree", "tree"},
        {"none", "GBA_SW_ENABLE=0", "fallback"},
        {"none", "GBA_TRIAL_AFTER=30 GBA_TRIAL_TEST=1", "software"}, /* agrees in the middle */
        {"sim?lose_arrival=7", "GBA_TRIAL_AFTER=0 GBA_TRIAL_TEST=1", "sim"},
        {"sim?lose_release=9", "GBA_FIRST_SEQUENCE=4294967200", "sim"}, /* wraps */
        {"sim?die_after=40", "GBA_TRIAL_AFTER=0 GBA_TRIAL_TEST=1", "software"},
        {"sim?die_release=50", "GBA_TRIAL_AFTER=0 GBA_TRIAL_TEST=1", "software"},
        /* A rank that the dying device has released comes to the agreement while the others still
         * exchange notifications: they meet first. */
        {"sim?die_after=29&die_release=1",
         "GBA_TRIAL_AFTER=30 GBA_TRIAL_TEST=1 GBA_OFFLOAD=fastest GBA_MIN_HOSTS=1", "software"},
        /* in the last barrier */
        {"sim?die_after=119&die_release=1", "GBA_TRIAL_AFTER=0 GBA_TRIAL_TEST=1", ""},
    };
    static const uint32_t sizes[] = {2, 5, 8};

    setenv("GBA_RETRY_AFTER", "20", 1);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        for (size_t s = 0; s < 3; s++) {
            print_message("%s %s, %u processes\n", paths[i].device, paths[i].environment, sizes[s]);
            assert_int_equal(members_run(sizes[s], on_path, &paths[i]), 0);
        }
    unsetenv("GBA_RETRY_AFTER");
}

/* ----------------------------------------------------------- late, stopped and killed ranks --- */

#define GIVES_UP (-1)

/* What happens to rank 1, which has a GPU member, before barrier 2, in which rank 0 waits. */
struct late {
    const char *device;
    int signal; /* SIGKILL, SIGSTOP or 0, from rank 0; GIVES_UP: rank 0 leaves before it comes */
    bool cpu;   /* rank 0 waits by the CPU, else by a GPU member */
};

/* The second barrier of rank 0. After a report the wait of its GPU ends by its limit. */
static bool second_barrier(struct member *me, const struct late *late, gba_gpu_member_t *gpu)
{
    uint64_t *reported = &me->all->user[0], *rank_1 = &me->all->user[1];
    gba_status_t status = GBA_ERR_TIMEOUT;

    if (late->cpu)
        return GBA_OK == gba_barrier(me->team);
    word_await(rank_1, 1);
    if (late->signal > 0)
        kill((pid_t)word_get(rank_1), late->signal);
    gba_gpu_arrive(gpu, ONE, GBA_GPU_RELEASE);
    while (GBA_ERR_TIMEOUT == status && 0 == word_get(reported))
        status = gba_gpu_wait(gpu, ONE, GBA_GPU_ACQUIRE, 100000000);
    if (SIGKILL == late->signal || GIVES_UP == late->signal)
        return GBA_ERR_TIMEOUT == status;
    kill((pid_t)word_get(rank_1), SIGCONT);
    return GBA_OK == gba_gpu_wait(gpu, ONE, GBA_GPU_ACQUIRE, 0);
}

static int waits(struct member *me, void *arg)
{
    const struct late *late = arg;
    const bool first = 0 == me->rank, cpu = first && late->cpu;
    uint64_t *user = me->all->user, *may_come = &user[GIVES_UP == late->signal ? 2 : 0];
    const char *missing;
    gba_gpu_member_t gpu;
    bool good;

    setenv("GBA_STUCK_AFTER", "1", 1);
    if (first)
        gba_log_set(log_stalled, user, GBA_LOG_ERROR);
    good = member_team(me, late->device, !cpu) &&
           (cpu || GBA_OK == gba_gpu_member_create(me->team, &me->attr, &gpu)) &&
           GBA_OK == (cpu ? gba_barrier(me->team) : gba_gpu_barrier(&gpu, ONE, GBA_GPU_ACQ_REL, 0));
    if (first) {
        good = good && second_barrier(me, late, &gpu);
        missing = strstr(log_last, "missing: rank 1 on ");
        if (missing == NULL || strstr(missing, " (gpu)") == NULL)
            good = fprintf(stderr, "%s\n", log_last) < 0;
    } else {
        word_set(&user[1], (uint64_t)getpid());
        word_await(may_come, 1);
        good = good && 1 == word_get(may_come) &&
               GBA_OK == gba_gpu_barrier(&gpu, ONE, GBA_GPU_ACQ_REL, 0);
    }
    good = good && (cpu || GBA_OK == gba_gpu_member_destroy(&gpu));
    gba_team_destroy(me->team);
    me->team = NULL;
    word_set(&user[2], 1);
    member_end(me);
    return good ? 0 : 1;
}

/* The watchdog names rank 1. A team on one host waits on when a member has been killed. */
TEST(late_stopped_and_killed_ranks_are_named)
{
    static struct late cases[] = {
        {"none", 0, false},      {"none", SIGSTOP, false}, {"none", SIGKILL, false},
        {"sim", SIGKILL, false}, {"sim", 0, true},         {"sim", GIVES_UP, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(members_run(2, waits, &cases[i]),
                         SIGKILL == cases[i].signal); /* the killed one */
}

int main(void)
{
    return fake_cuda_run();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers of the cores of all members: every order of two and three cores; each path, the failure
 * of the device and the change of the path, with members and cores as threads (team_harness.h);
 * errors; the report of a missing core.
 */
#include "gba/transport/node_barrier.h"

/* Faults that the search must find. */
static enum mutant { NONE, CROSSES_EARLY, LEAVES_EARLY, KEEPS } mutant;
#define gba_node_barrier_gathered(node) (CROSSES_EARLY == mutant || gba_node_barrier_gathered(node))
#define gba_node_barrier_test(node)     (LEAVES_EARLY == mutant ? GBA_OK : gba_node_barrier_test(node))
#define gba_node_barrier_release(node)      \
    do {                                    \
        if (KEEPS != mutant)                \
            gba_node_barrier_release(node); \
    } while (0)
#include "gba/team/cores_steps.h"
#undef gba_node_barrier_gathered
#undef gba_node_barrier_test
#undef gba_node_barrier_release

#include "tests/limit.h"
#include "tests/unit/search.h"
#include "tests/unit/stall_log.h"
#include "tests/unit/team/team_harness.h"

/* ------------------------------------------------------------------------------ every order --- */

#define SEARCH_CORES  3u
#define SEARCH_ROUNDS 3u
#define SEARCH_LIMIT  (1u << 16)

/* The states. The cores are always in `live`, because they have pointers to themselves. */
struct order {
    _Alignas(GBA_CORES_LINE) unsigned char cores[sizeof(struct gba_cores) +
                                                 SEARCH_CORES * sizeof(struct core)];
    uint32_t entered[SEARCH_CORES], left[SEARCH_CORES];
};
static struct order live, from;
static struct gba_cores *const searched = (struct gba_cores *)live.cores;
static bool early;

static void all_have_entered(uint32_t round)
{
    for (uint32_t c = 0; c < searched->count; c++)
        early |= live.entered[c] < round;
}

static gba_status_t search_barrier(void *ctx)
{
    (void)ctx;
    all_have_entered(live.entered[0]);
    return GBA_OK;
}

static void order_step(uint32_t core)
{
    if (live.left[core] < live.entered[core]) {
        if (GBA_OK == core_look(searched, &searched->core[core]))
            all_have_entered(++live.left[core]);
    } else if (live.entered[core] < SEARCH_ROUNDS) {
        live.entered[core]++;
        core_arrive(searched, &searched->core[core]);
    }
}

static void search_begin(uint32_t count, bool joined)
{
    const gba_cores_attr_t attr = {.barrier = joined ? search_barrier : NULL};
    struct gba_cores *made = NULL;

    assert_int_equal(gba_cores_create(count, NULL, &attr, &made), GBA_OK);
    if (made == NULL)
        abort();
    memset(&live, 0, sizeof live);
    memcpy(searched, made, sizeof *made + count * sizeof made->core[0]);
    gba_cores_destroy(made);
    for (uint32_t i = 0; i < count; i++) {
        searched->core[i].node.arrived = &searched->arrived;
        searched->core[i].node.release = &searched->release;
        searched->core[i].node.sleepers = &searched->sleepers;
    }
}

/* Returns NULL, or the fault of some order. joined: with a barrier of processes. */
static const char *search_all(uint32_t count, bool joined, enum mutant which)
{
    struct visited v;
    bool stuck = false;

    search_begin(count, joined);
    mutant = which;
    early = false;
    visited_open(&v, sizeof live, SEARCH_LIMIT);
    visit_bytes(&v, &live);
    while (!early && !stuck && visited_next(&v, &from)) {
        bool moved = false, ended = true;

        assert_in_range(v.states, 1, SEARCH_LIMIT - 1);
        for (uint32_t c = 0; c < count; c++) {
            memcpy(&live, &from, sizeof live);
            ended &= SEARCH_ROUNDS == live.left[c];
            order_step(c);
            moved |= 0 != memcmp((const char *)&live, (const char *)&from, sizeof live);
            visit_bytes(&v, &live);
        }
        stuck = !moved && !ended;
    }
    visited_close(&v);
    mutant = NONE;
    return early ? "early" : stuck ? "stuck" : NULL;
}

TEST(test_every_order)
{
    for (uint32_t count = 1; count <= SEARCH_CORES; count++)
        for (int joined = 0; joined < 2; joined++) {
            assert_null(search_all(count, joined, NONE));
            if (1 == count)
                continue;
            if (joined)
                assert_string_equal(search_all(count, joined, CROSSES_EARLY), "early");
            assert_string_equal(search_all(count, joined, LEAVES_EARLY), "early");
            assert_string_equal(search_all(count, joined, KEEPS), "stuck");
        }
}

/* ------------------------------------------------------------------------------ each path --- */

static void run_cores(struct harness *w, gba_path_t path)
{
    static const struct {
        uint32_t members, cores;
    } layouts[] = {{1, 2}, {2, 1}, {2, 2}, {3, 3}, {2, 16}, {5, 4}, {7, 3}};

    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        w->cores = layouts[i].cores;
        harness_run(w, layouts[i].members, path);
    }
    harness_end(w);
}

TEST(test_device)
{
    run_cores(harness_on("sim"), GBA_PATH_SIM);
}

TEST(test_software)
{
    for (int algorithm = GBA_ALGORITHM_AUTO; algorithm <= GBA_ALGORITHM_TREE; algorithm++) {
        struct harness *w = harness_on(NULL);

        w->params.sw_algorithm = algorithm;
        w->params.sw_radix = 3;
        w->oversubscribed = GBA_ALGORITHM_AUTO == algorithm;
        run_cores(w, GBA_PATH_SOFTWARE);
    }
}

/* Messages between hosts, or a group of the leaders of two hosts and the nodes below. */
TEST(test_several_hosts)
{
    for (int device = 0; device < 2; device++) {
        struct harness *w = device ? harness_of_leaders("sim") : harness_on(NULL);

        for (uint32_t members = 2 + (uint32_t)device; members <= 5; members++) {
            harness_hosts(w, members, device ? 2 : members, 1 - device);
            w->cores = 3;
            harness_run(w, members, device ? GBA_PATH_SIM : GBA_PATH_SOFTWARE);
        }
        harness_end(w);
    }
}

TEST(test_fallback)
{
    struct harness *w = harness_on(NULL);

    w->past = true;
    w->no_software = 0;
    run_cores(w, GBA_PATH_FALLBACK);
}

TEST(test_wait)
{
    for (int wait = GBA_WAIT_AUTO; wait <= GBA_WAIT_SLEEP; wait++) {
        struct harness *w = harness_on("sim");

        w->params.wait = wait;
        w->rounds = GBA_WAIT_SPIN == wait ? 5 : 60;
        w->cores = 3;
        harness_run(w, 2, GBA_PATH_SIM);
        harness_end(w);
    }
}

/* Core 0 sends the notifications, and renegotiates, while the others wait for it. */
TEST(test_device_dies)
{
    for (uint32_t members = 2; members <= 4; members++) {
        struct harness *w = harness_on("sim?die_after=20");

        w->cores = members;
        harness_run(w, members, GBA_PATH_SOFTWARE);
        assert_int_equal(w->stats[0].failovers, 1);
        harness_end(w);
    }
}

HARNESS_TEST(test_renegotiation, harness_on("sim"))
{
    w->past = true;
    for (int software = 0; software < 2; software++) {
        w->params.offload_after = 10;
        w->no_software = software ? NOBODY : 0;
        w->cores = 3;
        harness_run_moving(w, 3, 10, 1);
    }
}

/* ------------------------------------------------------------------- threads without a team --- */

#define THREADS 4u

static struct {
    gba_cores_t *cores;
    uint32_t late; /* the core that arrives at round 2 after a report */
    gba_word_t errors;
    gba_status_t result; /* of the barrier of processes in round 2 */
    uint32_t calls;
} play;

static void play_wait(bool late)
{
    for (int i = 0; i < 3000 && late && !stall_log_complete(); i++)
        usleep(10000);
}

static gba_status_t play_barrier(void *ctx)
{
    (void)ctx;
    play_wait(2 == play.calls && NOBODY == play.late);
    return 2 == ++play.calls ? play.result : GBA_OK;
}

static void *play_core(void *arg)
{
    const uint32_t core = (uint32_t)(uintptr_t)arg;

    for (uint32_t round = 1; round <= 5; round++) {
        play_wait(2 == round && core == play.late);
        if (GBA_OK != gba_cores_barrier(play.cores, core))
            gba_word_add_relaxed(&play.errors, 1);
    }
    return NULL;
}

static void play_run(const gba_cores_attr_t *attr, uint32_t late, gba_status_t result)
{
    pthread_t threads[THREADS];

    play.late = late;
    play.result = result;
    play.calls = 0;
    gba_word_store_relaxed(&play.errors, 0);
    assert_int_equal(gba_cores_create(THREADS, NULL, attr, &play.cores), GBA_OK);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, play_core, (void *)i), 0);
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    gba_cores_destroy(play.cores);
    assert_int_equal(gba_word_load_relaxed(&play.errors), GBA_OK == result ? 0 : 4 * THREADS);
}

/* An error of round 2 reaches all cores, also in the rounds after it. */
TEST(test_errors)
{
    const gba_cores_attr_t attr = {.barrier = play_barrier};
    gba_cores_t *cores;

    play_run(&attr, NOBODY, GBA_ERR_IO);
    assert_int_equal(play.calls, 2);
    play_run(&attr, NOBODY, GBA_INPROGRESS); /* of a runtime with positive errors */
    gba_log_set(stall_log_line, NULL, GBA_LOG_TEAM);
    assert_int_equal(gba_cores_create(0, NULL, NULL, &cores), GBA_ERR_PARAM);
    assert_int_equal(gba_cores_create(GBA_CORES_MAX + 1, NULL, NULL, &cores), GBA_ERR_PARAM);
    setenv("GBA_WAIT", "soon", 1);
    assert_int_equal(gba_cores_create(1, NULL, NULL, &cores), GBA_ERR_PARAM);
    unsetenv("GBA_WAIT");
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
    gba_cores_destroy(NULL);
}

static gba_status_t fallback_positive(void *ctx)
{
    (void)ctx;
    return GBA_INPROGRESS;
}

/* The same of a team whose runtime has positive errors. */
TEST(test_errors_of_a_team)
{
    struct gba_team team = {.kind = GBA_PATH_FALLBACK, .runtime.fallback = fallback_positive};
    gba_cores_t *cores;

    assert_int_equal(gba_cores_create(1, &team, NULL, &cores), GBA_OK);
    for (int round = 1; round <= 2; round++)
        assert_int_equal(gba_cores_barrier(cores, 0), GBA_ERR_IO);
    team.runtime.fallback = NULL; /* not called any more */
    assert_int_equal(gba_cores_barrier(cores, 0), GBA_ERR_IO);
    gba_cores_destroy(cores);
}

static void stalled(uint32_t late, const gba_cores_attr_t *attr, const char *expected)
{
    stall_log_begin(1);
    play_run(attr, late, GBA_OK);
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
    expect_lines(1);
    expect_line(expected);
}

TEST(test_missing_cores)
{
    gba_cores_attr_t attr = {.name = "rank 7"};

    setenv("GBA_STUCK_AFTER", "1", 1);
    stalled(
        0, &attr,
        "rank 7: barrier 2 (cores) stalled for 1 s: 3 of 4 cores have arrived; missing: core 0");
    attr.name = NULL;
    setenv("PMIX_RANK", "5", 1);
    stalled(2, &attr, "rank 5 on ");
    unsetenv("PMIX_RANK");
    stalled(2, &attr, "process ");
    attr.barrier = play_barrier;
    stalled(1, &attr, "missing: core 1");
    stalled(NOBODY, &attr,
            "barrier 3 (cores) stalled for 1 s: 4 of 4 cores have arrived; core 0 waits");
    unsetenv("GBA_STUCK_AFTER");
}

/* Core 0 of member 1 is late: that member reports the core, and the other one the member. */
HARNESS_TEST(test_missing_core_of_a_member, harness_on(NULL))
{
    w->params.stuck_after = 4; /* longer than a busy machine delays a core that is not late */
    w->late_until = stall_log_complete;
    w->cores = 2;
    stall_log_begin(2);
    harness_run(w, 2, GBA_PATH_SOFTWARE);
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
    expect_lines(2);
    expect_line("test: member 1: barrier 1 (cores) stalled for 4 s: 1 of 2 cores have arrived; "
                "missing: core 0");
    expect_line("test: barrier 1 (software) stalled");
    expect_line("missing: member 1");
}

TEST_MAIN(alarm(test_limit(300)))

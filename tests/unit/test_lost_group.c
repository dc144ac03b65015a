/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams whose group is taken back: all go on in another way, ask for one again, and say what it was
 * that they lost. Members are threads (team_harness.h), the groups are those of the simulator; that
 * one is taken back is pretended here: the group is reset, its members are told by their flags, or
 * by the driver when they ask it.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "gba/base/park.h"
#include "sim/shm/sim.h"
#include "gba/team/engine.h"
#include "tests/unit/team_harness.h"

gba_status_t __real_gba_group_take(gba_device_t *device, const gba_group_handle_t *handle,
                                   uint32_t member, uint32_t sequence, gba_group_t **group,
                                   struct gba_local_state *state);
gba_status_t __wrap_gba_group_take(gba_device_t *device, const gba_group_handle_t *handle,
                                   uint32_t member, uint32_t sequence, gba_group_t **group,
                                   struct gba_local_state *state);
gba_status_t __real_gba_group_inspect(gba_group_t *group, gba_group_state_t *state);
gba_status_t __wrap_gba_group_inspect(gba_group_t *group, gba_group_state_t *state);
gba_status_t __real_gba_request_group(gba_device_t *device, const gba_group_request_t *request,
                                      gba_group_handle_t *handle);
gba_status_t __wrap_gba_request_group(gba_device_t *device, const gba_group_request_t *request,
                                      gba_group_handle_t *handle);

/* The driver, as far as it is pretended. */
static struct {
    pthread_mutex_t lock;
    gba_device_t *device;
    gba_group_t
        *membership[HARNESS_MEMBERS]; /* of the group that the team has, by member; or NULL */
    gba_group_t *lost[HARNESS_MEMBERS];
    uint32_t group;
    uint32_t round; /* before which the next group is taken back, and so on in steps of: */
    uint32_t every;
    bool flags;          /* the members' flags say so */
    gba_status_t answer; /* to a request: GBA_OK: there is a group */
    gba_group_request_t requests[64];
    unsigned asked, taken_back;
} driver = {.lock = PTHREAD_MUTEX_INITIALIZER};

gba_status_t __wrap_gba_group_take(gba_device_t *device, const gba_group_handle_t *handle,
                                   uint32_t member, uint32_t sequence, gba_group_t **group,
                                   struct gba_local_state *state)
{
    gba_status_t status = __real_gba_group_take(device, handle, member, sequence, group, state);

    if (GBA_OK != status)
        return status;
    pthread_mutex_lock(&driver.lock);
    driver.membership[member] = *group;
    driver.group = handle->group;
    for (uint32_t other = 0; other < HARNESS_MEMBERS; other++)
        if (*group == driver.lost[other]) /* memory that is in use again */
            driver.lost[other] = NULL;
    pthread_mutex_unlock(&driver.lock);
    return GBA_OK;
}

gba_status_t __wrap_gba_group_inspect(gba_group_t *group, gba_group_state_t *state)
{
    bool lost = false;

    pthread_mutex_lock(&driver.lock);
    for (uint32_t member = 0; member < HARNESS_MEMBERS; member++)
        lost = lost || group == driver.lost[member];
    pthread_mutex_unlock(&driver.lock);
    return lost ? GBA_ERR_RECLAIMED : __real_gba_group_inspect(group, state);
}

gba_status_t __wrap_gba_request_group(gba_device_t *device, const gba_group_request_t *request,
                                      gba_group_handle_t *handle)
{
    assert_true(driver.asked < 64);
    driver.requests[driver.asked++] = *request;
    if (GBA_OK != driver.answer)
        return driver.answer;
    return __real_gba_request_group(device, request, handle);
}

/* Whatever its members are doing. */
static void take_back(void)
{
    pthread_mutex_lock(&driver.lock);
    assert_int_equal(gba_reg_write(driver.device, GBA_GROUP_REG(driver.group, GBA_REG_CONTROL), 4,
                                   GBA_CONTROL_RESET),
                     GBA_OK);
    for (uint32_t member = 0; member < HARNESS_MEMBERS; member++) {
        gba_group_t *membership = driver.membership[member];

        driver.lost[member] = membership;
        driver.membership[member] = NULL;
        if (NULL == membership || !driver.flags)
            continue;
        harness_flag_reclaim(membership->membership->flag);
    }
    driver.taken_back++;
    pthread_mutex_unlock(&driver.lock);
}

static void before(struct harness *w, uint32_t round)
{
    (void)w;
    if (round != driver.round)
        return;
    driver.round += driver.every;
    take_back();
}

static struct harness *harness_on(const char *path)
{
    struct harness *w = harness_new();

    alarm(300); /* a member that waits for ever must not be waited for */
    assert_int_equal(gba_device_init(path, NULL, &w->device), GBA_OK);
    driver.device = w->device;
    driver.asked = driver.taken_back = 0;
    driver.answer = GBA_OK;
    driver.flags = true;
    memset(driver.membership, 0, sizeof driver.membership);
    w->before = before;
    w->past = true;
    w->params.retry_after = 1;
    w->expected = "";
    return w;
}

static void harness_end(struct harness *w)
{
    gba_device_info_t info;

    assert_int_equal(gba_device_query(w->device, &info), GBA_OK);
    assert_int_equal(info.groups_free, info.groups);
    gba_device_fini(w->device);
    free(w);
    alarm(0);
}

static void lost_so_often(const struct harness *w, uint32_t size, uint64_t reclaims)
{
    for (uint32_t r = 0; r < size; r++) {
        assert_int_equal(w->stats[r].reclaims, reclaims);
        assert_int_equal(w->stats[r].failovers, 0);
    }
    assert_int_equal(driver.taken_back, reclaims);
}

static const uint32_t sizes[] = {1, 2, 3, 7};
#define SIZES (sizeof sizes / sizeof sizes[0])

/* It goes, and comes back after 64 barriers, again and again; with software and without. */
static void test_lost_and_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < SIZES; i++)
        for (int way = 0; way < 8; way++) {
            struct harness *w = harness_on("sim");

            driver.flags = 0 != (way & 1);
            w->params.wait = way & 2 ? GBA_WAIT_SLEEP : GBA_WAIT_YIELD;
            w->no_software = way & 4 ? 0 : NOBODY;
            driver.round = 7;
            driver.every = 70;
            w->steps_every = 5;
            w->rounds = 7 + 3 * 70 + 1;
            w->expected = gba_status_text(GBA_ERR_RECLAIMED);
            harness_run(w, sizes[i], way & 4 ? GBA_PATH_FALLBACK : GBA_PATH_SOFTWARE);
            lost_so_often(w, sizes[i], 4);
            /* Lost in round 147, which members complete by notifications. They leave the group
             * after it if one of them was notified before its arrival, else after the next round,
             * and renegotiate 64 barriers later. */
            assert_in_range(w->moved[0], 147 + 64, 148 + 64);
            harness_end(w);
        }
}

/* The members that are no leaders hear it from theirs. */
static void test_leaders_of_nodes(void **state)
{
    (void)state;
    for (uint32_t hosts = 1; hosts <= 4; hosts++)
        for (int flags = 0; flags < 2; flags++) {
            struct harness *w = harness_on("sim");

            for (uint32_t r = 0; r < 9; r++)
                w->host[r] = r * r % hosts;
            driver.flags = flags;
            driver.round = 3;
            driver.every = 66;
            w->params.hierarchy = GBA_HIERARCHY_NODE;
            w->no_software = hosts % 2 ? NOBODY : 5;
            w->rounds = 3 + 3 * 66 + 65;
            w->expected = "sim: group 0 of 32 among the leaders of";
            harness_run(w, 9, GBA_PATH_SIM);
            lost_so_often(w, 9, 4);
            harness_end(w);
        }
}

/* What rank 0 asks for: how hot it is it can say from the second time on. */
static void test_requests(void **state)
{
    struct harness *w = harness_on("sim");

    (void)state;
    w->params.max_groups = 5;
    driver.round = 10;
    driver.every = 1000;
    w->rounds = 100;
    harness_run(w, 3, GBA_PATH_SIM);
    lost_so_often(w, 3, 1);
    assert_int_equal(driver.asked, 2);
    assert_int_equal(driver.requests[0].barrier_rate, 0);
    assert_true(driver.requests[1].barrier_rate > 0);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(driver.requests[i].groups_max, 5);
        assert_int_equal(driver.requests[i].members, 3);
    }
    /* After 64, 128 and so on, until there is one. */
    driver.asked = driver.taken_back = 0;
    driver.answer = GBA_ERR_LIMIT;
    driver.round = UINT32_MAX;
    w->rounds = 64 + 128 + 256;
    w->expected = gba_status_text(GBA_ERR_LIMIT);
    harness_run(w, 3, GBA_PATH_SOFTWARE);
    assert_int_equal(driver.asked, 4);
    assert_int_equal(w->stats[0].renegotiations, 3);
    harness_end(w);
}

/* Barriers a second: those of the last pause, and not of the one before it. */
static void test_barrier_rate(void **state)
{
    struct harness *w = harness_on("sim");

    (void)state;
    driver.answer = GBA_ERR_NO_GROUP;
    w->rounds = 64 + 10;
    w->late_ms = 2; /* some member in each round: at least 2 ms a round */
    harness_run(w, 2, GBA_PATH_SOFTWARE);
    assert_int_equal(driver.asked, 2);
    assert_in_range(driver.requests[1].barrier_rate, 1, 501);
    harness_end(w);
}

/* When the device has died as well, that is the reason, and nobody asks it again. */
static void test_lost_and_dead(void **state)
{
    struct harness *w = harness_on("sim?die_after=20");

    (void)state;
    driver.round = UINT32_MAX;
    w->rounds = 200;
    w->expected = gba_status_text(GBA_ERR_DEAD);
    harness_run(w, 4, GBA_PATH_SOFTWARE);
    for (uint32_t r = 0; r < 4; r++) {
        assert_int_equal(w->stats[r].failovers, 1);
        assert_int_equal(w->stats[r].reclaims, 0);
    }
    assert_int_equal(w->stats[0].renegotiations, 0);
    harness_end(w);
    w = harness_on("sim?die_after=20");
    driver.round = 5;
    driver.every = 1000;
    w->rounds = 200;
    harness_run(w, 4, GBA_PATH_SOFTWARE);
    for (uint32_t r = 0; r < 4; r++) {
        assert_int_equal(w->stats[r].failovers, 1);
        assert_int_equal(w->stats[r].reclaims, 1);
        assert_int_equal(w->stats[r].renegotiations, 1);
    }
    harness_end(w);
}

static void die_and_rise(struct harness *w, uint32_t round)
{
    gba_word_t *dead = &((struct gba_sim_dev *)w->device->dev)->segment->dead;

    if (20 == round || 40 == round)
        gba_word_store_relaxed(dead, 20 == round);
}

/* A device that comes back is for new teams: who has lost it does not go back to it. */
static void test_comes_back(void **state)
{
    struct harness *w = harness_on("sim");

    (void)state;
    w->before = die_and_rise;
    w->rounds = 300;
    w->expected = gba_status_text(GBA_ERR_DEAD);
    harness_run(w, 4, GBA_PATH_SOFTWARE);
    for (uint32_t r = 0; r < 4; r++) {
        assert_int_equal(w->stats[r].failovers, 1);
        assert_int_equal(w->stats[r].renegotiations, 0);
    }
    assert_int_equal(driver.asked, 1);
    w->before = NULL;
    w->expected = "sim: group";
    harness_run(w, 4, GBA_PATH_SIM);
    harness_end(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lost_and_found), cmocka_unit_test(test_leaders_of_nodes),
        cmocka_unit_test(test_requests),       cmocka_unit_test(test_barrier_rate),
        cmocka_unit_test(test_lost_and_dead),  cmocka_unit_test(test_comes_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

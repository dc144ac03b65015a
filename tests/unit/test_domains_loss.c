/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Islands of nodes that lose a group: devices die, at any moment, or a group is taken back; and
 * teams that ask for their groups again.
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
#include "tests/unit/domains_harness.h"
#include "tests/unit/log_catch.h"

#define SIZE 9u

/* Each device, as one of its rounds would complete: some gather, and some release. */
static void test_a_device_dies_as_a_round_ends(void **state)
{
    (void)state;
    for (uint32_t d = 0; d < 2; d++)
        for (int after = 1; after <= 8; after++)
            for (int layout = 0; layout < 2; layout++) {
                const char *paths[DEVICES] = {"sim", "sim", "sim"};
                char path[48];
                struct harness *w;

                snprintf(path, sizeof path, "sim?die_after=%d", after);
                paths[d] = path;
                w = harness_on(paths);
                w->rounds = 30;
                w->expected = gba_status_text(GBA_ERR_DEAD);
                harness_place(w, SIZE, 5, 2, layout);
                run(w, SIZE, GBA_PATH_SOFTWARE);
                for (uint32_t r = 0; r < SIZE; r++)
                    assert_int_equal(w->stats[r].failovers, 1);
                harness_end(w);
            }
}

/* The messages of nonblocking barriers after that are apart from those of the heads before it. */
static void test_nonblocking_barriers(void **state)
{
    (void)state;
    for (int after = 1; after <= 8; after++)
        for (int blocks = 0; blocks < 2; blocks++) {
            char path[48];
            struct harness *w;

            snprintf(path, sizeof path, "sim?die_after=%d", after);
            w = harness_on((const char *const[DEVICES]){path, "sim", "sim"});
            w->blocks_every = blocks ? 50 : UINT32_MAX;
            w->rounds = 120;
            w->params.first_sequence = 0xFFFFFFF8u;
            w->expected = blocks ? gba_status_text(GBA_ERR_DEAD) : "groups among the leaders";
            harness_place(w, SIZE, 5, 2, after % 2);
            run(w, SIZE, blocks ? GBA_PATH_SOFTWARE : GBA_PATH_SIM);
            harness_end(w);
        }
}

/* Between the arrivals of a round, and between its release stores. */
static void test_a_device_dies_within_a_round(void **state)
{
    static const char *const options[][2] = {
        {"die_arrival", ""}, {"die_after", "&die_release=1"}, {"die_after", "&die_release=2"}};

    (void)state;
    for (uint32_t d = 0; d < 2; d++)
        for (size_t i = 0; i < 3; i++)
            for (int n = 1; n <= 6; n++) {
                const char *paths[DEVICES] = {"sim", "sim", "sim"};
                char path[64];
                struct harness *w;

                snprintf(path, sizeof path, "sim?%s=%d%s", options[i][0], n, options[i][1]);
                paths[d] = path;
                w = harness_on(paths);
                w->rounds = 12;
                w->expected = gba_status_text(GBA_ERR_DEAD);
                harness_place(w, SIZE, 5, 2, n % 2);
                run(w, SIZE, GBA_PATH_SOFTWARE);
                for (uint32_t r = 0; r < SIZE; r++)
                    assert_int_equal(w->stats[r].failovers, 1);
                harness_end(w);
            }
}

struct killer {
    unsigned after; /* us */
    unsigned which; /* bit d: device d */
};

static void *kill_devices(void *arg)
{
    struct killer *killer = arg;

    usleep(killer->after);
    for (uint32_t d = 0; d < DEVICES; d++)
        if (killer->which >> d & 1)
            gba_word_store_relaxed(&((struct gba_sim_dev *)devices[d]->dev)->segment->dead, 1);
    return NULL;
}

/*
 * One device or several, at any moment: while nodes gather, while domains do, while the domain
 * leaders are among themselves, between releases, and in the agreement. All go on in software, with
 * the same count of rounds, and without a message that is left over (harness_run, unread).
 */
static void test_devices_die_at_any_moment(void **state)
{
    unsigned survived = 0;

    (void)state;
    srand(1);
    for (int i = 0; i < 200; i++) {
        const char *slow = "sim?latency=200000&jitter=3000000";
        struct harness *w = harness_on(
            (const char *const[DEVICES]){i % 2 ? slow : "sim", i % 3 ? slow : "sim", "sim"});
        uint32_t used = 2 + (uint32_t)i % 2, hosts = used + 1 + (uint32_t)i % 4;
        /* Where it has one node the death of a device is not noticed: then the first one dies. */
        struct killer killer = {(unsigned)rand() % 15000u,
                                hosts < 2 * used ? 1u
                                                 : 1u + (unsigned)rand() % ((1u << used) - 1u)};
        pthread_t thread;

        w->rounds = 5;
        w->until_death = true;
        w->late_ms = i % 3 == 0;
        harness_place(w, SIZE, hosts, used, i % 2);
        notifications_start(w, SIZE);
        assert_int_equal(pthread_create(&thread, NULL, kill_devices, &killer), 0);
        thread_oob_run(SIZE, 0, harness_member, w);
        pthread_join(thread, NULL);
        notifications_stop(w);
        survived += w->stats[0].failovers > 0;
        for (uint32_t r = 0; r < SIZE; r++) {
            assert_int_equal(w->returned[r], GBA_OK);
            assert_int_equal(w->path[r], GBA_PATH_SOFTWARE);
            assert_string_equal(w->why[r], w->why[0]);
            assert_int_equal(w->stats[r].rounds, w->stats[0].rounds);
            assert_int_equal(w->stats[r].failovers, w->stats[0].failovers);
        }
        assert_int_equal(gba_word_load_relaxed(&w->early), 0);
        assert_int_equal(gba_word_load_relaxed(&w->unread), 0);
        assert_int_equal(harness_segments(), 0);
        harness_end(w);
    }
    assert_true(survived > 50); /* the others died in the agreement */
}

/* ------------------------------------------------------------------------- asking again --- */

/* The other holders of a device's groups, and the round before which they give them back. */
static struct {
    gba_device_t *device;
    gba_group_handle_t handle[32];
    uint32_t held, free_before;
} others;

static void others_take(gba_device_t *device)
{
    others.device = device;
    while (GBA_OK == gba_allocate_group(device, 2, &others.handle[others.held]))
        others.held++;
}

static void others_free(struct harness *w, uint32_t round)
{
    (void)w;
    while (round == others.free_before && others.held > 0)
        gba_free_handle(others.device, &others.handle[--others.held]);
}

static struct harness *harness_that_asks(int hierarchy)
{
    struct harness *w = harness_plain();

    w->params.hierarchy = hierarchy;
    w->accounts = false; /* some close the old transport when others send on the new one */
    w->past = true;
    w->before = others_free;
    w->rounds = 300;
    w->expected = "sim: groups among the leaders of";
    return w;
}

static void moves_after(struct harness *w, uint32_t size, uint32_t round, uint64_t renegotiations)
{
    run(w, size, GBA_PATH_SIM);
    for (uint32_t r = 0; r < size; r++) {
        assert_int_equal(w->moved[r], round);
        assert_int_equal(w->stats[r].renegotiations, renegotiations);
    }
}

/* After so many barriers, and when there is a group for each island: the first or the second has to
 * wait for it. */
static void test_they_ask_again(void **state)
{
    (void)state;
    for (int hierarchy = GBA_HIERARCHY_AUTO; hierarchy <= GBA_HIERARCHY_NODE; hierarchy += 2)
        for (uint32_t full = 0; full < 2; full++) {
            struct harness *w = harness_that_asks(hierarchy);

            harness_place(w, SIZE, 5, 2, (int)full);
            w->params.offload_after = 30;
            moves_after(w, SIZE, 30, 1);
            w->params.offload_after = 0;
            others_take(devices[full]);
            others.free_before = 70;
            moves_after(w, SIZE, 192, 2);
            others_take(devices[full]);
            w->params.offload_after = 20;
            moves_after(w, SIZE, 20 + 64, 2);
            harness_end(w);
        }
}

/* One device, more nodes than its groups can have members: rank 0 knows it in time. */
static void test_too_many_ask_again(void **state)
{
    (void)state;
    for (int hierarchy = GBA_HIERARCHY_AUTO; hierarchy <= GBA_HIERARCHY_NODE; hierarchy += 2) {
        struct harness *w = harness_that_asks(hierarchy);

        devices[0]->members_max = 3;
        harness_place(w, SIZE, 5, 1, 0);
        w->params.offload_after = 30;
        moves_after(w, SIZE, 30, 1);
        w->params.offload_after = 0;
        others_take(devices[0]);
        others.free_before = 64;
        moves_after(w, SIZE, 64, 1);
        harness_end(w);
    }
}

/* The group of one island is reset and its members are told, as a driver does; see
 * test_lost_group.c. */
static uint32_t take_from, take_before;

static void take_back(struct harness *w, uint32_t round)
{
    gba_device_t *device = devices[take_from];
    struct gba_sim_segment *segment = ((struct gba_sim_dev *)device->dev)->segment;

    (void)w;
    if (round != take_before)
        return;
    take_before += 70;
    assert_int_equal(gba_reg_write(device, GBA_GROUP_REG(0, GBA_REG_CONTROL), 4, GBA_CONTROL_RESET),
                     GBA_OK);
    for (uint32_t member = 0; member < 3; member++) {
        harness_flag_reclaim(&segment->place[segment->group[0].place].slot[member].flag);
    }
}

static void test_a_group_is_taken_back(void **state)
{
    (void)state;
    for (int hierarchy = GBA_HIERARCHY_AUTO; hierarchy <= GBA_HIERARCHY_NODE; hierarchy += 2)
        for (take_from = 0; take_from < 2; take_from++) {
            struct harness *w = harness_that_asks(hierarchy);

            harness_place(w, SIZE, 5, 2, (int)take_from);
            w->before = take_back;
            take_before = 7;
            w->rounds = 355; /* taken in 7, 77, ..., 287: lost in two, and 64 without it */
            run(w, SIZE, GBA_PATH_SIM);
            for (uint32_t r = 0; r < SIZE; r++) {
                assert_int_equal(w->stats[r].reclaims, 5);
                assert_int_equal(w->stats[r].failovers, 0);
                assert_int_equal(w->stats[r].renegotiations, 5);
            }
            harness_end(w);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_device_dies_as_a_round_ends),
        cmocka_unit_test(test_nonblocking_barriers),
        cmocka_unit_test(test_a_device_dies_within_a_round),
        cmocka_unit_test(test_devices_die_at_any_moment),
        cmocka_unit_test(test_they_ask_again),
        cmocka_unit_test(test_too_many_ask_again),
        cmocka_unit_test(test_a_group_is_taken_back),
    };

    gba_log_set(log_drop, NULL, GBA_LOG_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

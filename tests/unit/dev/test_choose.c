/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice among the devices of a host: on made-up hosts, and on random ones against a search of
 * every choice. */

#include "gba/dev/choose.h"
#include "tests/suite.h"

#define PROCESSES 64u

#define PIX  GBA_DISTANCE_PIX
#define PXB  GBA_DISTANCE_PXB
#define NODE GBA_DISTANCE_NODE
#define SYS  GBA_DISTANCE_SYS

static struct gba_distances distance[PROCESSES];
static uint8_t chosen[PROCESSES];

static void set(uint32_t process, uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
    distance[process] = (struct gba_distances){{a, b, c, d}};
}

static void run(uint32_t devices, uint32_t processes)
{
    struct gba_choose choose = {
        .devices = devices, .processes = processes, .distance = distance, .turn = 12345};

    memset(chosen, 0xEE, sizeof chosen);
    gba_choose(&choose, chosen);
}

static uint32_t load(uint32_t processes, uint32_t device)
{
    uint32_t count = 0;

    for (uint32_t p = 0; p < processes; p++)
        count += chosen[p] == device;
    return count;
}

/* The smallest sum of squares of the numbers of processes, over all choices of nearest devices. */
static uint32_t best_of(uint32_t devices, uint32_t processes, uint32_t process, uint32_t *loads)
{
    uint32_t best = UINT32_MAX;
    uint8_t nearest = 255;

    if (process == processes) {
        best = 0;
        for (uint32_t d = 0; d < devices; d++)
            best += loads[d] * loads[d];
        return best;
    }
    for (uint32_t d = 0; d < devices; d++)
        nearest = distance[process].to[d] < nearest ? distance[process].to[d] : nearest;
    for (uint32_t d = 0; d < devices; d++) {
        uint32_t sum;

        if (distance[process].to[d] != nearest)
            continue;
        loads[d]++;
        sum = best_of(devices, processes, process + 1, loads);
        loads[d]--;
        best = sum < best ? sum : best;
    }
    return best;
}

/* Each process has a nearest device, and they are as balanced among these as possible. */
TEST(nearest_and_balanced)
{
    srand(7);
    for (int i = 0; i < 3000; i++) {
        uint32_t devices = 1 + (uint32_t)rand() % 4, processes = 2 + (uint32_t)rand() % 6;
        uint32_t loads[4] = {0}, sum = 0;

        for (uint32_t p = 0; p < processes; p++)
            set(p, (uint8_t)(rand() % 3), (uint8_t)(rand() % 3), (uint8_t)(rand() % 3),
                (uint8_t)(rand() % 3));
        run(devices, processes);
        for (uint32_t p = 0; p < processes; p++)
            for (uint32_t d = 0; d < devices; d++)
                assert_true(distance[p].to[chosen[p]] <= distance[p].to[d]);
        for (uint32_t d = 0; d < devices; d++)
            sum += load(processes, d) * load(processes, d);
        assert_int_equal(sum, best_of(devices, processes, 0, loads));
    }
}

TEST(many_processes)
{
    for (uint32_t p = 0; p < PROCESSES; p++)
        set(p, NODE, NODE, NODE, SYS);
    run(4, PROCESSES);
    assert_int_equal(load(PROCESSES, 3), 0);
    for (uint32_t d = 0; d < 3; d++)
        assert_in_range(load(PROCESSES, d), PROCESSES / 3, PROCESSES / 3 + 1);
}

/* Each process has no information about the others, as without a launcher. */
TEST(first_ones_are_spread)
{
    struct gba_choose choose = {.devices = 4, .processes = 1, .distance = distance};
    uint32_t count[4] = {0};

    set(0, SYS, PIX, PIX, PIX);
    for (uint32_t process = 0; process < 30; process++) {
        choose.turn = 4000 + process; /* process IDs */
        gba_choose(&choose, chosen);
        count[chosen[0]]++;
    }
    assert_int_equal(count[0], 0);
    for (uint32_t d = 1; d < 4; d++)
        assert_int_equal(count[d], 10);
}

TEST(by_map)
{
    static const struct gba_map_part map[] = {{0, 3}, {2, 5}};
    struct gba_choose choose = {
        .devices = 3, .processes = 20, .distance = distance, .map = map, .parts = 2};

    for (uint32_t p = 0; p < 20; p++)
        set(p, SYS, PIX, SYS, SYS); /* does not count */
    gba_choose(&choose, chosen);
    for (uint32_t p = 0; p < 20; p++)
        assert_int_equal(chosen[p], p % 8 < 3 ? 0 : 2);
    choose.processes = 1; /* first ones are spread, too */
    choose.turn = 10;
    gba_choose(&choose, chosen);
    assert_int_equal(chosen[0], 0);
    choose.turn = 11;
    gba_choose(&choose, chosen);
    assert_int_equal(chosen[0], 2);
}

TEST(in_words)
{
    static const struct gba_map_part map[] = {{1, 1}};
    struct gba_choose choose = {.devices = 2, .processes = 3, .distance = distance};
    char why[128];

    set(0, PIX, SYS, 0, 0);
    set(1, PXB, PXB, 0, 0);
    set(2, PIX, SYS, 0, 0);
    gba_choose(&choose, chosen);
    gba_choose_describe(&choose, chosen, 0, why, sizeof why);
    assert_string_equal(why, "the nearest (PIX), 2 of 3 processes of this host");
    gba_choose_describe(&choose, chosen, 1, why, sizeof why);
    assert_string_equal(why, "one of the 2 nearest (PXB), 1 of 3 processes of this host");
    choose.processes = 1;
    gba_choose(&choose, chosen);
    gba_choose_describe(&choose, chosen, 0, why, sizeof why);
    assert_string_equal(why, "the nearest (PIX)");
    set(0, PIX, PIX, 0, 0);
    gba_choose(&choose, chosen);
    gba_choose_describe(&choose, chosen, 0, why, sizeof why);
    assert_string_equal(why, "one of the 2 nearest (PIX), by the process ID");
    set(0, PIX, SYS, 0, 0);
    choose.processes = 3;
    choose.map = map;
    choose.parts = 1;
    gba_choose(&choose, chosen);
    gba_choose_describe(&choose, chosen, 0, why, sizeof why);
    assert_string_equal(why, "device_map (SYS), 3 of 3 processes of this host");
}

TEST_MAIN()

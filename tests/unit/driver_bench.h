/* SPDX-License-Identifier: BSD-3-Clause */
/* The driver's record of a device and its group: three processes, and calls in their names. */
#ifndef GBA_TESTS_DRIVER_BENCH_H
#define GBA_TESTS_DRIVER_BENCH_H

#include "tests/unit/model_bench.h"

#include "gba/spec/gba_ioctl.h"
#include "sim/model/driver.h"

#define KEY 0x1122334455667788ull

static struct gba_driver_record record;
static struct gba_model_group *group; /* number 4 of the device on the bench */
static const struct gba_driver_owner ann = {100, 1}, bob = {101, 1}, eve = {100, 2};

static inline void power_on(void)
{
    bench_power_on(32);
    memset(&record, 0, sizeof(record));
    group = &bench.group[4];
}

static inline gba_status_t alloc(uint32_t members, struct gba_driver_owner owner)
{
    const struct gba_driver_request request = {
        .members = members, .key = KEY + record.head.generation, .owner = owner};

    return gba_driver_alloc(&record, group, &request);
}

static inline uint32_t generation(void)
{
    return record.head.generation;
}

static inline gba_status_t join(uint32_t member, struct gba_driver_owner owner)
{
    return gba_driver_join(&record, generation(), record.head.key, member, owner);
}

static inline gba_status_t map(uint32_t member, struct gba_driver_owner owner)
{
    return gba_driver_map(&record, group, generation(), member, bench_flag(4, member), owner);
}

static inline gba_status_t configure(uint32_t sequence, struct gba_driver_owner owner)
{
    return gba_driver_configure(&record, group, generation(), sequence, owner, 0);
}

static inline gba_status_t leave(uint32_t member, struct gba_driver_owner owner)
{
    return gba_driver_leave(&record, group, generation(), member, owner);
}

/* Take back what dead processes hold. Returns the number of memberships and allocations. */
static inline uint32_t reap_record(struct gba_driver_record *r,
                                   bool (*alive)(struct gba_driver_owner owner))
{
    struct gba_driver_owner owner;
    uint32_t taken = 0, member = 0;

    for (; gba_driver_find_dead(r, &member, &owner, alive); taken++)
        assert_int_equal(gba_driver_leave(r, group, r->head.generation, member, owner), GBA_OK);
    return taken;
}

static inline uint32_t reap(bool (*alive)(struct gba_driver_owner owner))
{
    return reap_record(&record, alive);
}

/* ann is member 0; bob is all other members. */
static inline void arm(uint32_t members, uint32_t sequence)
{
    assert_int_equal(alloc(members, ann), GBA_OK);
    for (uint32_t member = 0; member < members; member++) {
        assert_int_equal(join(member, member ? bob : ann), GBA_OK);
        assert_int_equal(map(member, member ? bob : ann), GBA_OK);
    }
    assert_int_equal(configure(sequence, bob), GBA_OK);
}

/* Checks that the group is as at power-on, except its counters, and that all handles are stale. */
static inline void is_free(void)
{
    struct gba_model_group fresh;

    memset(&fresh, 0, sizeof(fresh));
    memcpy(fresh.core.counters, group->core.counters, sizeof(fresh.core.counters));
    assert_int_equal(record.head.state, GBA_GROUP_FREE);
    assert_true(memcmp(&fresh, group, sizeof(fresh)) == 0);
    assert_int_equal(join(0, eve), GBA_ERR_STALE);
    assert_int_equal(map(0, ann), GBA_ERR_STALE);
    assert_int_equal(configure(0, ann), GBA_ERR_STALE);
    assert_int_equal(leave(0, ann), GBA_ERR_STALE);
}

static inline bool only_bob_lives(struct gba_driver_owner owner)
{
    return owner.pid == bob.pid && owner.start == bob.start;
}

static inline bool nobody_lives(struct gba_driver_owner owner)
{
    (void)owner;
    return false;
}

static inline bool all_live(struct gba_driver_owner owner)
{
    (void)owner;
    return true;
}

#endif

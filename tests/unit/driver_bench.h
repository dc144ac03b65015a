/* SPDX-License-Identifier: BSD-3-Clause */
/* The driver's record of a device and its group: three processes, and calls in their names. */
#ifndef GBA_TESTS_DRIVER_BENCH_H
#define GBA_TESTS_DRIVER_BENCH_H

#include "tests/unit/model_bench.h"

#include "gba/spec/gba_ioctl.h"
#include "tests/unit/driver_model.h"

#define KEY 0x1122334455667788ull

static struct gba_driver_record record;
static struct gba_model_group *group; /* number 4 of the device on the bench */
static const uint32_t ann = 1, bob = 2, eve = 3;

static inline void power_on(void)
{
    bench_power_on(32);
    memset(&record, 0, sizeof(record));
    group = &bench.group[4];
}

static inline gba_status_t alloc(uint32_t members, uint32_t holder)
{
    const struct gba_driver_request request = {
        .members = members, .key = KEY + record.head.generation, .holder = holder};

    return gba_driver_alloc(&record, group, &request);
}

static inline uint32_t generation(void)
{
    return record.head.generation;
}

static inline gba_status_t join(uint32_t member, uint32_t holder)
{
    return gba_driver_join(&record, generation(), record.head.key, member, holder);
}

static inline gba_status_t map(uint32_t member, uint32_t holder)
{
    return gba_driver_map(&record, group, generation(), member, bench_flag(4, member), holder);
}

static inline gba_status_t configure(uint32_t sequence, uint32_t holder)
{
    return gba_driver_configure(&record, group, generation(), sequence, holder, 0);
}

static inline gba_status_t leave(uint32_t member, uint32_t holder)
{
    return gba_driver_leave(&record, group, generation(), member, holder);
}

/* Take back what a process that has ended holds. Returns the number of memberships and
 * allocations. */
static inline uint32_t reap_record(struct gba_driver_record *r, uint32_t dead)
{
    uint32_t taken = 0, member = 0;

    for (; gba_driver_find(r, &member, dead); taken++)
        assert_int_equal(gba_driver_leave(r, group, r->head.generation, member, dead), GBA_OK);
    return taken;
}

static inline uint32_t reap(uint32_t dead)
{
    return reap_record(&record, dead);
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
    assert_int_equal(record.head.state, GBA_LIFE_FREE);
    assert_true(memcmp(&fresh, group, sizeof(fresh)) == 0);
    assert_int_equal(join(0, eve), GBA_ERR_STALE);
    assert_int_equal(map(0, ann), GBA_ERR_STALE);
    assert_int_equal(configure(0, ann), GBA_ERR_STALE);
    assert_int_equal(leave(0, ann), GBA_ERR_STALE);
}

#endif

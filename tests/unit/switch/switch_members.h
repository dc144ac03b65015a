/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of a group of a scripted switch, all in this process. cmocka.h comes first. */
#ifndef GBA_TESTS_SWITCH_MEMBERS_H
#define GBA_TESTS_SWITCH_MEMBERS_H

#include "gba/dev/member.h"
#include "tests/unit/log_catch.h"
#include "tests/unit/switch/switch_script.h"

static gba_device_t *device;
static gba_group_t *group[3];
static struct gba_local_state *state_of[3];

/* Open the device, and make a group with that number of members, all of this process. */
static inline void members_make(uint32_t members)
{
    gba_group_handle_t handle;

    assert_int_equal(gba_device_init(script_path, NULL, &device), GBA_OK);
    assert_int_equal(gba_allocate_group(device, members, &handle), GBA_OK);
    for (uint32_t i = 0; i < members; i++) {
        assert_int_equal(gba_join_group(device, &handle, i, &group[i]), GBA_OK);
        assert_int_equal(gba_dma_map(group[i]), GBA_OK);
        assert_int_equal(gba_local_state_init(group[i], 0, &state_of[i]), GBA_OK);
    }
    assert_int_equal(gba_configure_group(group[0], 0), GBA_OK);
}

static inline void members_end(uint32_t members)
{
    for (uint32_t i = 0; i < members; i++) {
        gba_local_state_fini(state_of[i]);
        gba_free_group(group[i]);
    }
    gba_device_fini(device);
    script_join();
}

static inline uint64_t flag_of(uint32_t member)
{
    return gba_flag_load_acquire(group[member]->membership->flag);
}

/* Poll until the member is released, or the device is dead. */
static inline gba_status_t await(uint32_t member)
{
    gba_device_info_t info = {.dead = false};

    while (GBA_OK != gba_poll_release(state_of[member])) {
        assert_int_equal(gba_device_query(device, &info), GBA_OK);
        if (info.dead)
            return GBA_ERR_DEAD;
    }
    return GBA_OK;
}

static inline int setup(void **state)
{
    gba_log_set(log_catch, NULL, GBA_LOG_WARN);
    return script_setup(state);
}

#endif

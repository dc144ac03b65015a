/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Agreement: whatever fails, on any member, at any step, all members get the same path with the
 * same reason, and no member keeps a membership.
 */
#include "gba/dev/member.h"
#include "tests/unit/team/team_harness.h"

static struct harness *harness_without_software(void)
{
    struct harness *w = harness_of_domains("sim", "sim", "sim");

    w->no_software = 0;
    w->rounds = 3;
    return w;
}

/* Run the agreement, and count its calls of the device. All members must report the same. */
static void agree(struct harness *w, uint32_t size, gba_path_t path, gba_status_t reason)
{
    gba_device_info_t info;

    for (int call = 0; call < HARNESS_CALLS; call++)
        gba_word_store_relaxed(&w->calls[call], 0);
    gba_word_store_relaxed(&w->mapped, 0);
    harness_run(w, size, path);
    assert_int_equal(w->reason[0], reason);
    assert_int_equal(gba_device_query(w->device, &info), GBA_OK);
    assert_int_equal(info.groups_free, info.groups);
}

static const uint32_t sizes[] = {2, 3, 4, 7, 16};
#define SIZES (sizeof sizes / sizeof sizes[0])

HARNESS_TEST(test_all_well_takes_the_device, harness_without_software())
{
    w->params.offload = GBA_OFFLOAD_ALWAYS; /* on one host, too */
    for (size_t i = 0; i < SIZES; i++) {
        w->device->kind = GBA_PATH_DEVICE;
        agree(w, sizes[i], GBA_PATH_DEVICE, GBA_OK);
        assert_int_equal(harness_calls(w, HARNESS_CONFIGURE), 1);
        w->device->kind = GBA_PATH_SIM;
        agree(w, sizes[i], GBA_PATH_SIM, GBA_OK);
        assert_non_null(strstr(w->why[0], "group 0 of 32"));
    }
}

static void one_failure(struct harness *w, uint32_t size, enum harness_call call, uint32_t member,
                        gba_status_t status)
{
    bool joins = HARNESS_JOIN == call || HARNESS_MAP == call;
    char who[128];

    snprintf(who, sizeof who, "no device: %s (member %u)", gba_status_text(status),
             joins ? member : 0);
    w->expected = who;
    harness_fail(w, w->device, call, joins ? member : NOBODY, status);
    agree(w, size, GBA_PATH_FALLBACK, status);
    if (joins)
        assert_int_equal(harness_calls(w, HARNESS_CONFIGURE), 0);
    /* rank 0 could not join the group and frees it by its handle */
    assert_int_equal(harness_calls(w, HARNESS_CANCEL), HARNESS_JOIN == call && 0 == member);
}

HARNESS_TEST(test_one_failure_anywhere_falls_back_everywhere, harness_without_software())
{
    static const gba_status_t statuses[] = {GBA_ERR_NO_GROUP, GBA_ERR_REFUSED, GBA_ERR_DEAD};

    /* Otherwise the later members may find that the group was freed in between, and all would
     * report that as the reason. */
    w->fault.last = true;
    for (size_t i = 0; i < SIZES; i++)
        for (int call = HARNESS_ALLOC; call <= HARNESS_CONFIGURE; call++)
            for (uint32_t member = 0; member < sizes[i]; member++)
                for (size_t s = 0; s < 3; s++)
                    one_failure(w, sizes[i], (enum harness_call)call, member, statuses[s]);
}

HARNESS_TEST(test_a_member_without_device, harness_without_software())
{
    for (uint32_t member = 0; member < 7; member++) {
        w->no_device = member;
        agree(w, 7, GBA_PATH_FALLBACK, GBA_ERR_NO_DEVICE);
        assert_int_equal(harness_calls(w, HARNESS_CONFIGURE), 0);
    }
}

HARNESS_TEST(test_a_member_with_another_device, harness_without_software())
{
    for (uint32_t member = 1; member < 4; member++) {
        w->devices[member] = w->switches[1];
        agree(w, 4, GBA_PATH_FALLBACK, GBA_ERR_OTHER_DEVICE);
        w->devices[member] = NULL;
    }
}

HARNESS_TEST(test_too_many_members, harness_without_software())
{
    w->device->members_max = 3;
    agree(w, 4, GBA_PATH_FALLBACK, GBA_ERR_TOO_MANY);
    agree(w, 3, GBA_PATH_SIM, GBA_OK);
}

TEST_MAIN()

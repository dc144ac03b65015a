/* SPDX-License-Identifier: BSD-3-Clause */
/* gba_team_predict against the path that the members of a team agree on. */
#include "gba/dev/member.h"
#include "tests/unit/team/team_harness.h"

/* The candidates before the path that is taken have a reason, and one is taken. */
static void check_candidates(const gba_prediction_t *prediction)
{
    uint32_t taken = 0;

    while (taken < prediction->count && !prediction->candidates[taken].taken)
        assert_int_not_equal(prediction->candidates[taken++].reason, GBA_OK);
    assert_in_range(taken, 0, prediction->count - 1);
    assert_int_equal(prediction->candidates[taken].path, prediction->path);
    assert_int_equal(prediction->candidates[taken].reason, GBA_OK);
    if (GBA_PATH_FALLBACK != prediction->path)
        assert_non_null(strstr(prediction->why, prediction->candidates[taken].text));
    for (uint32_t i = 0; i < prediction->count; i++) {
        assert_true(i == taken || !prediction->candidates[i].taken);
        assert_string_not_equal(prediction->candidates[i].text, "");
    }
    assert_int_equal(prediction->candidates[prediction->count - 1].path, GBA_PATH_FALLBACK);
}

/* The common part of prediction and agreement: without the number of a group, and without the name
 * of the host of a member. */
static void compare(struct harness *w, uint32_t hosts, uint32_t members)
{
    gba_remote_t remote = {.name = NULL};
    gba_team_attr_t attr = {.params = &w->params,
                            .device = w->device,
                            .device_status = GBA_ERR_NO_DEVICE,
                            .remote = &remote,
                            .oversubscribed = w->oversubscribed,
                            .id = 1};
    gba_prediction_t prediction;
    char *common = prediction.why, *rank;

    assert_int_equal(gba_team_predict(&attr, hosts, members, &prediction), GBA_OK);
    check_candidates(&prediction);
    assert_int_equal(0 != prediction.candidates[prediction.count - 1].cost, hosts > 1);
    if (strstr(common, "a group of 32") != NULL) /* a number instead of "a" */
        common = strstr(common, " of 32");
    rank = strstr(common, " (rank");
    if (rank != NULL)
        *rank = '\0';
    for (uint32_t r = 0; r < hosts * members; r++)
        w->host[r] = r / members;
    w->expected = common;
    harness_run(w, hosts * members, prediction.path);
}

static void compare_all(struct harness *w, uint32_t hosts_max)
{
    for (int hierarchy = GBA_HIERARCHY_AUTO; hierarchy <= GBA_HIERARCHY_NODE; hierarchy++)
        for (int algorithm = GBA_ALGORITHM_AUTO; algorithm <= GBA_ALGORITHM_TREE; algorithm++)
            for (uint32_t hosts = 1; hosts <= hosts_max; hosts += 2)
                for (uint32_t members = 1; members <= 3; members++) {
                    w->params.hierarchy = hierarchy;
                    w->params.sw_algorithm = algorithm;
                    w->oversubscribed = 3 == members;
                    compare(w, hosts, members);
                }
}

HARNESS_TEST(test_software, harness_on(NULL))
{
    w->rounds = 3;
    compare_all(w, 5);
}

HARNESS_TEST(test_simulated_device, harness_on("sim"))
{
    w->rounds = 3;
    compare_all(w, 1);
    w->device->members_max = 2; /* more members than a group can have */
    compare_all(w, 1);
}

/* All hosts reach the same device, as only real ones do. */
HARNESS_TEST(test_device_of_all_hosts, harness_on("sim"))
{
    w->rounds = 3;
    w->device->kind = GBA_PATH_DEVICE;
    compare_all(w, 5);
    w->device->members_max = 2;
    compare_all(w, 5);
    w->device->kind = GBA_PATH_SIM;
}

/* The leaders are not tried where no group is free. */
HARNESS_TEST(test_no_group_free, harness_on("sim?full=1"))
{
    w->rounds = 3;
    w->device->kind = GBA_PATH_DEVICE;
    compare_all(w, 3);
    w->device->kind = GBA_PATH_SIM;
}

TEST(test_invalid_shapes)
{
    gba_params_t params;
    gba_team_attr_t attr = {.params = &params, .device_status = GBA_ERR_NO_DEVICE};
    gba_prediction_t prediction;

    gba_params_default(&params);
    assert_int_equal(gba_team_predict(&attr, 0, 1, &prediction), GBA_ERR_PARAM);
    assert_int_equal(gba_team_predict(&attr, 1, 0, &prediction), GBA_ERR_PARAM);
    assert_int_equal(gba_team_predict(&attr, 1u << 20, 17, &prediction), GBA_ERR_PARAM);
    /* Without messages no software barrier spans hosts. */
    assert_int_equal(gba_team_predict(&attr, 2, 1, &prediction), GBA_OK);
    assert_int_equal(prediction.path, GBA_PATH_FALLBACK);
}

TEST_MAIN()

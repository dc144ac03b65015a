/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barrier groups among the leaders of nodes, or of the nodes of two switch domains, that are
 * refused or lack another resource: the path of all members, and the member that is named.
 */
#include "tests/unit/log_catch.h"
#include "tests/unit/team/team_harness.h"

#define LACKS(what) .lacks = offsetof(struct harness, no_##what)

/* EACH as a member: one after the other. Without a leader's resource there is no group. */
#define EACH (NOBODY - 1)

/*
 * One device: 7 members, node k of 3 has ranks k, k + 3, ...; two: 9 members, node k of 5 has ranks
 * k and k + 5, and the nodes 0, 2 and 4 have the first device.
 */
static const struct refusal {
    const char *device[2];
    int hierarchy;
    /* The call that fails, at the device of that node's domain, for that node: */
    enum harness_call call;
    gba_status_t status; /* GBA_OK: no call fails */
    uint32_t node;
    size_t lacks; /* what a member lacks; 0: nothing */
    uint32_t member;
    gba_path_t path;
    gba_status_t reason;
    uint32_t culprit; /* EACH: the node, or the member */
    const char *also; /* in the text */
} refusals[] = {
#define LEADERS(...) .device = {__VA_ARGS__}, .hierarchy = GBA_HIERARCHY_NODE
#define DOMAINS(...) .device = {__VA_ARGS__}
#define SOFTWARE     .path = GBA_PATH_SOFTWARE, .reason
#define FALLBACK     .path = GBA_PATH_FALLBACK, .reason
#define GROUP        .path = GBA_PATH_SIM, .reason = GBA_OK
#define JOIN         .call = HARNESS_JOIN, .status
#define ARM          .call = HARNESS_CONFIGURE, .status
    /* clang-format off */
    {LEADERS("sim"), GROUP},
    {LEADERS("sim?full=1"), SOFTWARE = GBA_ERR_NO_GROUP},
    {LEADERS("sim"), JOIN = GBA_ERR_OTHER_DEVICE, .node = EACH,
     SOFTWARE = GBA_ERR_OTHER_DEVICE, .culprit = EACH},
    {LEADERS("sim?refuse_rank=0"), SOFTWARE = GBA_ERR_REFUSED, .culprit = 0},
    {LEADERS("sim?refuse_rank=1"), SOFTWARE = GBA_ERR_REFUSED, .culprit = 1},
    {LEADERS("sim?refuse_rank=2"), SOFTWARE = GBA_ERR_REFUSED, .culprit = 2},
    {LEADERS("sim"), ARM = GBA_ERR_IO, SOFTWARE = GBA_ERR_IO},
    {LEADERS("sim"), LACKS(device), .member = EACH, SOFTWARE = GBA_ERR_NO_DEVICE, .culprit = EACH},
    /* A refusal of the software barrier alone has no effect as long as there is a group. */
    {LEADERS("sim"), LACKS(remote), .member = 4, GROUP},
    {LEADERS("sim"), LACKS(software), .member = 5, GROUP},
    {LEADERS("sim"), LACKS(open), .member = 2, GROUP},
    {LEADERS("sim"), JOIN = GBA_ERR_OTHER_DEVICE, .node = 1, LACKS(remote), .member = 4,
     FALLBACK = GBA_ERR_OTHER_DEVICE, .culprit = 1},
    {LEADERS("sim"), JOIN = GBA_ERR_OTHER_DEVICE, .node = 1, LACKS(software), .member = 5,
     FALLBACK = GBA_ERR_OTHER_DEVICE, .culprit = 1},
    {LEADERS("sim"), JOIN = GBA_ERR_OTHER_DEVICE, .node = 1, LACKS(open), .member = 2,
     FALLBACK = GBA_ERR_OTHER_DEVICE, .culprit = 1, .also = "no software barrier: out of memory"},
    /* Without the memory of its node the team has neither a group nor a software barrier. */
    {LEADERS("sim"), LACKS(host), .member = 6, FALLBACK = GBA_ERR_IO, .culprit = 6},
    {LEADERS("sim"), LACKS(attach), .member = 5, FALLBACK = GBA_ERR_STALE, .culprit = 5},

    {LEADERS("sim", "sim"), GROUP},
    {DOMAINS("sim", "sim?full=1"), SOFTWARE = GBA_ERR_NO_GROUP, .culprit = 1},
    /* With auto there would be no group of all members in the first proposal. */
    {LEADERS("sim?full=1", "sim"), SOFTWARE = GBA_ERR_NO_GROUP},
    {LEADERS("sim", "sim"), JOIN = GBA_ERR_OTHER_DEVICE, .node = EACH,
     SOFTWARE = GBA_ERR_OTHER_DEVICE, .culprit = EACH},
    {LEADERS("sim", "sim"), ARM = GBA_ERR_IO, .node = 0, SOFTWARE = GBA_ERR_IO, .culprit = 0},
    {LEADERS("sim", "sim"), ARM = GBA_ERR_IO, .node = 1, SOFTWARE = GBA_ERR_IO, .culprit = 1},
    {DOMAINS("sim", "sim"), LACKS(device), .member = EACH,
     SOFTWARE = GBA_ERR_NO_DEVICE, .culprit = EACH},
    {LEADERS("sim", "sim"), LACKS(device), .member = EACH,
     SOFTWARE = GBA_ERR_NO_DEVICE, .culprit = EACH},
    /* The domain leaders need messages, and a software barrier. Member 2 is none. */
    {DOMAINS("sim", "sim"), LACKS(remote), .member = 1,
     FALLBACK = GBA_ERR_UNSUPPORTED, .culprit = 1},
    {DOMAINS("sim", "sim"), LACKS(remote), .member = 2, GROUP},
    {DOMAINS("sim", "sim"), LACKS(open), .member = 0, FALLBACK = GBA_ERR_NOMEM},
    {DOMAINS("sim", "sim"), LACKS(open), .member = 2, GROUP},
    {DOMAINS("sim", "sim"), LACKS(software), .member = 7,
     FALLBACK = GBA_ERR_OTHER_DEVICE, .culprit = 1},
    {DOMAINS("sim", "sim"), .hierarchy = GBA_HIERARCHY_FLAT,
     SOFTWARE = GBA_ERR_OTHER_DEVICE, .culprit = 1},
    /* clang-format on */
};

/* each: of the node or member, if the row has one after the other. */
static void refused(const struct refusal *row, uint32_t each)
{
    const bool domains = row->device[1] != NULL;
    const uint32_t size = domains ? 9 : 7, nodes = domains ? 5 : 3;
    const uint32_t node = EACH == row->node ? each : row->node;
    struct harness *w = domains ? harness_of_domains(row->device[0], row->device[1], row->device[0])
                                : harness_of_leaders(row->device[0]);
    gba_path_t path = EACH == row->member && each >= nodes ? GBA_PATH_SIM : row->path;
    char text[128];

    w->params.hierarchy = row->hierarchy;
    if (GBA_OK != row->status)
        harness_fail(w, domains ? w->switches[node % 2] : w->device, row->call,
                     HARNESS_CONFIGURE == row->call ? 0
                     : domains                      ? node / 2
                                                    : node,
                     row->status);
    if (0 != row->lacks)
        *(uint32_t *)(void *)((char *)w + row->lacks) = EACH == row->member ? each : row->member;
    snprintf(text, sizeof text, "%s%s (member %u)",
             GBA_ERR_NO_DEVICE == row->reason ? "" : "no device: ", gba_status_text(row->reason),
             EACH == row->culprit ? each : row->culprit);
    w->expected = GBA_PATH_SIM != path ? text
                  : domains            ? "groups among the leaders of 5 hosts"
                                       : "among the leaders of 3 hosts";
    if (domains)
        harness_place(w, size, nodes, 2, 0);
    else
        harness_hosts(w, size, nodes, 0);
    harness_run(w, size, path);
    if (row->also != NULL)
        assert_non_null(strstr(w->why[0], row->also));
    harness_end(w);
}

TEST(test_refusals)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const struct refusal *row = &refusals[i];
        const uint32_t nodes = row->device[1] == NULL ? 3 : 5;
        const uint32_t rows = EACH == row->node     ? nodes
                              : EACH == row->member ? (3 == nodes ? 7 : 9)
                                                    : 1;

        for (uint32_t each = 0; each < rows; each++)
            refused(row, each);
    }
}

/* Members of one host with different devices. */
HARNESS_TEST(test_one_host, harness_of_domains("sim", "sim", "sim"))
{
    for (uint32_t r = 0; r < 4; r++)
        w->devices[r] = w->switches[r % 2];
    w->expected = "through shared memory, 4 members on 1 host; no device: this member and";
    harness_run(w, 4, GBA_PATH_SOFTWARE);
    w->params.hierarchy = GBA_HIERARCHY_NODE; /* only its leader's device counts */
    w->expected = "group 0 of 32 among the leaders of 1 host, 4 members";
    harness_run(w, 4, GBA_PATH_SIM);
}

TEST_MAIN(gba_log_set(log_drop, NULL, GBA_LOG_ERROR))

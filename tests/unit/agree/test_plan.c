/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of candidates (gba/agree/plan.c): a bounded search of hosts, switches, capabilities,
 * parameters and refusals. The loop tries the usable candidates of the list in its order, each
 * once; deriving the list again from the same information changes nothing; and a team without a
 * group has a reason.
 */

#include "gba/agree/plan.h"
#include "tests/suite.h"

#define SIZE     4u
#define SWITCHES 2u

/* The numbers of one case, each below its limit. */
enum { HOSTS, HIERARCHY, ALGORITHM, OFFLOAD, ONE, MULTI, LACKS0, LACKS1, WEAK, STATUS, DUE };
#define COSTS (DUE + 1)
static const uint32_t limits[] = {
    [HOSTS] = 3,  [HIERARCHY] = 3, [ALGORITHM] = 3, [OFFLOAD] = 3, [ONE] = 2, [MULTI] = 2,
    [LACKS0] = 2, [LACKS1] = 2,    [WEAK] = 4,      [STATUS] = 2,  [DUE] = 4, [COSTS] = 3};
#define NUMBERS (sizeof limits / sizeof limits[0])

static void info_fill(struct gba_info *info, const uint32_t *n)
{
    static const uint8_t algorithms[] = {GBA_ALGORITHM_AUTO, GBA_ALGORITHM_V3, GBA_ALGORITHM_TREE};
    struct gba_cluster cluster;

    memset(info, 0, sizeof *info);
    info->size = SIZE;
    info->one_host = 0 == n[HOSTS];
    info->hosts = info->one_host ? 1 : 0;
    info->one_device = 0 != n[ONE];
    info->terms.hierarchy = (uint8_t)n[HIERARCHY];
    info->terms.algorithm = algorithms[n[ALGORITHM]];
    info->terms.offload = (uint8_t)(GBA_OFFLOAD_FASTEST + n[OFFLOAD]);
    info->terms.min_hosts = 2 + (n[ALGORITHM] & 1);
    info->together = 2 == n[ALGORITHM];
    info->terms.radix = 8;
    info->terms.members_max = 708;
    info->terms.multi_device = (uint8_t)n[MULTI];
    info->terms.status = 0 == n[STATUS] ? GBA_OK : GBA_ERR_NO_DEVICE;
    info->terms.trial_fallback = 1;
    info->largest = info->one_host ? SIZE : 2;
    gba_cluster_default(&cluster);
    gba_cost_terms_set(&info->terms.cost, &cluster);
    if (1 == n[COSTS])
        info->terms.cost.device = 1000000; /* no faster than software */
    if (2 == n[COSTS])
        info->terms.cost.send = 0; /* a round costs as much as a message, so radix is faster */
    if (1 == n[WEAK])
        info->disabled = (struct gba_refusal){GBA_ERR_DISABLED, 1};
    if (2 == n[WEAK])
        info->remote = (struct gba_refusal){GBA_ERR_NO_TRANSPORT, 2};
    if (3 == n[WEAK])
        info->memory = (struct gba_refusal){GBA_ERR_NOMEM, 3};
}

/* With `offload` fastest the software barriers are in the order of their cost, but for the first
 * one, which may be slower by half; a device that is no faster is excluded. */
static void check_order(const struct gba_list *list, const struct gba_info *info, gba_due_t due)
{
    const struct gba_candidate *first = NULL, *last = NULL;

    for (uint32_t i = 0; i < list->count && 0 != info->hosts; i++) {
        const struct gba_candidate *c = &list->candidates[i];

        assert_true((GBA_KIND_FALLBACK == c->kind) == (0 == c->cost));
        assert_false(info->together && GBA_AT_EACH == c->switch_index);
        if (GBA_OFFLOAD_FASTEST != info->terms.offload || GBA_DUE_TRIAL == due)
            continue;
        if (c->kind <= GBA_KIND_LEADERS && info->terms.cost.device > 10000 &&
            GBA_OK == info->memory.reason && GBA_OK == info->disabled.reason &&
            GBA_OK == info->remote.reason && GBA_ALGORITHM_V3 != info->terms.algorithm)
            assert_int_not_equal(c->refusal.reason, GBA_OK);
        if (GBA_KIND_SOFTWARE != c->kind)
            continue;
        if (last != NULL && last != first)
            assert_true(last->cost <= c->cost || c->cost > first->cost);
        if (first == NULL)
            first = c;
        assert_true(gba_cost_preferred(first->cost) <= c->cost);
        last = c;
    }
}

static void switches_fill(struct gba_info *info, const uint32_t *n)
{
    struct gba_switches *switches = &info->switches;

    switches->count = 0 != info->terms.multi_device ? SWITCHES : 1;
    for (uint32_t i = 0; i < switches->count; i++) {
        switches->key[i] = 1 + i;
        switches->members_max[i] = 708;
        switches->lacking[i] = 0 != n[0 == i ? LACKS0 : LACKS1] ? 1 : UINT32_MAX;
    }
}

/* The loop, with refusals: a bit for each attempt. Returns the number of attempts. */
static uint32_t walk(const uint32_t *n, gba_due_t due, uint32_t refusals)
{
    static struct gba_list list, again;
    struct gba_info info;
    uint32_t at, tries = 0, grown = 0;

    info_fill(&info, n);
    memset(&list, 0, sizeof list);
    gba_plan_list(&list, &info, due);
    for (;;) {
        const enum gba_need need = gba_plan_next(&list, &at);

        assert_true(list.count <= GBA_LIST_MOST);
        check_order(&list, &info, due);
        again = list;
        gba_plan_list(&again, &info, due);
        assert_int_equal(again.count, list.count);
        for (uint32_t i = 0; i < list.count; i++) {
            assert_int_equal(again.candidates[i].kind, list.candidates[i].kind);
            assert_int_equal(again.candidates[i].tried, list.candidates[i].tried);
        }
        if (GBA_NEED_NOTHING == need && at == list.count) {
            assert_int_not_equal(due, GBA_DUE_CREATE); /* the runtime's barrier is left */
            assert_int_not_equal(due, GBA_DUE_RECOVER);
            if (GBA_DUE_REQUEST == due)
                assert_int_not_equal(gba_plan_reason(&list).reason, GBA_OK);
            return tries;
        }
        if (GBA_NEED_NOTHING != need) {
            assert_true(++grown <= 2);
            if (GBA_NEED_SWITCHES == need) {
                assert_int_equal(info.switches.count, 0);
                switches_fill(&info, n);
            } else {
                assert_int_equal(info.hosts, 0);
                info.hosts = 1 + n[HOSTS];
            }
            gba_plan_list(&list, &info, due);
            continue;
        }
        assert_false(list.candidates[at].tried);
        assert_int_equal(list.candidates[at].refusal.reason, GBA_OK);
        if (list.candidates[at].kind <= GBA_KIND_LEADERS) {
            assert_int_not_equal(info.terms.offload, GBA_OFFLOAD_NEVER);
            assert_int_equal(info.terms.status, GBA_OK);
            assert_int_not_equal(due, GBA_DUE_RECOVER);
        }
        if (GBA_KIND_SOFTWARE == list.candidates[at].kind) {
            assert_int_equal(info.memory.reason, GBA_OK);
            assert_int_equal(info.disabled.reason, GBA_OK);
        }
        for (uint32_t i = 0; i < at; i++)
            assert_true(list.candidates[i].tried || GBA_OK != list.candidates[i].refusal.reason);
        assert_true(++tries < 32);
        if (GBA_DUE_TRIAL == due && 0 == (refusals >> (tries - 1) & 1)) {
            list.candidates[at].tried = true;
            continue;
        }
        if (GBA_KIND_FALLBACK == list.candidates[at].kind || 0 == (refusals >> (tries - 1) & 1)) {
            if (list.candidates[at].kind > GBA_KIND_LEADERS && GBA_DUE_CREATE == due)
                assert_int_not_equal(gba_plan_reason(&list).reason, GBA_OK);
            return tries;
        }
        gba_plan_refuse(&list, at, (struct gba_refusal){GBA_ERR_NO_GROUP, 1}, GBA_DUE_TRIAL != due);
    }
}

/* Info of `hosts` hosts with `ranks` ranks each, with a device of a description. */
static void info_of_hosts(struct gba_info *info, uint32_t hosts, uint32_t ranks, uint8_t offload)
{
    static const uint32_t none[NUMBERS] = {[HOSTS] = 2, [ONE] = 1};

    info_fill(info, none);
    info->size = hosts * ranks;
    info->hosts = hosts;
    info->largest = ranks;
    info->terms.offload = offload;
    info->terms.cost.device = 1000;
    info->terms.cost.port = 4;
}

/* With `offload` fastest a group of the leaders comes first where it is expected to be much faster,
 * which the members find out with the hosts only if there can be such a group. */
TEST(test_leaders_first)
{
    static struct gba_list list;
    struct gba_info info;
    uint32_t at;

    info_of_hosts(&info, 88, 8, GBA_OFFLOAD_FASTEST);
    gba_plan_list(&list, &info, GBA_DUE_CREATE);
    assert_int_equal(gba_plan_next(&list, &at), GBA_NEED_NOTHING);
    assert_int_equal(list.candidates[at].kind, GBA_KIND_LEADERS);
    assert_true(list.candidates[at].cost < list.candidates[at + 1].cost);
    assert_int_equal(list.candidates[at + 1].kind, GBA_KIND_ALL);
    info.hosts = 0;
    gba_plan_list(&list, &info, GBA_DUE_CREATE);
    assert_int_equal(gba_plan_next(&list, &at), GBA_NEED_LAYOUT);
    /* The user wants a device at work, or no node has several members, or memory lacks. */
    info_of_hosts(&info, 88, 8, GBA_OFFLOAD_ALWAYS);
    gba_plan_list(&list, &info, GBA_DUE_CREATE);
    assert_int_equal(list.candidates[0].kind, GBA_KIND_ALL);
    info_of_hosts(&info, 88, 1, GBA_OFFLOAD_FASTEST);
    gba_plan_list(&list, &info, GBA_DUE_CREATE);
    assert_int_equal(list.candidates[0].kind, GBA_KIND_ALL);
    info_of_hosts(&info, 88, 8, GBA_OFFLOAD_FASTEST);
    info.memory = (struct gba_refusal){GBA_ERR_NOMEM, 3};
    gba_plan_list(&list, &info, GBA_DUE_CREATE);
    assert_int_equal(list.candidates[0].kind, GBA_KIND_ALL);
    /* No layout for few members. */
    info_of_hosts(&info, 2, 8, GBA_OFFLOAD_FASTEST);
    info.hosts = 0;
    gba_plan_list(&list, &info, GBA_DUE_CREATE);
    assert_int_equal(gba_plan_next(&list, &at), GBA_NEED_NOTHING);
    assert_int_equal(list.candidates[at].kind, GBA_KIND_ALL);
}

TEST(test_search)
{
    static const gba_due_t dues[] = {GBA_DUE_CREATE, GBA_DUE_REQUEST, GBA_DUE_RECOVER,
                                     GBA_DUE_TRIAL};
    uint32_t n[NUMBERS] = {0}, digit, cases = 0;

    do {
        for (uint32_t refusals = 0; refusals < 32; refusals++)
            (void)walk(n, dues[n[DUE]], refusals);
        (void)walk(n, dues[n[DUE]], UINT32_MAX);
        cases++;
        for (digit = 0; digit < NUMBERS && ++n[digit] == limits[digit]; digit++)
            n[digit] = 0;
    } while (digit < NUMBERS);
    assert_int_equal(cases, 3 * 3 * 3 * 3 * 2 * 2 * 2 * 2 * 4 * 2 * 4 * 3);
}

TEST_MAIN()

/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of moe_dispatch that need no other PE: nodes, the router, and the C loop of the
 * product. */
#include "experts.h"
#include "model.h"
#include "nodes.h"
#include "product.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { PES_MAX = 12 };

/* Every source has one forwarder in each node, in a slot of its own. */
static void check_nodes(const int *label, int pes)
{
    struct moe_nodes nodes;

    assert_int_equal(moe_nodes_init(&nodes, label, pes), 0);
    for (int n = 0; n < nodes.count; n++) {
        int used = 0;

        for (int s = 0; s < pes; s++) {
            const int forwarder = moe_forwarder(&nodes, s, n), slot = moe_slot(&nodes, s, n);

            assert_int_equal(nodes.node[forwarder], n);
            assert_in_range(slot, 0, moe_slots(&nodes) - 1);
            assert_int_equal(moe_slot_source(&nodes, forwarder, slot), s);
            if (nodes.node[s] == n)
                assert_int_equal(forwarder, s);
            else if (nodes.local[s] < nodes.size[n])
                assert_int_equal(nodes.local[forwarder], nodes.local[s]);
        }
        for (int i = 0; i < nodes.size[n]; i++)
            for (int slot = 0; slot < moe_slots(&nodes); slot++)
                used += moe_slot_source(&nodes, nodes.member[nodes.first[n] + i], slot) >= 0;
        assert_int_equal(used, pes);
    }
    moe_nodes_fini(&nodes);
}

/* All ways to give up to 6 PEs labels of up to 6 nodes, and some larger ones. */
static void nodes_and_slots(void **state)
{
    const int unequal[PES_MAX] = {0, 0, 7, 0, 0, 0, 7, 0, 0, 9, 0, 0}, one[PES_MAX] = {0};
    int label[6];

    (void)state;
    for (int all = 0; all < 6 * 6 * 6 * 6 * 6 * 6; all++) {
        for (int p = 0, rest = all; p < 6; p++, rest /= 6)
            label[p] = rest % 6;
        check_nodes(label, 6);
    }
    check_nodes(unequal, PES_MAX);
    check_nodes(one, PES_MAX);
    check_nodes(one, 1);
}

static void nodes_are_numbered(void **state)
{
    const int label[] = {5, 3, 5, 3, 8};
    struct moe_nodes nodes;

    (void)state;
    assert_int_equal(moe_nodes_init(&nodes, label, 5), 0);
    assert_int_equal(nodes.count, 3);
    assert_int_equal(nodes.smallest, 1);
    assert_int_equal(nodes.largest, 2);
    assert_int_equal(nodes.node[3], 1);
    assert_int_equal(nodes.local[3], 1);
    assert_int_equal(moe_forwarder(&nodes, 2, 1), 3);
    assert_int_equal(moe_forwarder(&nodes, 2, 2), 4); /* its only PE forwards for all */
    moe_nodes_fini(&nodes);
}

static void routes_are_possible(void **state)
{
    const struct moe_shape shape = {3, 2, 50, 4, 6, .seed = 1};
    struct moe_choice choice[MOE_TOP_K_MAX];

    (void)state;
    for (int t = 0; t < shape.tokens; t++) {
        unsigned seen = 0;

        moe_route(&shape, 1, 2, t, choice);
        for (int j = 0; j < shape.top_k; j++) {
            assert_in_range(choice[j].expert, 0, 5);
            assert_in_range((int)choice[j].gate, 1, MOE_GATE_MAX);
            seen |= 1u << choice[j].expert;
        }
        assert_int_equal(seen, 0x3f); /* no expert twice */
    }
}

/* Expert e is drawn as often as 1 / (e + 1)^2. */
static void a_hot_expert(void **state)
{
    double popular[4];
    struct moe_shape shape = {2, 2, 8000, 1, 1, .seed = 3, .popular = popular, .communication = 1};
    struct moe_choice choice[MOE_TOP_K_MAX];
    struct moe_model model;
    int count[4] = {0};

    (void)state;
    moe_zipf(&shape, 2, popular);
    assert_int_equal(moe_sum_max(&shape), 8 * 7);
    assert_int_equal(moe_model_init(&model, &shape), 0);
    for (int t = 0; t < shape.tokens; t++) {
        moe_route(&shape, 1, 0, t, choice);
        count[choice[0].expert]++;
        /* Without weights the result is the row times its gate. */
        assert_int_equal(moe_model_result(&model, 1, 0, t)[0],
                         (int)choice[0].gate * moe_token_value(&shape, 1, 0, t, 0));
    }
    moe_model_fini(&model);
    for (int e = 0; e < 4; e++)
        assert_in_range(count[e], 7200 / (1.4236 * (e + 1) * (e + 1)),
                        8800 / (1.4236 * (e + 1) * (e + 1)));
}

/* The model is the sum of the products, and no sum is above the bound. */
static void product_is_the_models(void **state)
{
    enum { HIDDEN = 5, TOP_K = 3 };
    const struct moe_shape shape = {2, 2, 20, HIDDEN, TOP_K, .seed = 9};
    float x[HIDDEN], w[HIDDEN * HIDDEN], y[HIDDEN], sum[HIDDEN];
    struct moe_choice choice[MOE_TOP_K_MAX];
    struct moe_model model;

    (void)state;
    assert_int_equal(moe_sum_max(&shape), 8 * 7 * 3 * HIDDEN * TOP_K);
    assert_int_equal(moe_model_init(&model, &shape), 0);
    for (int t = 0; t < shape.tokens; t++) {
        const int32_t *result = moe_model_result(&model, 4, 1, t);

        moe_route(&shape, 4, 1, t, choice);
        memset(sum, 0, sizeof sum);
        for (int i = 0; i < HIDDEN; i++)
            x[i] = (float)moe_token_value(&shape, 4, 1, t, i);
        for (int j = 0; j < TOP_K; j++) {
            for (int i = 0; i < HIDDEN * HIDDEN; i++)
                w[i] = (float)moe_weight(&shape, choice[j].expert, i / HIDDEN, i % HIDDEN);
            moe_product(1, HIDDEN, x, w, y);
            for (int i = 0; i < HIDDEN; i++)
                sum[i] += choice[j].gate * y[i];
        }
        for (int i = 0; i < HIDDEN; i++) {
            assert_true(sum[i] == (float)result[i]);
            assert_in_range(result[i] + moe_sum_max(&shape), 0, 2 * moe_sum_max(&shape));
        }
    }
    moe_model_fini(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_and_slots),       cmocka_unit_test(nodes_are_numbered),
        cmocka_unit_test(routes_are_possible),   cmocka_unit_test(a_hot_expert),
        cmocka_unit_test(product_is_the_models),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

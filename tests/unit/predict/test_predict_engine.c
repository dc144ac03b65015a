/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulation behind gba_predict: exact where a formula can be written down, the same for the
 * same seed, and small enough for a million ranks.
 */
#include "gba/params.h"
#include "sim/predict/candidates.h"
#include "sim/predict/queue.h"
#include "sim/predict/random.h"
#include "tests/suite.h"

static struct gba_cluster c;
static struct predict_setup setup;

static int defaults(void **state)
{
    (void)state;
    gba_cluster_default(&c);
    c.o_send = 210000;
    c.o_recv = 190000;
    c.device_release = 3000;
    setup = (struct predict_setup){
        .cluster = &c, .hosts = 1, .ranks = 1, .radix = 8, .barriers = 1, .seed = 1};
    return 0;
}

#define EXACT(name) TEST_WITH(name, defaults, NULL, NULL)

static struct predict_result run(uint32_t hosts, uint32_t ranks, int32_t hierarchy,
                                 int32_t algorithm, bool group)
{
    struct predict_result result;

    setup.hosts = hosts;
    setup.ranks = ranks;
    setup.choice = (struct gba_choice){hierarchy, algorithm, group, false, 0};
    assert_int_equal(predict_run(&setup, &result), GBA_OK);
    return result;
}

static uint64_t time_of(uint32_t hosts, uint32_t ranks, int32_t hierarchy, int32_t algorithm,
                        bool group)
{
    const struct predict_result result = run(hosts, ranks, hierarchy, algorithm, group);

    assert_int_equal(result.mean, result.after.median);
    assert_int_equal(result.mean, result.slowest.most);
    return result.mean;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* One rank on each of n hosts of one leaf switch, by LogGP. */
static void formulas(void)
{
    const uint64_t o = c.o_send + c.o_recv, wire = c.L + (GBA_CLUSTER_BYTES - 1) * c.G;
    const uint64_t out = c.g + (GBA_CLUSTER_BYTES - 1) * c.G; /* from one departure to the next */
    const uint64_t next = 0 != c.o_next ? c.o_next : c.o_send;

    for (uint32_t n = 2; n <= 8; n++) {
        const uint64_t rounds = n > 4 ? 3 : n > 2 ? 2 : 1;

        assert_int_equal(time_of(n, 1, GBA_HIERARCHY_FLAT, GBA_ALGORITHM_V1, false),
                         rounds * (o + wire));
        /* One round: n - 1 messages one after the other. The slowest of processors and adapters
         * sets the pace; or all have come when the processor has sent its own. */
        assert_int_equal(time_of(n, 1, GBA_HIERARCHY_NODE, GBA_ALGORITHM_V2, false),
                         larger(o + wire + (n - 2) * larger(larger(next, c.o_recv), out),
                                c.o_send + (n - 2) * next + (n - 1) * c.o_recv));
        /* One level: the root receives n - 1 messages that come together, then sends as many. */
        assert_int_equal(time_of(n, 1, GBA_HIERARCHY_NODE, GBA_ALGORITHM_TREE, false),
                         2 * (o + wire) + (n - 2) * (larger(c.o_recv, c.g) + larger(next, out)));
    }
}

EXACT(test_messages)
{
    const uint64_t wire = c.L + (GBA_CLUSTER_BYTES - 1) * c.G;

    formulas();
    c.o_recv = 230000; /* slower to receive than to send */
    formulas();
    c.o_next = 100000; /* the first message costs more than the next ones */
    formulas();
    c.g = 300000; /* the adapters are the slowest */
    formulas();
    defaults(NULL);
    setup.radix = 2; /* the tree of 7 has two full levels */
    assert_int_equal(time_of(7, 1, GBA_HIERARCHY_NODE, GBA_ALGORITHM_TREE, false),
                     6 * (c.o_send + c.o_recv) + 4 * wire);
    c.leaf = 1; /* two leaves of one pod */
    assert_int_equal(time_of(2, 1, GBA_HIERARCHY_FLAT, GBA_ALGORITHM_V1, false),
                     c.o_send + wire + c.pod_hops * c.hop + c.o_recv);
    c.pod = 1;
    assert_int_equal(time_of(2, 1, GBA_HIERARCHY_FLAT, GBA_ALGORITHM_V1, false),
                     c.o_send + wire + c.far_hops * c.hop + c.o_recv);
}

EXACT(test_device)
{
    const uint64_t way = c.device_issue + c.device_up + c.device_match + c.device_down;
    const uint64_t message = c.o_send + c.L + (GBA_CLUSTER_BYTES - 1) * c.G + c.o_recv;

    c.sockets = 1;
    for (uint32_t n = 2; n <= 8; n++) {
        const uint64_t device = way + (n - 1) * (c.device_accept + c.device_release);

        assert_int_equal(time_of(n, 1, GBA_HIERARCHY_FLAT, 0, true), device);
        assert_int_equal(time_of(1, n, GBA_HIERARCHY_FLAT, 0, true), device);
        assert_int_equal(time_of(n, 3, GBA_HIERARCHY_NODE, 0, true),
                         3 * c.atomic + c.store + device + c.store_issue + c.store +
                             GBA_CLUSTER_RELOAD);
    }
    /* Two switch domains of 708 hosts, the leaders on one leaf switch; a domain of one host, which
     * has no group. */
    c.leaf = c.pod = 2 * GBA_PORTS_MAX;
    c.device_accept = c.device_release = 1000;
    assert_int_equal(time_of(2 * GBA_PORTS_MAX, 1, GBA_HIERARCHY_NODE, 0, true),
                     2 * way + message + (GBA_PORTS_MAX - 1) * 2 * c.device_accept);
    assert_in_range(time_of(GBA_PORTS_MAX + 1, 1, GBA_HIERARCHY_NODE, 0, true), 2 * way,
                    2 * way + message + (GBA_PORTS_MAX - 1) * 2 * c.device_accept);
    setup.choice = (struct gba_choice){GBA_HIERARCHY_FLAT, 0, true, false, 0};
    setup.hosts = GBA_MEMBERS_MAX + 1;
    assert_int_equal(predict_run(&setup, &(struct predict_result){0}), GBA_ERR_TOO_MANY);
}

static struct predict_result run_own(uint32_t hosts, uint32_t ranks)
{
    struct predict_result result;

    setup.hosts = hosts;
    setup.ranks = ranks;
    setup.choice = (struct gba_choice){.hierarchy = GBA_HIERARCHY_FLAT, .fallback = true};
    assert_int_equal(predict_run(&setup, &result), GBA_OK);
    return result;
}

/* Open MPI's own barrier: each algorithm of coll/tuned, by LogGP. */
EXACT(test_own)
{
    const uint64_t message = c.o_send + c.L + (GBA_CLUSTER_BYTES - 1) * c.G + c.o_recv;
    static const struct {
        uint32_t size, rounds;
        const char *name;
    } cases[] = {{1, 0, "recursive doubling"},
                 {2, 1, "recursive doubling"},
                 {3, 2, "recursive doubling"},
                 {8, 3, "recursive doubling"},
                 {32, 5, "recursive doubling"},
                 {64, 6, "bruck"},
                 {256, 16, "tree"},
                 {512, 9, "bruck"},
                 {1024, 20, "tree"},
                 {4096, 12, "bruck"}};

    c.leaf = c.pod = 4096; /* one leaf switch */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(predict_tuned_name(cases[i].size), cases[i].name);
        assert_int_equal(run_own(cases[i].size, 1).mean,
                         cases[i].rounds * message + (3 == cases[i].size) * (c.o_send + c.o_recv));
    }
    for (uint32_t n = 4; n < 8; n++) { /* linear: the root receives all, and sends to all */
        assert_string_equal(predict_tuned_name(n), "linear");
        assert_int_equal(run_own(n, 1).mean, 2 * message + (n - 2) * (c.o_recv + c.o_send));
    }
    assert_int_equal(run_own(16, 8).mean,
                     time_of(16, 8, GBA_HIERARCHY_FLAT, GBA_ALGORITHM_V1, false));
    setup.late = 1000000000; /* nobody leaves before the late one has come */
    for (setup.seed = 1; setup.seed <= 530; setup.seed++) {
        const struct predict_result result = run_own((uint32_t)setup.seed, 1);

        assert_true(result.after.median >= result.skew.median);
    }
}

/* Two ranks on one core: each turn ends a barrier and begins the next one. */
EXACT(test_turns)
{
    struct predict_result result;

    c.cores = 1;
    setup.barriers = 1000;
    result = run(1, 2, GBA_HIERARCHY_NODE, GBA_ALGORITHM_AUTO, false);
    assert_in_range(result.mean, c.turn, c.turn + 2 * (c.atomic + c.store + c.store_issue));
    /* Two hosts of one rank on one machine of one core. */
    c.hosts_per_machine = 2;
    c.L = 0;
    result = run(2, 1, GBA_HIERARCHY_FLAT, GBA_ALGORITHM_V1, false);
    assert_in_range(result.mean, c.turn, 2 * c.turn + 2 * (c.o_send + c.o_recv));
}

/* Eight ranks on one core: what a turn costs more than with two, and interruptions of that core, of
 * a tenth of its time. */
EXACT(test_crowd)
{
    uint64_t alone;

    c.cores = 1;
    setup.barriers = 1000;
    alone = run(1, 8, GBA_HIERARCHY_NODE, GBA_ALGORITHM_AUTO, false).mean;
    c.turn_more = 100000;
    assert_in_range(run(1, 8, GBA_HIERARCHY_NODE, GBA_ALGORITHM_AUTO, false).mean,
                    alone + 7 * 6 * c.turn_more, alone + 9 * 6 * c.turn_more);
    c.turn_more = 0;
    c.noise_rate = 10000;
    c.noise_length = 10000000;
    assert_in_range(run(1, 8, GBA_HIERARCHY_NODE, GBA_ALGORITHM_AUTO, false).mean, alone * 21 / 20,
                    alone * 23 / 20);
    c.noise_rate = 0;
    /* A rank that finds a message looks for more: o_recv has both looks. */
    c.hosts_per_machine = 3;
    c.poll = c.o_recv / 2;
    c.L = c.g = c.G = 0;
    alone = run(3, 1, GBA_HIERARCHY_NODE, GBA_ALGORITHM_V2, false).mean;
    assert_in_range(alone, 3 * (2 * c.o_send + c.o_recv),
                    3 * (2 * c.o_send + c.o_recv + 3 * c.turn));
}

EXACT(test_random)
{
    struct predict_random random = {{1, 2, 3, 4}};
    struct predict_result a, b;

    /* The first numbers of the generators as their authors publish them. */
    assert_int_equal(predict_random_next(&random), 11520);
    assert_int_equal(predict_random_next(&random), 0);
    assert_int_equal(predict_random_next(&random), 1509978240);
    predict_random_seed(&random, 1234567);
    assert_int_equal(random.state[0], UINT64_C(6457827717110365317));
    /* The same input gives the same output. */
    c.noise_rate = 1000;
    c.noise_length = 10000000;
    setup.barriers = 200;
    for (int group = 0; group < 2; group++) {
        a = run(16, 4, GBA_HIERARCHY_NODE, GBA_ALGORITHM_V1, group != 0);
        b = run(16, 4, GBA_HIERARCHY_NODE, GBA_ALGORITHM_V1, group != 0);
        assert_memory_equal(&a, &b, sizeof a);
        setup.seed++;
        b = run(16, 4, GBA_HIERARCHY_NODE, GBA_ALGORITHM_V1, group != 0);
        assert_int_not_equal(a.mean, b.mean);
    }
}

/* Interruptions of 10 us, 100 us apart, in the mean, stretch a rank's work of 20 us by 2 us in the
 * mean. */
EXACT(test_noise)
{
    struct predict_result result;

    c.noise_rate = 10000;
    c.noise_length = 10000000;
    setup.barriers = 20000;
    c.atomic = 20000000;
    result = run(1, 1, GBA_HIERARCHY_FLAT, GBA_ALGORITHM_V1, false);
    assert_int_equal(result.slowest.median, 0);
    c.device_issue = 20000000;
    c.device_up = c.device_down = c.device_match = c.device_accept = 0;
    result = run(1, 1, GBA_HIERARCHY_FLAT, 0, true);
    assert_in_range(result.mean, 21800000, 22400000);
    assert_int_equal(result.slowest.least, 20000000);
    assert_true(result.slowest.most > 30000000);
}

EXACT(test_queue)
{
    struct predict_queue queue = {0};
    struct predict_random random;
    struct predict_event event, before = {0, 0, 0};
    uint32_t pushed = 0, taken = 0;

    predict_random_seed(&random, 1);
    for (; pushed < 1000; pushed++)
        predict_push(&queue, predict_random_next(&random) % 64, pushed, 0);
    while (predict_pop(&queue, &event)) {
        assert_true(event.time > before.time ||
                    (event.time == before.time && event.who >= before.who));
        before = event;
        taken++;
        for (int i = 0; i < 2 && pushed < 100000; i++, pushed++)
            predict_push(&queue, event.time + predict_random_next(&random) % (1u << pushed % 20),
                         pushed, 0);
    }
    assert_int_equal(taken, pushed);
    predict_queue_free(&queue);
}

EXACT(test_scale)
{
    assert_true(run(708, 1412, GBA_HIERARCHY_NODE, 0, true).bytes <= 64 * 708 * 1412);
    assert_true(run(65536, 1, GBA_HIERARCHY_FLAT, GBA_ALGORITHM_V1, false).bytes <= 64 * 65536);
    assert_true(run(65536, 1, GBA_HIERARCHY_NODE, GBA_ALGORITHM_V1, false).bytes <= 64 * 65536);
}

/* The list of gba/agree/plan on hosts of one switch, of two, and on one host. */
EXACT(test_candidates)
{
    static struct predict_list list;
    gba_params_t params;
    struct predict_question question = {.setup = setup, .params = &params};
    uint32_t found;
    uint64_t wanted, even;

    gba_params_default(&params);
    question.setup.cluster = &c;
    for (uint32_t hosts = 1; hosts <= GBA_PORTS_MAX + 1;
         hosts += hosts < 4 ? 1 : GBA_PORTS_MAX - 3) {
        assert_int_equal(predict_candidates(&question, hosts, 4, &list), GBA_OK);
        assert_non_null(predict_fastest(&list, true));
        assert_non_null(predict_fastest(&list, false));
        assert_string_equal(list.candidates[list.count - 1].name, "fallback");
        assert_string_equal(list.candidates[0].name, "device");
        assert_int_equal(list.candidates[0].refused, hosts > 4 ? GBA_ERR_TOO_MANY : GBA_OK);
    }
    assert_int_equal(predict_crossover(&question, 4, 64, &found), GBA_OK);
    assert_int_equal(found, 2);
    assert_int_equal(predict_candidates(&question, 8, 4, &list), GBA_OK);
    assert_int_equal(predict_own(&question, &list), GBA_OK);
    wanted = list.candidates[list.count - 1].result.mean;
    assert_int_equal(
        predict_break_even(&question, &list, predict_fastest(&list, true), wanted, &even), GBA_OK);
    c.device_down += even - predict_device_time(&c); /* with that device both take as long */
    assert_int_equal(predict_candidates(&question, 8, 4, &list), GBA_OK);
    assert_in_range(predict_fastest(&list, true)->result.mean, wanted - 10, wanted + 10);
    c.device_up = 100 * c.L;
    assert_int_equal(predict_crossover(&question, 4, 64, &found), GBA_OK);
    assert_int_equal(found, 0);
}

/* Ranks that begin together drift apart in the first barriers, which do not count. */
EXACT(test_steady)
{
    static struct predict_list list;
    gba_params_t params;
    struct predict_question question = {
        .setup = setup, .params = &params, .signals = 1000, .steady = 7200};
    const struct predict_spread *slowest = &list.candidates[0].result.slowest;
    uint64_t few;

    gba_params_default(&params);
    gba_cluster_default(&c);
    question.setup.barriers = 0;
    list = (struct predict_list){.hosts = 900, .ranks = 8, .count = 1};
    assert_int_equal(predict_own(&question, &list), GBA_OK);
    few = slowest->median;
    question.setup.barriers = 100;
    assert_int_equal(predict_own(&question, &list), GBA_OK);
    assert_in_range(few, slowest->median * 95 / 100, slowest->median * 105 / 100);
}

static int compare_ratios(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/*
 * The formulas of gba/agree/cost against the simulation, over the space of jobs, on hosts with a
 * core for each rank and with two cores, at few switches and at many. What counts is the choice:
 * the candidate that the formulas take.
 */
EXACT(test_formulas)
{
    static const uint32_t hosts[] = {1, 2, 3, 4, 8, 16, 64, 256, 708, 900};
    static const uint32_t ranks[] = {1, 2, 4, 8, 16, 64};
    static const struct {
        uint64_t cores, leaf, pod, hop;
    } clusters[] = {
        {64, 20, 400, 130000}, {2, 20, 400, 130000}, {64, 4, 64, 2000000}, {2, 4, 64, 500000}};
    static double ratios[1000], losses[200];
    static struct predict_list list;
    gba_params_t params;
    struct predict_question question = {.setup = setup, .params = &params, .signals = 1000};
    uint32_t count, jobs;

    gba_params_default(&params);
    gba_cluster_default(&c);
    question.setup.barriers = 0;
    for (size_t at = 0; at < sizeof clusters / sizeof clusters[0]; at++) {
        c.cores = clusters[at].cores;
        c.leaf = clusters[at].leaf;
        c.pod = clusters[at].pod;
        c.hop = clusters[at].hop;
        count = jobs = 0;
        for (size_t i = 0; i < 60; i++) {
            const uint32_t n = hosts[i / 6], m = ranks[i % 6];
            const struct predict_candidate *chosen = NULL, *best;

            if (n * m < 2 || n * m > 8192)
                continue;
            assert_int_equal(predict_candidates(&question, n, m, &list), GBA_OK);
            for (uint32_t k = 0; k < list.count; k++) {
                const struct predict_candidate *candidate = &list.candidates[k];

                if (GBA_OK != candidate->refused || candidate->choice.group)
                    continue;
                assert_true(candidate->formula > 0);
                ratios[count++] = (double)candidate->formula / (double)candidate->result.mean;
                if (chosen == NULL || candidate->formula < chosen->formula)
                    chosen = candidate;
            }
            best = predict_fastest(&list, false);
            assert_true(chosen != NULL && best != NULL);
            if (chosen == NULL || best == NULL)
                continue;
            losses[jobs++] = (double)chosen->result.mean / (double)best->result.mean;
        }
        qsort(ratios, count, sizeof ratios[0], compare_ratios);
        qsort(losses, jobs, sizeof losses[0], compare_ratios);
        print_message("%u cores, leaves of %u: formula / simulation of %u candidates: %.2f to "
                      "%.2f, median %.2f, "
                      "quartiles %.2f, %.2f; the chosen one of %u jobs takes %.2f times the best "
                      "in the median, %.2f in 9 of 10, %.2f at most\n",
                      (unsigned)c.cores, (unsigned)c.leaf, count, ratios[0], ratios[count - 1],
                      ratios[count / 2], ratios[count / 4], ratios[count * 3 / 4], jobs,
                      losses[jobs / 2], losses[jobs * 9 / 10], losses[jobs - 1]);
        assert_true(ratios[count / 4] > 0.5 && ratios[count * 3 / 4] < 2);
        assert_true(losses[jobs / 2] < 1.01 && losses[jobs * 9 / 10] < 1.15 &&
                    losses[jobs - 1] < 2.6);
    }
}

TEST_MAIN()

/* SPDX-License-Identifier: BSD-3-Clause */
/* The latency of gba-switchd, with a clock that only the test advances. */
#include "tests/switch/core_bench.h"

#include "sim/switch/command_line.h"

static struct gba_switch_config with(struct gba_switch_latency latency)
{
    struct gba_switch_config config = bench_config;

    config.latency = latency;
    return config;
}

static void start(struct gba_switch_latency latency, uint32_t sessions)
{
    struct gba_switch_config config = with(latency);

    bench_start(&config);
    for (uint32_t i = 0; i < sessions; i++)
        bench_attach(i, 0, 0);
}

TEST(test_times)
{
    uint64_t begin;

    start((struct gba_switch_latency){.up = 1000, .match = 200, .release = 10, .down = 3000}, 3);
    (void)bench_group(3);
    begin = bench.now;
    bench_arrive(0, 0, 0, 1);
    bench_run_until(begin + 500);
    bench_arrive(1, 0, 1, 1);
    bench_arrive(2, 0, 2, 1);
    bench_run_until(begin + 100000);
    /* The last arrival reaches the switch at 1500. */
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(bench.session[i].releases, 1);
        assert_int_equal(bench.session[i].note[0].time, begin + 1500 + 200 + 10 * i + 3000);
    }
    assert_true(bench.wake == UINT64_MAX);
    bench_end();
}

TEST(test_multicast)
{
    uint64_t begin;

    start((struct gba_switch_latency){.down = 70}, 3);
    (void)bench_group(3);
    begin = bench.now;
    for (uint32_t i = 0; i < 3; i++)
        bench_arrive(i, 0, i, 1);
    bench_run_until(begin + 1000);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(bench.session[i].note[0].time, begin + 70);
    bench_end();
}

/* A read pushes the writes of its port before it, and the releases before its answer. [HOST-6] */
TEST(test_read_pushes)
{
    start((struct gba_switch_latency){.up = 1000000, .down = 1000000}, 2);
    (void)bench_group(2);
    bench_arrive(0, 0, 0, 1);
    bench_arrive(1, 0, 1, 1);
    assert_int_equal(gba_switch_read(bench.device, 0, GBA_GROUP_REG(0, GBA_REG_ARRIVED_COUNT), 4),
                     1);
    assert_int_equal(gba_switch_read(bench.device, 1, GBA_GROUP_REG(0, GBA_REG_SEQUENCE), 4), 1);
    assert_int_equal(bench.session[1].releases, 1);
    assert_int_equal(bench.session[0].releases, 0);
    /* Port 0 withdraws its member. When the read has returned, nothing follows. */
    gba_switch_write(bench.device, 0, GBA_TABLE_ENTRY(0, 0), 8, 0);
    assert_int_equal(gba_switch_read(bench.device, 0, GBA_TABLE_ENTRY(0, 0), 8), 0);
    assert_int_equal(bench.session[0].releases, 1);
    bench_run_until(bench.now + 10000000);
    assert_int_equal(bench.session[0].releases, 1);
    assert_int_equal(bench.session[1].releases, 1);
    bench_end();
}

TEST(test_detach_loses)
{
    start((struct gba_switch_latency){.up = 1000, .down = 1000}, 2);
    (void)bench_group(2);
    bench_arrive(0, 0, 0, 1);
    bench_arrive(1, 0, 1, 1);
    gba_switch_detach(bench.device, 1);
    bench_attach(1, 0, 0);
    assert_int_equal(bench.port[1], 1);
    bench_run_until(bench.now + 1000000);
    /* The arrival was lost with the link; the next user of the port gets nothing. */
    assert_int_equal(bench.session[0].releases, 0);
    assert_int_equal(bench.session[1].releases, 0);
    assert_int_equal(bench.session[1].interrupts, 0);
    assert_int_equal(bench.session[0].interrupts, 1);
    bench_end();
}

/* Many rounds with jitter: each release comes once, in order, and never before its round. */
TEST(test_jitter_keeps_order)
{
    uint64_t shortest = UINT64_MAX, longest = 0;

    start((struct gba_switch_latency){.up = 100, .down = 100, .jitter = 5000, .seed = 7}, 2);
    (void)bench_group(2);
    for (uint32_t round = 1; round <= 500; round++) {
        uint64_t begin = bench.now;

        bench_arrive(0, 0, 0, round);
        bench_arrive(0, 0, 0, round); /* a repeat, on the way at the same time */
        bench_arrive(1, 0, 1, round);
        while (bench.session[0].note[round - 1].sequence != round ||
               bench.session[1].note[round - 1].sequence != round) {
            assert_true(bench.wake != UINT64_MAX);
            bench_run_until(bench.wake);
        }
        for (uint32_t i = 0; i < 2; i++) {
            uint64_t took = bench.session[i].note[round - 1].time - begin;

            assert_true(took >= 200 && took <= 200 + 2 * 5000);
            shortest = took < shortest ? took : shortest;
            longest = took > longest ? took : longest;
        }
        bench_run_until(bench.now + 20000); /* the repeat, and its release, which is one more */
        for (uint32_t i = 0; i < 2; i++)
            bench.session[i].releases = round;
    }
    assert_true(longest - shortest > 5000); /* the jitter varies */
    bench_end();
}

static uint32_t releases_of(uint32_t loss, uint32_t seed)
{
    uint32_t releases;

    start((struct gba_switch_latency){.loss = loss, .seed = seed}, 1);
    (void)bench_group(1);
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t next =
            1 + (uint32_t)gba_switch_read(bench.device, 0, GBA_GROUP_REG(0, GBA_REG_SEQUENCE), 4);

        bench_arrive(0, 0, 0, next);
    }
    releases = bench.session[0].releases;
    bench_end();
    return releases;
}

TEST(test_loss)
{
    uint32_t some = releases_of(100000, 1); /* 10%, on each of two ways: 19% */

    assert_int_equal(releases_of(0, 1), 1000);
    assert_int_equal(releases_of(1000000, 1), 0);
    assert_in_range(some, 740, 880);
    assert_int_equal(releases_of(100000, 1), some); /* the same seed, the same losses */
    assert_int_not_equal(releases_of(100000, 2), some);
}

/* A client that floods its port: memory is bounded, and nothing is lost or overtaken. */
TEST(test_flood)
{
    const struct gba_model *model;

    start((struct gba_switch_latency){.up = 1000000}, 1);
    model = gba_switch_model(bench.device);
    for (uint32_t i = 0; i < 100000; i++)
        bench_arrive(0, 0, 0, 1);
    assert_true(model->bad_access > 0 && model->bad_access < 100000);
    bench_run_until(bench.now + 1000000);
    assert_int_equal(model->bad_access, 100000);
    bench_end();
}

TEST(test_parse)
{
    char refused[] = "|up|up=|up=-1us|up= 1us|up=1 us|up=2s|up=0x1us|up=infs|up=nan|"
                     "loss=1|loss=101%|loss=1us|seed=1s|seed=4294967296|far=1us|up=1us,|"
                     "up=1us,,down=1us";
    struct gba_switch_latency latency = {.match = 5};
    char message[300];

    assert_true(gba_switchd_latency_parse("up=1.5us,release=10ns,down=1s,jitter=0,loss=0.5%,seed=9",
                                          &latency, message, sizeof(message)));
    assert_int_equal(latency.up, 1500);
    assert_int_equal(latency.match, 5);
    assert_int_equal(latency.release, 10);
    assert_int_equal(latency.down, 1000000000);
    assert_int_equal(latency.jitter, 0);
    assert_int_equal(latency.loss, 5000);
    assert_int_equal(latency.seed, 9);
    for (char *rest = refused, *text; (text = strsep(&rest, "|")) != NULL;) {
        if (gba_switchd_latency_parse(text, &latency, message, sizeof(message)))
            fail_msg("\"%s\" was accepted", text);
        assert_non_null(strstr(message, "allowed: "));
    }
}

TEST_MAIN()

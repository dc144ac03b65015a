/* SPDX-License-Identifier: BSD-3-Clause */
/* The core of gba-switchd with sessions that record releases and interrupts, and a clock that only
 * the test advances. */
#ifndef GBA_TESTS_CORE_BENCH_H
#define GBA_TESTS_CORE_BENCH_H

#include "sim/switch/core/switch.h"
#include "tests/suite.h"

#define NOTES 4096u

struct session {
    uint32_t releases, interrupts;
    struct note {
        uint64_t address, time;
        uint32_t group, member, sequence;
    } note[NOTES];
};

struct bench {
    struct gba_switch *device;
    uint64_t now, wake; /* wake: UINT64_MAX, or the time that the core requested */
    uint64_t random;
    struct session session[4];
    int port[4];
};

static struct bench bench;

static uint64_t bench_now(void *context)
{
    return ((struct bench *)context)->now;
}

static void bench_wake(void *context, uint64_t due)
{
    ((struct bench *)context)->wake = due;
}

static uint64_t bench_random(void *context)
{
    return ++((struct bench *)context)->random;
}

static void note_release(void *context, uint64_t address, uint32_t group, uint32_t member,
                         uint32_t sequence)
{
    struct session *session = context;

    assert_true(session->releases < NOTES);
    session->note[session->releases++] = (struct note){.address = address,
                                                       .time = bench.now,
                                                       .group = group,
                                                       .member = member,
                                                       .sequence = sequence};
}

static void note_interrupt(void *context)
{
    ((struct session *)context)->interrupts++;
}

static const struct gba_switch_session_ops bench_ops = {.release = note_release,
                                                        .interrupt = note_interrupt};

static const struct gba_switch_config bench_config = {.groups = 4,
                                                      .ports = 4,
                                                      .uuid = {1, 2},
                                                      .now = bench_now,
                                                      .wake = bench_wake,
                                                      .random = bench_random,
                                                      .context = &bench};

static inline void bench_start(const struct gba_switch_config *config)
{
    memset(&bench, 0, sizeof(bench));
    bench.now = 1000000;
    bench.wake = UINT64_MAX;
    bench.device = gba_switch_create(config);
    assert_non_null(bench.device);
}

/* Attach session i, with that user and job. */
static inline void bench_attach(uint32_t i, uint32_t user, uint64_t job)
{
    struct gba_switch_identity identity = {
        .kind = "test", .user = user, .process = 100 + i, .job = job, .local = true};

    identity.host[0] = (char)('a' + i);
    bench.port[i] = gba_switch_attach(bench.device, &bench_ops, &bench.session[i], &identity);
    if (bench.port[i] >= 0)
        gba_switch_write(bench.device, (uint32_t)bench.port[i], GBA_PORT_REG(GBA_PORT_IRQ_MASK), 4,
                         UINT32_MAX);
}

static inline uint32_t bench_command(uint32_t i, uint32_t command,
                                     struct gba_switch_mailbox *mailbox)
{
    return gba_switch_command(bench.device, (uint32_t)bench.port[i], command, mailbox);
}

static inline uint64_t flag_address(uint32_t member)
{
    return 0x1000 + 8ull * member;
}

/* Make a group whose member m is session m, and arm it. The next round is 1. */
static inline struct gba_switch_mailbox bench_group(uint32_t members)
{
    struct gba_switch_mailbox group = {.group = GBA_GROUP_ANY, .value = members};
    struct gba_switch_mailbox arm;

    assert_int_equal(bench_command(0, GBA_CMD_ALLOC, &group), GBA_RESULT_OK);
    for (uint32_t member = 0; member < members; member++) {
        struct gba_switch_mailbox join = group;

        join.member = member;
        assert_int_equal(bench_command(member, GBA_CMD_JOIN, &join), GBA_RESULT_OK);
        gba_switch_write(bench.device, (uint32_t)bench.port[member],
                         GBA_TABLE_ENTRY(group.group, member), 8, flag_address(member));
    }
    arm = group;
    arm.value = 0;
    assert_int_equal(bench_command(0, GBA_CMD_ARM, &arm), GBA_RESULT_OK);
    return group;
}

static inline void bench_arrive(uint32_t i, uint32_t group, uint32_t member, uint32_t sequence)
{
    const struct gba_model *model = gba_switch_model(bench.device);
    uint32_t generation = model->group[group % GBA_GROUPS].record.generation;

    gba_switch_ring(bench.device, (uint32_t)bench.port[i], group, GBA_BELL_ARRIVAL,
                    GBA_ARRIVAL(sequence, generation, member));
}

/* Advance the clock to each time that the core requested, up to `end`. */
static inline void bench_run_until(uint64_t end)
{
    while (bench.wake <= end) {
        bench.now = bench.wake;
        bench.wake = UINT64_MAX;
        gba_switch_run(bench.device);
    }
    bench.now = end;
}

static inline void bench_end(void)
{
    for (uint32_t port = 0; port < 4; port++)
        gba_switch_detach(bench.device, port);
    gba_switch_destroy(bench.device);
}

#endif

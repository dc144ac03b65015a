/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libFuzzer target: any sequence of accesses to the model. `check` has what must be true after each
 * one; the unit tests of the model (tests/unit/model/test_model*.c) have the rules of device.md one
 * by one. The input is a small language in which making a team, arriving and withdrawing are one
 * letter each, because arbitrary addresses alone would hardly ever complete a round.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/model/model.h"

#define GROUPS_MAX 3 /* isolation needs two; each step copies and compares all groups */
#define PORTS_MAX  3

#define CHECK(cond, rule)                                        \
    do {                                                         \
        if (!(cond)) {                                           \
            fprintf(stderr, "%s violated: %s\n", (rule), #cond); \
            abort();                                             \
        }                                                        \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct gba_model model, before;
static struct gba_model_effects effects;
static const uint8_t *input;
static size_t left;

/* The next bytes of the input as a number; zeros behind its end. */
static uint64_t take(size_t bytes)
{
    uint64_t value = 0;

    for (; bytes > 0 && left > 0; bytes--, left--)
        value = value << 8 | *input++;
    return value;
}

static uint16_t port; /* of the next accesses */
static uint64_t keys; /* given so far */

/* Who has arrived at the round under way, by the arrivals that the device took. The model's own
 * masks are not asked. */
static bool arrived[GROUPS_MAX][GBA_MASK_WORDS * 64];

static bool in_mask(const uint64_t *mask, uint32_t member)
{
    return mask[member / 64] >> member % 64 & 1;
}

/* A member that has not arrived, or 0. */
static uint32_t someone_missing(uint32_t group)
{
    const struct gba_model_core *core = &model.group[group].core;

    for (uint32_t m = 0; m < GBA_MEMBERS_MAX; m++) {
        if (in_mask(core->member_mask, m) && !in_mask(core->arrived_mask, m))
            return m;
    }
    return 0;
}

static uint32_t port_of(uint32_t group, uint32_t member) /* 0 if there is none */
{
    const uint16_t bound = model.group[group].bound[member];

    return bound != 0 ? bound - 1 : 0;
}

static uint32_t next_round(uint32_t group)
{
    return model.group[group].core.sequence + 1;
}

/* The group's masks and count agree, and no round is complete and still under way. */
static void check_round(uint32_t group)
{
    const struct gba_model_core *core = &model.group[group].core;
    const bool ready = (core->control & GBA_CONTROL_ARM) != 0;
    uint32_t count = 0;

    for (uint32_t m = 0; m < GBA_MASK_WORDS * 64; m++) {
        CHECK(!in_mask(core->arrived_mask, m) || in_mask(core->member_mask, m), "GRP-4: a member");
        CHECK(!in_mask(core->arrived_mask, m) || arrived[group][m], "GRP-4: it has arrived");
        count += in_mask(core->arrived_mask, m);
    }
    CHECK(count == core->arrived_count, "GRP-4: ARRIVED_COUNT");
    CHECK(!ready || count < core->member_count, "ARR-3: a round is complete");
    if (count == 0)
        memset(arrived[group], 0, sizeof(arrived[group]));
}

/* The releases of a round go to all members with an address, and nobody is released before all have
 * arrived. Other releases repeat that of a late member. */
static void check_releases(uint32_t group)
{
    const struct gba_model_core *old = &before.group[group].core;

    CHECK(effects.completed || effects.releases <= 1, "ARR-5: one late member");
    for (uint32_t i = 0; i < effects.releases; i++) {
        const struct gba_model_release *release = &effects.release[i];

        CHECK(in_mask(old->member_mask, release->member), "REL-4: a member");
        CHECK(release->address == before.group[group].table[release->member], "REL-4: its address");
        CHECK(release->sequence == model.group[group].core.sequence, "REL-3: the round");
    }
    if (!effects.completed)
        return;
    for (uint32_t m = 0; m < GBA_MEMBERS_MAX; m++)
        CHECK(!in_mask(old->member_mask, m) || arrived[group][m], "ARR-3: an early round");
    CHECK(model.group[group].core.sequence == old->sequence + 1, "SEQ-3: the next round");
    memset(arrived[group], 0, sizeof(arrived[group]));
}

/* A refused access changes only what reports it: in the group, or in the device if the port has
 * nothing to do with the group. */
static void check_refused(uint32_t group)
{
    struct gba_model_core core = before.group[group].core;

    CHECK(effects.releases == 0 && !effects.completed, "ERR-1: no effects");
    if (model.bad_access == before.bad_access) {
        core.counters[GBA_COUNTER_ERR_ACCESS + effects.error - GBA_ERROR_ACCESS]++;
        core.status |= GBA_STATUS_ERROR;
        core.last_error = effects.error;
    }
    CHECK(memcmp(&core, &model.group[group].core, sizeof(core)) == 0, "ERR-1: no change");
}

static void check(const struct gba_model_access *access)
{
    const int group = gba_model_group_of(&model, access->address);
    const uint32_t member = GBA_ARRIVAL_MEMBER(access->value);
    const bool reaches = access->port < model.ports && model.port[access->port].up != 0;
    bool arrives;

    for (int g = 0; access->address < GBA_PORT_BASE && g < GROUPS_MAX; g++)
        CHECK((reaches && g == group) ||
                  memcmp(&before.group[g], &model.group[g], sizeof(model.group[g])) == 0,
              "MAP-2: isolation");
    if (!reaches || group < 0)
        return;
    if (effects.error != GBA_ERROR_NONE) {
        check_refused((uint32_t)group);
        return;
    }
    arrives = access->write && (access->address == GBA_DOORBELL((uint32_t)group) ||
                                access->address == GBA_GROUP_REG((uint32_t)group, GBA_REG_ARRIVAL));
    if (arrives && GBA_ARRIVAL_SEQ(access->value) == before.group[group].core.sequence + 1)
        arrived[group][member] = true;
    if (arrives)
        check_releases((uint32_t)group);
    else
        CHECK(effects.releases == 0 && !effects.completed, "REL-1: only arrivals release");
}

static void step(bool write, uint8_t width, uint32_t address, uint64_t value)
{
    struct gba_model_access access = {.write = write,
                                      .width = width,
                                      .port = port,
                                      .address = address,
                                      .value = value,
                                      .random = ++keys};

    memcpy(before.group, model.group, GROUPS_MAX * sizeof(model.group[0]));
    before.bad_access = model.bad_access;
    memset(&effects, 0xA5, sizeof(effects));
    gba_model_access(&model, &access, &effects);
    check(&access);
    for (uint32_t group = 0; group < GROUPS_MAX; group++)
        check_round(group);
}

static void any_access(void)
{
    static const uint8_t widths[] = {4, 8, 4, 8, 1, 2, 4, 8};
    uint8_t how = (uint8_t)take(1);
    uint32_t group = (uint32_t)take(1) % (GROUPS_MAX + 1);
    uint32_t offset = (uint32_t)take(2);
    uint64_t value = take(8);
    const uint32_t bases[] = {GBA_GROUP_REG(group, offset % GBA_GROUP_STRIDE),
                              GBA_GROUP_REG(group, offset % 0x100),
                              GBA_TABLE_BASE + group * GBA_TABLE_STRIDE + offset % GBA_TABLE_STRIDE,
                              GBA_DOORBELL_BASE + group * GBA_DOORBELL_STRIDE + offset % 0x10,
                              GBA_DEVICE_BASE + offset % 0x1100,
                              GBA_PORT_REG(offset % 0x1A0),
                              GBA_GROUP_REG(group, offset % 0x20),
                              GBA_TABLE_ENTRY(group, offset % 16)};

    step(how & 1, widths[how >> 1 & 7], bases[how >> 4 & 7], value);
}

static void command(uint32_t group, uint32_t code, uint32_t member, uint32_t value)
{
    step(true, 4, GBA_PORT_REG(GBA_PORT_GROUP), group);
    step(true, 4, GBA_PORT_REG(GBA_PORT_MEMBER), member);
    step(true, 4, GBA_PORT_REG(GBA_PORT_VALUE), value);
    step(true, 4, GBA_PORT_REG(GBA_PORT_COMMAND), code);
    step(false, 4, GBA_PORT_REG(GBA_PORT_RESULT), 0);
}

/* A command with the handle of the newest allocation, or with a wrong one. */
static void call(uint32_t group, uint32_t code, uint32_t member, uint32_t value, uint32_t wrong)
{
    step(true, 4, GBA_PORT_REG(GBA_PORT_GENERATION),
         model.group[group].record.generation - (wrong & 1));
    step(true, 8, GBA_PORT_REG(GBA_PORT_KEY), model.group[group].record.key ^ (wrong >> 1 & 1));
    command(group, code, member, value);
}

/* A team of some members, spread over the ports from the current one on. */
static void team(uint32_t group, uint8_t how)
{
    uint32_t members = 1 + how % 6;

    command(group, GBA_CMD_ALLOC, 0, members);
    for (uint32_t m = 0; m < members; m++) {
        port = (uint16_t)((port + (how >> 3 & 1)) % PORTS_MAX);
        call(group, GBA_CMD_JOIN, m, 0, 0);
        step(true, 8, GBA_TABLE_ENTRY(group, m), 0x1000 * (group + 1) + 8 * m);
    }
    call(group, GBA_CMD_ARM, 0, how & 0x20 ? 0xFFFFFFFEu : 0x7FFFFFFEu * (how >> 4 & 1), 0);
}

static void link_changes(uint8_t how)
{
    uint32_t which = how % PORTS_MAX;

    memset(&effects, 0, sizeof(effects));
    if (model.port[which].up == 0 && (how & 0x10))
        gba_model_port_up(&model, which, how >> 6);
    else
        gba_model_port_down(&model, which, &effects);
}

/* With the generation that the group has now. */
static uint64_t arrival(uint32_t group, uint32_t sequence, uint32_t member)
{
    return GBA_ARRIVAL(sequence, model.group[group].record.generation, member);
}

/* A member that is missing arrives, through its port. */
static void arrive_missing(uint32_t group)
{
    uint32_t member = someone_missing(group);

    port = (uint16_t)port_of(group, member);
    step(true, 8, GBA_DOORBELL(group), arrival(group, next_round(group), member));
}

static void one_action(void)
{
    uint8_t letter = (uint8_t)take(1);
    uint32_t group = (letter >> 4 & 3) % GROUPS_MAX, next = next_round(group);
    uint8_t how;

    switch (letter & 15) {
    case 0:
        team(group, (uint8_t)take(1));
        break;
    case 1:
    case 2: /* any command, mostly with a good handle */
        how = (uint8_t)take(1);
        call(group, how % 10, take(1) % 8, take(1) % 4, (how & 0xC0) == 0xC0 ? how >> 4 & 3 : 0);
        break;
    case 3:
        link_changes((uint8_t)take(1));
        break;
    case 4:
    case 5: /* NOTIFY by a member; the port is its own, or any */
        how = (uint8_t)take(1);
        if (how & 0x40)
            port = (uint16_t)port_of(group, how % 8);
        step(true, 8, GBA_DOORBELL(group) + GBA_BELL_NOTIFY,
             arrival(group, next - (how >> 3 & 1), how % 8));
        break;
    case 6:
        step(false, 4, GBA_PORT_REG(GBA_PORT_IRQ_CAUSE), 0);
        step(true, 4, take(1) & 1 ? GBA_PORT_EVENT(group) : GBA_PORT_REG(GBA_PORT_IRQ_MASK),
             take(1));
        break;
    case 7:
        any_access();
        break;
    case 8: /* a low member through any port, late or in time */
        how = (uint8_t)take(1);
        step(true, 8, GBA_GROUP_REG(group, GBA_REG_ARRIVAL),
             arrival(group, next - (how >> 7), how % 8));
        break;
    case 9: /* another port, which may not exist */
        port = (uint16_t)(take(1) % (PORTS_MAX + 1));
        break;
    case 10: /* a whole round, if the group is ready */
        for (int i = 0; i < 6 && next_round(group) == next; i++)
            arrive_missing(group);
        break;
    case 11: /* withdraw */
        step(true, 8, GBA_TABLE_ENTRY(group, take(1) % 8), 0);
        break;
    default:
        arrive_missing(group);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t uuid[2] = {1, 2};

    input = data;
    left = size;
    port = 0;
    keys = 0;
    gba_model_init(&model, GROUPS_MAX, PORTS_MAX, uuid);
    memset(arrived, 0, sizeof(arrived));
    for (uint32_t i = 0; i < PORTS_MAX; i++)
        gba_model_port_up(&model, i, 0);
    while (left > 0)
        one_action();
    return 0;
}

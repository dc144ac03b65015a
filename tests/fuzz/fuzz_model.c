/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libFuzzer target: any sequence of accesses to the model. The shadow checks each access. The input
 * is a small language in which configuring, arriving and withdrawing are one letter each, because
 * arbitrary addresses alone would hardly ever complete a round.
 */
#include <string.h>

#include "tests/fuzz/shadow.h"

#define GROUPS_MAX 3 /* isolation needs two; each step copies and compares all groups */

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

static void step(bool write, uint8_t width, uint32_t address, uint64_t value)
{
    struct gba_model_access access = {
        .write = write, .width = width, .address = address, .value = value};

    memcpy(before.group, model.group, GROUPS_MAX * sizeof(model.group[0]));
    memset(&effects, 0xA5, sizeof(effects));
    gba_model_access(&model, &access, &effects);
    shadow_step(&access, &effects, &before, &model);
}

/* Configure a group, mostly with few members: members 0 to n - 1, or spread over the words of the
 * mask. */
static void configure(uint32_t group, uint8_t how)
{
    uint32_t members = how & 0x80 ? 1 + how % 3 : 1 + how % 8;
    uint32_t stride = how & 0x40 ? 64 : 1;

    step(true, 4, GBA_GROUP_REG(group, GBA_REG_CONTROL), GBA_CONTROL_RESET);
    step(true, 4, GBA_GROUP_REG(group, GBA_REG_MEMBER_COUNT), members);
    for (uint32_t i = 0; i < members; i++) {
        uint32_t member = i * stride;
        uint32_t word = GBA_GROUP_REG(group, GBA_REG_MEMBER_MASK + member / 64 * 8);
        uint64_t mask = stride == 1 ? (2ull << i) - 1 : 1;

        step(true, 8, word, mask);
        step(true, 8, GBA_TABLE_ENTRY(group, member), 0x1000 * (group + 1) + 8 * member);
    }
    /* An address in the table alone does not make a member. */
    if (how & 8)
        step(true, 8, GBA_TABLE_ENTRY(group, members * stride), 0xF0000);
    /* Just below a wrap, so that rounds cross it. */
    step(true, 4, GBA_GROUP_REG(group, GBA_REG_SEQUENCE),
         how & 0x20 ? 0xFFFFFFFEu : 0x7FFFFFFEu * (how >> 4 & 1));
    step(true, 4, GBA_GROUP_REG(group, GBA_REG_CONTROL), GBA_CONTROL_ENABLE | GBA_CONTROL_ARM);
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
                              offset << 8 | group,
                              GBA_GROUP_REG(group, offset % 0x20),
                              GBA_TABLE_ENTRY(group, offset % 16)};

    step(how & 1, widths[how >> 1 & 7], bases[how >> 4 & 7], value);
}

static void one_letter(void)
{
    uint8_t letter = (uint8_t)take(1);
    uint32_t group = (letter >> 4 & 3) % GROUPS_MAX;
    uint32_t next = shadow_sequence(group) + 1;
    uint32_t member;

    switch (letter & 15) {
    case 0:
        configure(group, (uint8_t)take(1));
        break;
    case 1: /* withdraw */
        step(true, 8, GBA_TABLE_ENTRY(group, take(2) % 716), 0);
        break;
    case 2:
        step(true, 4, GBA_GROUP_REG(group, GBA_REG_CONTROL), take(1) & 0x1F);
        break;
    case 3: /* a sequence near the right one, of any member */
        member = (uint32_t)take(2) % 712;
        step(true, 8, GBA_DOORBELL(group), GBA_ARRIVAL(next + (uint8_t)take(1) % 5 - 2, member));
        break;
    case 4:
        step(true, 4, GBA_GROUP_REG(group, GBA_REG_MEMBER_COUNT), take(1) % 10);
        break;
    case 5:
        step(true, 8, GBA_GROUP_REG(group, GBA_REG_MEMBER_MASK), take(1));
        break;
    case 6:
    case 7:
        any_access();
        break;
    case 8: /* a low member, late or in time */
        member = (uint32_t)take(1);
        step(true, 8, GBA_GROUP_REG(group, GBA_REG_ARRIVAL),
             GBA_ARRIVAL(next - (member >> 7), member % 8));
        break;
    case 9: /* a whole round, if the group is ready */
        for (int i = 0; i < 8 && shadow_sequence(group) != next; i++)
            step(true, 8, GBA_DOORBELL(group), GBA_ARRIVAL(next, shadow_someone_missing(group)));
        break;
    default: /* a missing member arrives */
        step(true, 8, GBA_DOORBELL(group), GBA_ARRIVAL(next, shadow_someone_missing(group)));
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t uuid[2] = {1, 2};

    input = data;
    left = size;
    gba_model_init(&model, GROUPS_MAX, 0, uuid);
    shadow_init(GROUPS_MAX);
    while (left > 0)
        one_letter();
    return 0;
}

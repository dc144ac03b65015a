/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/shadow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shadow {
    bool member[GBA_MASK_WORDS * 64];
    bool arrived[GBA_MASK_WORDS * 64]; /* arrived at the round sequence + 1 */
    uint64_t address[GBA_MEMBERS_MAX]; /* 0: none, or withdrawn */
    uint32_t count, control, sequence, last_error;
    bool complete, error;
    uint64_t counters[GBA_COUNTERS];
    uint64_t in_rounds; /* arrivals at completed rounds */
    uint64_t abandoned; /* arrivals at rounds that never completed */
};

static struct shadow shadows[GBA_GROUPS];
static uint32_t shadow_groups;
static uint64_t bad_access;

/* The expected effects of the access. */
static uint32_t expect_error;
static bool expect_round;
static uint32_t expect_late; /* 1 + the only member that is released */
static uint64_t expect_value;

#define CHECK(cond, rule)                                                \
    do {                                                                 \
        if (!(cond)) {                                                   \
            fprintf(stderr, "shadow: %s violated: %s\n", (rule), #cond); \
            abort();                                                     \
        }                                                                \
    } while (0)

void shadow_init(uint32_t groups)
{
    memset(shadows, 0, sizeof(shadows));
    shadow_groups = groups;
    bad_access = 0;
}

uint32_t shadow_sequence(uint32_t group)
{
    return shadows[group].sequence;
}

uint32_t shadow_someone_missing(uint32_t group)
{
    for (uint32_t m = 0; m < GBA_MEMBERS_MAX; m++) {
        if (shadows[group].member[m] && !shadows[group].arrived[m])
            return m;
    }
    return 0;
}

static uint32_t number_of(const bool *flags)
{
    uint32_t n = 0;

    for (uint32_t m = 0; m < GBA_MASK_WORDS * 64; m++)
        n += flags[m];
    return n;
}

static bool ready(const struct shadow *s)
{
    return (s->control & 5) == 5;
}

static uint64_t word_of(const bool *flags, uint32_t word)
{
    uint64_t value = 0;

    for (uint32_t bit = 0; bit < 64; bit++)
        value |= (uint64_t)flags[word * 64 + bit] << bit;
    return value;
}

static void abandon(struct shadow *s)
{
    s->abandoned += number_of(s->arrived);
    memset(s->arrived, 0, sizeof(s->arrived));
}

static void arrival(struct shadow *s, uint32_t sequence, uint32_t m)
{
    if (!ready(s)) {
        expect_error = GBA_ERROR_DISABLED;
    } else if (m > 707 || !s->member[m]) {
        expect_error = GBA_ERROR_MEMBER;
    } else if (sequence - s->sequence == 0) {
        s->counters[GBA_COUNTER_LATE]++;
        if (s->address[m])
            expect_late = m + 1;
    } else if (sequence - s->sequence != 1) {
        expect_error = GBA_ERROR_SEQUENCE;
    } else if (s->arrived[m]) {
        s->counters[GBA_COUNTER_REPEATS]++;
    } else {
        s->arrived[m] = true;
        s->complete = false;
        s->counters[GBA_COUNTER_ARRIVALS]++;
        expect_round = memcmp(s->arrived, s->member, sizeof(s->member)) == 0;
    }
}

static bool whole(const struct shadow *s)
{
    for (uint32_t m = 0; m < GBA_MEMBERS_MAX; m++) {
        if (s->member[m] && !s->address[m])
            return false;
    }
    return s->count > 0 && s->count == number_of(s->member);
}

static void control(struct shadow *s, uint32_t value)
{
    if (value & GBA_CONTROL_RESET) {
        struct shadow fresh = {.in_rounds = s->in_rounds};

        abandon(s);
        fresh.abandoned = s->abandoned;
        memcpy(fresh.counters, s->counters, sizeof(fresh.counters));
        *s = fresh;
    } else if (value > GBA_CONTROL_BITS || (value & 5) == GBA_CONTROL_ARM ||
               ((value & 1) > (s->control & 1) && !whole(s))) {
        expect_error = GBA_ERROR_CONFIG;
    } else {
        s->control = value;
        if (!ready(s))
            abandon(s);
    }
}

static void write32(struct shadow *s, uint32_t offset, uint32_t value)
{
    bool fixed = s->control & GBA_CONTROL_ENABLE;

    if (offset == GBA_REG_CONTROL)
        control(s, value);
    else if (offset != GBA_REG_MEMBER_COUNT && offset != GBA_REG_SEQUENCE)
        expect_error = GBA_ERROR_ACCESS;
    else if (fixed || (offset == GBA_REG_MEMBER_COUNT && value > 708))
        expect_error = GBA_ERROR_CONFIG;
    else if (offset == GBA_REG_SEQUENCE)
        s->sequence = value;
    else
        s->count = value;
}

static void write64(struct shadow *s, uint32_t offset, uint64_t value)
{
    uint32_t word = (offset - GBA_REG_MEMBER_MASK) / 8;

    if (offset == GBA_REG_ARRIVAL)
        arrival(s, (uint32_t)(value >> 32), (uint32_t)value);
    else if (offset < GBA_REG_MEMBER_MASK || word >= GBA_MASK_WORDS || offset % 8)
        expect_error = GBA_ERROR_ACCESS;
    else if ((s->control & GBA_CONTROL_ENABLE) || (word == 11 && value > 0xF))
        expect_error = GBA_ERROR_CONFIG;
    else
        for (uint32_t bit = 0; bit < 64; bit++)
            s->member[word * 64 + bit] = value >> bit & 1;
}

static uint32_t status(const struct shadow *s)
{
    return (uint32_t)ready(s) | (uint32_t)(number_of(s->arrived) > 0) << 1 |
           (uint32_t)s->complete << 2 | (uint32_t)s->error << 3;
}

static void read_page(const struct shadow *s, uint32_t id, uint32_t offset, uint8_t width)
{
    uint32_t arrivals = number_of(s->arrived);
    const uint32_t low[] = {id,       s->count,    s->control,   status(s),
                            arrivals, s->sequence, s->last_error};

    if (width == 4 && offset % 4 == 0 && offset <= GBA_REG_LAST_ERROR) {
        expect_value = low[offset / 4];
        return;
    }
    if (width != 8 || offset % 8 != 0) {
        expect_error = GBA_ERROR_ACCESS;
        return;
    }
    if (offset == GBA_REG_ARRIVAL)
        expect_value = (uint64_t)s->sequence << 32 | arrivals;
    else if (offset >= 0x20 && offset < 0x80)
        expect_value = word_of(s->member, (offset - 0x20) / 8);
    else if (offset >= 0x80 && offset < 0xE0)
        expect_value = word_of(s->arrived, (offset - 0x80) / 8);
    else if (offset >= 0x800 && offset < 0x850)
        expect_value = s->counters[(offset - 0x800) / 8];
    else
        expect_error = GBA_ERROR_ACCESS;
}

static void access_table(struct shadow *s, uint32_t offset, const struct gba_model_access *access)
{
    if (access->width != 8 || offset % 8 || offset / 8 > 707)
        expect_error = GBA_ERROR_ACCESS;
    else if (!access->write)
        expect_value = s->address[offset / 8];
    else if (access->value && ((access->value & 7) || (s->control & GBA_CONTROL_ENABLE)))
        expect_error = GBA_ERROR_CONFIG;
    else
        s->address[offset / 8] = access->value;
}

/* Set the expected effects and advance the shadow, except for errors and releases. Returns the
 * group, or NULL. */
static struct shadow *predict(const struct gba_model_access *access)
{
    uint32_t address = access->address;

    for (uint32_t g = 0; g < shadow_groups; g++) {
        struct shadow *s = &shadows[g];
        uint32_t page = address - GBA_GROUP_BASE - g * GBA_GROUP_STRIDE;
        uint32_t table = address - GBA_TABLE_BASE - g * GBA_TABLE_STRIDE;
        uint32_t bell = address - GBA_DOORBELL_BASE - g * GBA_DOORBELL_STRIDE;

        if (page < GBA_GROUP_STRIDE) {
            if (!access->write)
                read_page(s, g, page, access->width);
            else if (access->width == 4)
                write32(s, page, (uint32_t)access->value);
            else if (access->width == 8)
                write64(s, page, access->value);
            else
                expect_error = GBA_ERROR_ACCESS;
            return s;
        }
        if (table < GBA_TABLE_STRIDE) {
            access_table(s, table, access);
            return s;
        }
        if (bell < GBA_DOORBELL_STRIDE) {
            if (bell == 0 && access->write && access->width == 8)
                arrival(s, (uint32_t)(access->value >> 32), (uint32_t)access->value);
            else
                expect_error = GBA_ERROR_ACCESS;
            return s;
        }
    }
    return NULL;
}

static void check_releases(struct shadow *s, const struct gba_model_effects *effects)
{
    uint32_t next = 0, n = 0;

    if (expect_round) {
        s->in_rounds += number_of(s->arrived);
        memset(s->arrived, 0, sizeof(s->arrived));
        s->sequence++;
        s->complete = true;
        s->counters[GBA_COUNTER_ROUNDS]++;
    }
    CHECK(effects->completed == expect_round, "REL-1: a round completes when all have arrived");
    for (uint32_t m = 0; m < GBA_MEMBERS_MAX; m++)
        n += (expect_round && s->member[m] && s->address[m]) || expect_late == m + 1;
    CHECK(effects->releases <= n, "REL-4: no store but to members of a completed round");
    CHECK(effects->releases >= n, "REL-2: a store to each member");
    for (uint32_t i = 0; i < n; i++) {
        uint32_t m = effects->release[i].member;

        CHECK(m >= next && m < GBA_MEMBERS_MAX, "REL-2: ascending order");
        next = m + 1;
        CHECK(s->member[m], "REL-4: never to a non-member");
        CHECK(s->address[m] != 0, "TAB-3: never to one who has withdrawn");
        CHECK(effects->release[i].address == s->address[m], "REL-4: to the member's address");
        CHECK(effects->release[i].sequence == s->sequence, "REL-3: the round that completed");
    }
    s->counters[GBA_COUNTER_RELEASES] += n;
}

static void check_state(const struct shadow *s, const struct gba_model_group *group)
{
    const struct gba_model_core *core = &group->core;

    CHECK(core->sequence == s->sequence, "SEQ-3: SEQUENCE");
    CHECK(core->control == s->control && core->member_count == s->count, "CFG: registers");
    CHECK(core->last_error == s->last_error, "ERR-2: LAST_ERROR");
    CHECK(core->arrived_count == number_of(s->arrived), "GRP-4: ARRIVED_COUNT");
    for (uint32_t word = 0; word < GBA_MASK_WORDS; word++) {
        CHECK(core->member_mask[word] == word_of(s->member, word), "GRP-3: MEMBER_MASK");
        CHECK(core->arrived_mask[word] == word_of(s->arrived, word), "GRP-4: ARRIVED_MASK");
    }
    CHECK(memcmp(group->table, s->address, sizeof(s->address)) == 0, "TAB-1: table");
    CHECK(memcmp(core->counters, s->counters, sizeof(s->counters)) == 0, "CNT-1: counters");
    CHECK(core->counters[GBA_COUNTER_ARRIVALS] ==
              s->in_rounds + s->abandoned + number_of(s->arrived),
          "ARR-3: each counted arrival is in exactly one round");
}

void shadow_step(const struct gba_model_access *access, const struct gba_model_effects *effects,
                 const struct gba_model *before, const struct gba_model *after)
{
    struct shadow *s;

    expect_error = GBA_ERROR_NONE;
    expect_round = false;
    expect_late = 0;
    expect_value = 0;
    s = predict(access);
    for (uint32_t g = 0; g < shadow_groups; g++) {
        for (uint32_t i = 0; i < GBA_COUNTERS; i++)
            CHECK(after->group[g].core.counters[i] >= before->group[g].core.counters[i],
                  "CNT-2: counters never decrease");
        CHECK(s == &shadows[g] ||
                  memcmp(&before->group[g], &after->group[g], sizeof(after->group[g])) == 0,
              "MAP-2: groups are isolated");
    }
    if (!s) { /* the device page, or no aperture */
        bad_access += effects->error != GBA_ERROR_NONE;
        CHECK(effects->releases == 0 && !effects->interrupt, "ERR-3: no group, no effect");
        CHECK(after->bad_access == bad_access, "DEV-4: BAD_ACCESS");
        CHECK(effects->error == GBA_ERROR_NONE || effects->error == GBA_ERROR_ACCESS, "MAP-3");
        return;
    }
    CHECK(effects->error == expect_error, "ERR-1: which error");
    if (expect_error) {
        s->error = true;
        s->last_error = expect_error;
        s->counters[GBA_COUNTER_ERR_ACCESS + expect_error - 1]++;
        if (!access->write)
            expect_value = GBA_READ_NONE >> (64 - 8 * access->width);
    }
    CHECK(access->write || effects->value == expect_value, "ACC-4, GRP-5: what a read gives");
    CHECK(effects->interrupt == (expect_error && (s->control & GBA_CONTROL_IRQ_EN)), "ERR-5");
    CHECK(after->bad_access == bad_access, "ERR-3: BAD_ACCESS");
    check_releases(s, effects);
    check_state(s, &after->group[s - shadows]);
}

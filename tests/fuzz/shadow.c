/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/shadow_state.h"

#include <string.h>

struct shadow shadows[GBA_GROUPS];
uint32_t shadow_groups, shadow_ports;
static uint64_t bad_access;

/* The expected effects of the access. */
static uint32_t expect_error;
static bool expect_round;
static uint32_t expect_late; /* 1 + the only member that is released */
static uint64_t expect_value;

void shadow_init(uint32_t groups, uint32_t ports)
{
    memset(shadows, 0, sizeof(shadows));
    memset(shadow_banks, 0, sizeof(shadow_banks));
    shadow_groups = groups;
    shadow_ports = ports;
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

void shadow_abandon(struct shadow *s)
{
    s->abandoned += number_of(s->arrived);
    memset(s->arrived, 0, sizeof(s->arrived));
}

/* Whether that member may arrive through that port. */
static bool is_own(const struct shadow *s, uint32_t m, uint32_t port)
{
    return shadow_ports == 0 || s->owner[m] == port + 1;
}

static bool may_arrive(const struct shadow *s, uint32_t m, uint32_t port)
{
    if (!ready(s))
        expect_error = GBA_ERROR_DISABLED;
    else if (m > 707 || !s->member[m] || !is_own(s, m, port))
        expect_error = GBA_ERROR_MEMBER;
    return expect_error == GBA_ERROR_NONE;
}

static void notify(struct shadow *s, uint32_t sequence, uint32_t m, uint32_t port)
{
    if (!may_arrive(s, m, port))
        return;
    if (sequence - s->sequence == 0)
        shadow_event(s, port, GBA_IRQ_ROUND);
    else if (sequence - s->sequence == 1)
        s->asks[port] = true;
    else
        expect_error = GBA_ERROR_SEQUENCE;
}

static void arrival(struct shadow *s, uint32_t sequence, uint32_t m, uint32_t port)
{
    if (!may_arrive(s, m, port)) {
        return;
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

bool shadow_whole(const struct shadow *s)
{
    for (uint32_t m = 0; m < GBA_MEMBERS_MAX; m++) {
        if (s->member[m] && !s->address[m])
            return false;
    }
    return s->count > 0 && s->count == number_of(s->member);
}

void shadow_reset(struct shadow *s)
{
    shadow_abandon(s);
    memset(s->member, 0, sizeof(s->member));
    memset(s->address, 0, sizeof(s->address));
    memset(s->owner, 0, sizeof(s->owner));
    s->count = s->control = s->sequence = s->last_error = 0;
    s->complete = s->error = false;
}

static void control(struct shadow *s, uint32_t value)
{
    if (value & GBA_CONTROL_RESET) {
        shadow_reset(s);
    } else if (value > GBA_CONTROL_BITS || (value & 5) == GBA_CONTROL_ARM ||
               ((value & 1) > (s->control & 1) && !shadow_whole(s))) {
        expect_error = GBA_ERROR_CONFIG;
    } else {
        s->control = value;
        if (!ready(s))
            shadow_abandon(s);
    }
}

static void write32(struct shadow *s, uint32_t offset, uint32_t value)
{
    bool fixed = s->control & GBA_CONTROL_ENABLE;
    bool known =
        offset == GBA_REG_CONTROL || offset == GBA_REG_MEMBER_COUNT || offset == GBA_REG_SEQUENCE;

    if (!known)
        expect_error = GBA_ERROR_ACCESS;
    else if (shadow_ports == 0 && offset == GBA_REG_CONTROL)
        control(s, value);
    else if (shadow_ports != 0 || fixed || (offset == GBA_REG_MEMBER_COUNT && value > 708))
        expect_error = GBA_ERROR_CONFIG;
    else if (offset == GBA_REG_SEQUENCE)
        s->sequence = value;
    else
        s->count = value;
}

static void write64(struct shadow *s, uint32_t offset, uint64_t value, uint32_t port)
{
    uint32_t word = (offset - GBA_REG_MEMBER_MASK) / 8;

    if (offset == GBA_REG_ARRIVAL)
        arrival(s, (uint32_t)(value >> 32), (uint32_t)value, port);
    else if (offset < GBA_REG_MEMBER_MASK || word >= GBA_MASK_WORDS || offset % 8)
        expect_error = GBA_ERROR_ACCESS;
    else if (shadow_ports != 0 || (s->control & GBA_CONTROL_ENABLE) || (word == 11 && value > 0xF))
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
    const uint32_t low[] = {id,       s->count,    s->control,    status(s),
                            arrivals, s->sequence, s->last_error, s->generation};

    if (width == 4 && offset % 4 == 0 && offset <= GBA_REG_GENERATION) {
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
        expect_value = is_own(s, offset / 8, access->port) ? s->address[offset / 8] : 0;
    else if (!is_own(s, offset / 8, access->port))
        expect_error = GBA_ERROR_MEMBER;
    else if (access->value &&
             ((access->value & 7) || (s->control & GBA_CONTROL_ENABLE) || s->life == SHADOW_TAKEN))
        expect_error = GBA_ERROR_CONFIG;
    else
        s->address[offset / 8] = access->value;
}

static void write_page(struct shadow *s, uint32_t offset, const struct gba_model_access *access)
{
    if (access->width == 4)
        write32(s, offset, (uint32_t)access->value);
    else if (access->width == 8)
        write64(s, offset, access->value, access->port);
    else
        expect_error = GBA_ERROR_ACCESS;
}

static void access_bell(struct shadow *s, uint32_t offset, const struct gba_model_access *access)
{
    uint32_t sequence = (uint32_t)(access->value >> 32), m = (uint32_t)access->value;

    bool known = offset == 0 || (offset == 8 && shadow_ports != 0);

    if (!known || !access->write || access->width != 8)
        expect_error = GBA_ERROR_ACCESS;
    else if (offset == 0)
        arrival(s, sequence, m, access->port);
    else
        notify(s, sequence, m, access->port);
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
            if (access->write)
                write_page(s, page, access);
            else
                read_page(s, g, page, access->width);
            return s;
        }
        if (table < GBA_TABLE_STRIDE) {
            access_table(s, table, access);
            return s;
        }
        if (bell < GBA_DOORBELL_STRIDE) {
            access_bell(s, bell, access);
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
        CHECK(is_own(s, m, effects->release[i].port), "PORT-5: through the port of the member");
    }
    s->counters[GBA_COUNTER_RELEASES] += n;
    for (uint32_t port = 0; expect_round && port < shadow_ports; port++) {
        if (s->asks[port])
            shadow_event(s, port, GBA_IRQ_ROUND);
        s->asks[port] = false;
    }
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

/* Groups other than the one of the access are untouched, and no counter decreases. */
static void check_isolation(const struct shadow *s, const struct gba_model *before,
                            const struct gba_model *after)
{
    for (uint32_t g = 0; g < shadow_groups; g++) {
        for (uint32_t i = 0; i < GBA_COUNTERS; i++)
            CHECK(after->group[g].core.counters[i] >= before->group[g].core.counters[i],
                  "CNT-2: counters never decrease");
        CHECK(s == &shadows[g] ||
                  memcmp(&before->group[g], &after->group[g], sizeof(after->group[g])) == 0,
              "MAP-2: groups are isolated");
    }
}

static void check_group(const struct shadow *s, const struct gba_model *after)
{
    check_state(s, &after->group[s - shadows]);
    shadow_check_record(s, &after->group[s - shadows]);
}

/* s: the group that the step touched, or NULL. */
static void check_after(const struct shadow *s, const struct gba_model_effects *effects,
                        const struct gba_model *after)
{
    if (s != NULL)
        check_group(s, after);
    shadow_check_ports(effects, after);
    CHECK(after->bad_access == bad_access, "ERR-3, DEV-4: BAD_ACCESS");
}

/* The error of an access to a group: the group that counts it, and the port that gets the event. */
static void expect_group_error(struct shadow *s, uint32_t port)
{
    if (shadow_ports != 0 && !shadow_concerns(s, port)) {
        bad_access++;
        return;
    }
    s->error = true;
    s->last_error = expect_error;
    s->counters[GBA_COUNTER_ERR_ACCESS + expect_error - 1]++;
    if (s->control & GBA_CONTROL_IRQ_EN)
        shadow_event(s, port, GBA_IRQ_ERROR);
}

static void step_no_group(const struct gba_model_access *access,
                          const struct gba_model_effects *effects)
{
    uint32_t page = access->address - GBA_PORT_BASE;
    uint64_t value = 0;

    if (shadow_ports != 0 && page < GBA_PORT_SIZE) {
        CHECK(effects->error == shadow_port_page(access, page, &value), "PORT-1, IRQ-2: error");
        CHECK(access->write || effects->error || effects->value == value, "PORT-1, CMD-1: value");
    }
    bad_access += effects->error != GBA_ERROR_NONE;
    CHECK(effects->releases == 0, "ERR-3: no group, no store");
    CHECK(effects->error == GBA_ERROR_NONE || effects->error == GBA_ERROR_ACCESS ||
              effects->error == GBA_ERROR_CONFIG,
          "MAP-3");
}

void shadow_step(const struct gba_model_access *access, const struct gba_model_effects *effects,
                 const struct gba_model *before, const struct gba_model *after)
{
    struct shadow *s;

    expect_error = GBA_ERROR_NONE;
    expect_round = false;
    expect_late = 0;
    expect_value = 0;
    shadow_begin();
    if (shadow_ports != 0 && !shadow_is_up(access->port)) {
        CHECK(access->write || effects->value == GBA_READ_NONE >> (64 - 8 * access->width),
              "PORT-3: a port that is down reads all ones");
        CHECK(effects->error == GBA_ERROR_NONE && effects->releases == 0, "PORT-3");
        check_isolation(NULL, before, after);
        check_after(NULL, effects, after);
        return;
    }
    s = predict(access);
    if (s == NULL) { /* the device page, the port page, or no aperture */
        step_no_group(access, effects);
        check_isolation(shadow_commanded(), before, after);
        check_after(shadow_commanded(), effects, after);
        return;
    }
    check_isolation(s, before, after);
    CHECK(effects->error == expect_error, "ERR-1: which error");
    if (expect_error) {
        expect_group_error(s, access->port);
        if (!access->write)
            expect_value = GBA_READ_NONE >> (64 - 8 * access->width);
    }
    CHECK(access->write || effects->value == expect_value, "ACC-4, GRP-5: what a read gives");
    check_releases(s, effects);
    check_after(s, effects, after);
}

void shadow_link(uint32_t port, bool up, uint32_t quota, const struct gba_model_effects *effects,
                 const struct gba_model *after)
{
    shadow_begin();
    shadow_port_changes(port, up, quota);
    for (uint32_t g = 0; g < shadow_groups; g++)
        check_group(&shadows[g], after);
    check_after(NULL, effects, after);
}

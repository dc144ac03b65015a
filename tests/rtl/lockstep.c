/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of sim/model/model.h that make each access twice: on the model, and on the design
 * of the library $GBA_DUT (gba/spec/gba_dut.h). What the design returns, stores, interrupts and
 * counts must be the same. The tests of the model are linked with them, so they test the design. A
 * difference fails the test, and its message begins with the rule. Without GBA_DUT they are the
 * model's own. $GBA_VECTORS: a file to which the accesses are appended as lines of JSON.
 *
 * The registers of a group are read through the design after each access, in turn. A design that
 * offers its state (gba_dut_state) is compared to the last bit instead. A test that sets the state
 * by hand is not followed from there on: the design cannot know.
 */
#include <string.h>

#include "sim/model/event.h"
#include "tests/rtl/arrive.h"
#include "tests/rtl/load.h"
#include "tests/rtl/lockstep.h"

uint64_t lockstep_accesses;

/* Cycles that a design may take to end an access: far more than 708 stores. */
#define CYCLES_MAX 1000000u

static const struct gba_dut *dut; /* NULL: there is only the model */
static const struct gba_model *(*state_of)(void *device);
static void *device;
static FILE *vectors;                  /* NULL: none */
static struct gba_model *model, known; /* the device of the test; its state after the last access */
static bool followed;

static const char *rule_of_command(uint64_t command)
{
    static const char *const commands[] = {"CMD-1", "CMD-2", "CMD-3", "CMD-4", "CMD-5",
                                           "CMD-6", "CMD-1", "CMD-1", "CMD-9"};

    return commands[command <= GBA_CMD_MEMBER ? command : 0];
}

/* The rule of a register of a group, a device page or a port page. */
static const char *rule_of_read(const struct gba_model_access *access)
{
    static const struct {
        uint32_t first, last;
        const char *rule;
    } rules[] = {{GBA_REG_GROUP_ID, 3, "GRP-1"},      {GBA_REG_STATUS, 3, "GRP-2"},
                 {GBA_REG_ARRIVAL, 7, "GRP-5"},       {GBA_REG_LAST_ERROR, 3, "ERR-2"},
                 {GBA_REG_GENERATION, 3, "GRP-6"},    {GBA_REG_MEMBER_MASK, 95, "GRP-3"},
                 {GBA_REG_ARRIVED_MASK, 95, "GRP-4"}, {GBA_REG_COUNTERS, 79, "CNT-1"}};
    uint32_t address = access->address, offset = address % GBA_GROUP_STRIDE;

    if (address >= GBA_DEVICE_BASE && address < GBA_DEVICE_BASE + GBA_DEVICE_SIZE)
        return offset == GBA_DEV_BAD_ACCESS ? "DEV-4" : "DEV-1";
    if (address >= GBA_PORT_BASE && address < GBA_PORT_BASE + GBA_PORT_SIZE)
        return offset >= GBA_PORT_EVENTS || offset == GBA_PORT_IRQ_CAUSE
                   ? "IRQ-1"
                   : rule_of_command(model->port[access->port % GBA_PORTS_MAX].command);
    if (address >= GBA_TABLE_BASE)
        return "PORT-5";
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (offset >= rules[i].first && offset <= rules[i].first + rules[i].last)
            return rules[i].rule;
    }
    return "CFG-8";
}

/* The rule of a write by what the model made of it. */
static const char *rule_of_write(const struct gba_model_access *access,
                                 const struct gba_model_effects *effects)
{
    static const char *const errors[] = {"", "ACC-1", "ARR-6", "ARR-2", "ARR-2", "CFG-9"};
    int group = gba_model_group_of(model, access->address);
    uint32_t address = access->address;

    if (effects->error == GBA_ERROR_CONFIG && address >= GBA_TABLE_BASE)
        return address % 8 == 0 && access->value % 8 == 0 ? "TAB-4" : "TAB-2";
    if (effects->error != GBA_ERROR_NONE)
        return group < 0 ? "ERR-3" : errors[effects->error];
    if (address >= GBA_DOORBELL_BASE && address % GBA_DOORBELL_STRIDE == GBA_BELL_NOTIFY)
        return "NOTE-1";
    if (group >= 0 &&
        (address >= GBA_DOORBELL_BASE ||
         (address < GBA_DEVICE_BASE && address % GBA_GROUP_STRIDE == GBA_REG_ARRIVAL))) {
        const struct gba_model_core *now = &model->group[group].core,
                                    *was = &known.group[group].core;

        if (effects->completed)
            return "REL-1";
        if (now->counters[GBA_COUNTER_ARRIVALS] != was->counters[GBA_COUNTER_ARRIVALS])
            return was->status & GBA_STATUS_COMPLETE ? "REL-1"
                                                     : "ARR-3"; /* the first one after a round */
        if (now->counters[GBA_COUNTER_LATE] != was->counters[GBA_COUNTER_LATE])
            return "ARR-5";
        return "ARR-4";
    }
    if (group >= 0 && address >= GBA_TABLE_BASE)
        return access->value == 0 ? "TAB-3" : "TAB-4";
    if (address == GBA_PORT_REG(GBA_PORT_COMMAND))
        return rule_of_command(access->value);
    return "IRQ-2";
}

/* What the design did since it was idle. */
static struct {
    uint64_t value; /* of the access that ended last */
    uint32_t stores;
    struct gba_dut_event store[2 * GBA_MEMBERS_MAX];
    uint64_t interrupts[GBA_MODEL_PORT_WORDS];
} did;

/* Let the design work until it has nothing left to do. */
static void work(void)
{
    struct gba_dut_event event;

    did.stores = 0;
    memset(did.interrupts, 0, sizeof did.interrupts);
    if (dut->advance(device, CYCLES_MAX) == 0)
        lockstep_fail("REL-2", "the design does not end an access within %u cycles", CYCLES_MAX);
    while (dut->event(device, &event) != 0) {
        if (event.kind == GBA_DUT_ANSWERED)
            did.value = event.value;
        else if (event.kind == GBA_DUT_STORE && did.stores < 2 * GBA_MEMBERS_MAX)
            did.store[did.stores++] = event;
        else if (event.kind == GBA_DUT_INTERRUPT)
            did.interrupts[event.port / 64 % GBA_MODEL_PORT_WORDS] |= 1ull << event.port % 64;
    }
}

static uint64_t on_design(const struct gba_model_access *access)
{
    const struct gba_dut_access a = {.port = access->port,
                                     .write = access->write,
                                     .width = access->width,
                                     .address = access->address,
                                     .value = access->value,
                                     .random = access->random};

    dut->access(device, &a);
    work();
    return did.value;
}

/* The stores, in any order [REL-2], and the interrupts. */
static void same_effects(const char *rule, const struct gba_model_effects *effects)
{
    static bool made[GBA_MEMBERS_MAX];

    memset(made, 0, sizeof made);
    for (uint32_t i = 0; i < did.stores; i++) {
        const struct gba_dut_event *store = &did.store[i];
        const struct gba_model_release *release = effects->release;
        uint32_t n = 0;

        while (n < effects->releases && (made[n] || release[n].address != store->address))
            n++;
        if (n == effects->releases)
            lockstep_fail(effects->completed       ? "REL-2"
                          : effects->releases != 0 ? rule
                                                   : "REL-4",
                          "a store to %#llx that must not be", (unsigned long long)store->address);
        made[n] = true;
        if (store->port != release[n].port || store->value != release[n].sequence)
            lockstep_fail(effects->completed ? "REL-2" : rule,
                          "store %u is %llu to %#llx by port %u, not %u to %#llx", i,
                          (unsigned long long)store->value, (unsigned long long)store->address,
                          store->port, release[n].sequence, (unsigned long long)release[n].address);
    }
    if (did.stores != effects->releases)
        lockstep_fail(effects->completed ? "REL-2" : rule, "%u stores, not %u", did.stores,
                      effects->releases);
    for (uint32_t i = 0; i < GBA_MODEL_PORT_WORDS; i++) {
        if (did.interrupts[i] != (effects->interrupt ? effects->interrupts[i] : 0))
            lockstep_fail(effects->completed ? "NOTE-1" : "IRQ-3",
                          "interrupts of ports %u to %u: %#llx", i * 64, i * 64 + 63,
                          (unsigned long long)did.interrupts[i]);
    }
}

/* Read a register of both. */
static void same_register(const char *rule, uint16_t port, uint32_t address, uint8_t width)
{
    const struct gba_model_access read = {.width = width, .port = port, .address = address};
    struct gba_model_effects effects;
    uint64_t found = on_design(&read);

    gba_firmware_access(model, &read, &effects);
    if (found != effects.value) {
        const struct gba_model_core *was =
            &known.group[address / GBA_GROUP_STRIDE % GBA_GROUPS].core;
        uint32_t counter = (address % GBA_GROUP_STRIDE - GBA_REG_COUNTERS) / 8;
        bool less = counter < GBA_COUNTERS && found < was->counters[counter];

        lockstep_fail(less ? "CNT-2" : rule, "then %s: the register at %#x is %#llx, not %#llx",
                      rule_of_read(&read), address, (unsigned long long)found,
                      (unsigned long long)effects.value);
    }
}

static void same_state(const char *rule, const struct gba_model_access *access)
{
    int group = gba_model_group_of(model, access->address);
    const struct gba_model *state;
    uint32_t turn = (uint32_t)(lockstep_accesses % 22);

    if (state_of != NULL) {
        state = state_of(device);
        for (uint32_t i = 0; i < model->groups; i++) {
            if ((group < 0 || i == (uint32_t)group) &&
                memcmp(&state->group[i], &model->group[i], sizeof model->group[0]) != 0)
                lockstep_fail(rule, "the state of group %u differs", i);
        }
        if (memcmp(state->port, model->port, model->ports * sizeof model->port[0]) != 0 ||
            gba_word_load_relaxed(&state->bad_access) != gba_word_load_relaxed(&model->bad_access))
            lockstep_fail(rule, "the state of the ports, or BAD_ACCESS, differs");
        return;
    }
    if (group < 0 || access->port >= model->ports || model->port[access->port].up == 0)
        return;
    same_register(rule, access->port, GBA_GROUP_REG((uint32_t)group, GBA_REG_ARRIVAL), 8);
    same_register(rule, access->port, GBA_GROUP_REG((uint32_t)group, GBA_REG_STATUS), 4);
    same_register(rule, access->port, GBA_DEVICE_BASE + GBA_DEV_BAD_ACCESS, 8);
    if (turn < GBA_COUNTERS)
        same_register(rule, access->port,
                      GBA_GROUP_REG((uint32_t)group, GBA_REG_COUNTERS + 8 * turn), 8);
    else
        same_register(
            rule, access->port,
            GBA_GROUP_REG((uint32_t)group, GBA_REG_ARRIVED_MASK + 8 * (turn - GBA_COUNTERS)), 8);
}

/* The access on the design, which the model has made. */
static void same_access(const struct gba_model_access *access,
                        const struct gba_model_effects *effects)
{
    const char *rule = access->write ? rule_of_write(access, effects) : "ACC-6";
    uint64_t value = on_design(access);

    if (!access->write && value != effects->value)
        lockstep_fail(effects->error != GBA_ERROR_NONE ? "ACC-4" : rule_of_read(access),
                      "the read of %#x is %#llx, not %#llx", access->address,
                      (unsigned long long)value, (unsigned long long)effects->value);
    same_effects(rule, effects);
    same_state(rule, access);
}

/* The access, and what the model made of it. */
static void write_vector(const struct gba_model_access *access,
                         const struct gba_model_effects *effects, const char *rule)
{
    const char *comma = "";

    if (vectors == NULL)
        return;
    fprintf(vectors, "{\"port\": %u, \"write\": %d, \"width\": %u, \"address\": \"%#x\", ",
            access->port, access->write, access->width, access->address);
    fprintf(vectors,
            "\"value\": \"%#llx\", \"random\": \"%#llx\", \"read\": \"%#llx\", \"stores\": [",
            (unsigned long long)access->value, (unsigned long long)access->random,
            (unsigned long long)effects->value);
    for (uint32_t i = 0; i < effects->releases; i++, comma = ", ")
        fprintf(vectors, "%s{\"port\": %u, \"address\": \"%#llx\", \"value\": %u}", comma,
                effects->release[i].port, (unsigned long long)effects->release[i].address,
                effects->release[i].sequence);
    fprintf(vectors, "], \"interrupts\": [");
    comma = "";
    for (uint32_t port = 0; effects->interrupt && port < GBA_PORTS_MAX; port++) {
        if ((effects->interrupts[port / 64] >> port % 64 & 1) == 0)
            continue;
        fprintf(vectors, "%s%u", comma, port);
        comma = ", ";
    }
    fprintf(vectors, "], \"rule\": \"%s\"}\n", rule);
}

/* Whether the design is in the state of the model: the test has not changed it. */
static bool is_followed(const struct gba_model *m, int group)
{
    if (m != model || !followed)
        return false;
    if (group >= 0)
        followed = memcmp(&m->group[group], &known.group[group], sizeof known.group[0]) == 0;
    else
        followed = memcmp(m->group, known.group, m->groups * sizeof known.group[0]) == 0 &&
                   memcmp(m->port, known.port, m->ports * sizeof known.port[0]) == 0;
    return followed;
}

static void remember(int group)
{
    if (group >= 0) {
        known.group[group] = model->group[group];
    } else {
        memcpy(known.group, model->group, model->groups * sizeof known.group[0]);
        memcpy(known.port, model->port, model->ports * sizeof known.port[0]);
    }
}

void gba_model_access(struct gba_model *m, const struct gba_model_access *access,
                      struct gba_model_effects *effects)
{
    int group = gba_model_group_of(m, access->address);
    bool follow = is_followed(m, group);

    gba_firmware_access(m, access, effects);
    if (!follow)
        return;
    lockstep_accesses++;
    write_vector(access, effects,
                 access->write ? rule_of_write(access, effects) : rule_of_read(access));
    if (dut != NULL)
        same_access(access, effects);
    remember(group);
}

static void create(uint32_t groups, uint32_t ports, const uint64_t uuid[2])
{
    if (device != NULL)
        dut->destroy(device);
    device = dut->create(groups, ports, uuid);
    if (device == NULL)
        lockstep_fail("CFG-8", "the design cannot be had with %u groups and %u ports", groups,
                      ports);
}

void gba_model_init(struct gba_model *m, uint32_t groups, uint32_t ports, const uint64_t uuid[2])
{
    const char *library = getenv("GBA_DUT"), *file = getenv("GBA_VECTORS");

    if (library != NULL && dut == NULL) {
        void *opened;

        dut = dut_load(library, &opened);
        *(void **)&state_of = dlsym(opened, "gba_dut_state");
    }
    if (file != NULL && vectors == NULL)
        vectors = fopen(file, "a");
    gba_firmware_init(m, groups, ports, uuid);
    if (dut != NULL)
        create(groups, ports, uuid);
    if (vectors != NULL)
        fprintf(
            vectors,
            "{\"power_on\": {\"groups\": %u, \"ports\": %u, \"uuid\": [\"%#llx\", \"%#llx\"]}}\n",
            groups, ports, (unsigned long long)uuid[0], (unsigned long long)uuid[1]);
    model = m;
    known = *m;
    followed = dut != NULL || vectors != NULL;
}

void gba_model_port_up(struct gba_model *m, uint32_t port, uint32_t quota)
{
    bool follow = is_followed(m, -1);

    gba_firmware_port_up(m, port, quota);
    if (!follow)
        return;
    if (vectors != NULL)
        fprintf(vectors, "{\"port_up\": {\"port\": %u, \"quota\": %u}}\n", port, quota);
    if (dut != NULL) {
        dut->link(device, port, 1, quota);
        work();
    }
    remember(-1);
}

void gba_model_port_down(struct gba_model *m, uint32_t port, struct gba_model_effects *effects)
{
    bool follow = is_followed(m, -1);

    gba_firmware_port_down(m, port, effects);
    if (!follow)
        return;
    if (vectors != NULL)
        fprintf(vectors, "{\"port_down\": {\"port\": %u}}\n", port);
    if (dut != NULL) {
        dut->link(device, port, 0, 0);
        work();
        same_effects("PORT-4", effects);
    }
    remember(-1);
}

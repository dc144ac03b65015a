/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The vectors: the accesses of the rule tests, and what the model makes of them, as lines of JSON,
 * which are appended to the file $GBA_VECTORS. tests/rtl/test_vectors.c makes them on a design. A
 * test that sets the state by hand is not written from there on: a design cannot know. Included by
 * model_bench.h.
 */
#ifndef GBA_TESTS_VECTORS_H
#define GBA_TESTS_VECTORS_H

#include <stdio.h>
#include <stdlib.h>

static FILE *vectors;            /* NULL: none, or the state was set by hand */
static struct gba_model written; /* the state after the last line */

static inline const char *rule_of_command(uint64_t command)
{
    static const char *const commands[] = {"CMD-1", "CMD-2", "CMD-3", "CMD-4", "CMD-5",
                                           "CMD-6", "CMD-1", "CMD-1", "CMD-9"};

    return commands[command <= GBA_CMD_MEMBER ? command : 0];
}

/* The rule of a register of a group, a device page or a port page. */
static inline const char *rule_of_read(const struct gba_model_access *access)
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
                   : rule_of_command(bench.port[access->port % GBA_PORTS_MAX].command);
    if (address >= GBA_TABLE_BASE)
        return "PORT-5";
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (offset >= rules[i].first && offset <= rules[i].first + rules[i].last)
            return rules[i].rule;
    }
    return "CFG-8";
}

/* The rule of a write by what the model made of it. */
static inline const char *rule_of_write(const struct gba_model_access *access)
{
    static const char *const errors[] = {"", "ACC-1", "ARR-6", "ARR-2", "ARR-2", "CFG-9"};
    int group = gba_model_group_of(&bench, access->address);
    uint32_t address = access->address;

    if (effects.error == GBA_ERROR_CONFIG && address >= GBA_TABLE_BASE)
        return address % 8 == 0 && access->value % 8 == 0 ? "TAB-4" : "TAB-2";
    if (effects.error != GBA_ERROR_NONE)
        return group < 0 ? "ERR-3" : errors[effects.error];
    if (address >= GBA_DOORBELL_BASE && address % GBA_DOORBELL_STRIDE == GBA_BELL_NOTIFY)
        return "NOTE-1";
    if (group >= 0 &&
        (address >= GBA_DOORBELL_BASE ||
         (address < GBA_DEVICE_BASE && address % GBA_GROUP_STRIDE == GBA_REG_ARRIVAL))) {
        const struct gba_model_core *now = &bench.group[group].core,
                                    *was = &before.group[group].core;

        if (effects.completed)
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

/* The access, and what the model made of it. */
static inline void write_vector(const struct gba_model_access *access)
{
    const char *comma = "";

    fprintf(vectors, "{\"port\": %u, \"write\": %d, \"width\": %u, \"address\": \"%#x\", ",
            access->port, access->write, access->width, access->address);
    fprintf(vectors,
            "\"value\": \"%#llx\", \"random\": \"%#llx\", \"read\": \"%#llx\", \"stores\": [",
            (unsigned long long)access->value, (unsigned long long)access->random,
            (unsigned long long)effects.value);
    for (uint32_t i = 0; i < effects.releases; i++, comma = ", ")
        fprintf(vectors, "%s{\"port\": %u, \"address\": \"%#llx\", \"value\": %u}", comma,
                effects.release[i].port, (unsigned long long)effects.release[i].address,
                effects.release[i].sequence);
    fprintf(vectors, "], \"interrupts\": [");
    comma = "";
    for (uint32_t port = 0; effects.interrupt && port < GBA_PORTS_MAX; port++) {
        if ((effects.interrupts[port / 64] >> port % 64 & 1) == 0)
            continue;
        fprintf(vectors, "%s%u", comma, port);
        comma = ", ";
    }
    fprintf(vectors, "], \"rule\": \"%s\"}\n",
            access->write ? rule_of_write(access) : rule_of_read(access));
    written = bench;
}

/* A line for a device after power-on. From here on all is written. */
static inline void vectors_begin(void)
{
    const char *path = getenv("GBA_VECTORS");
    static FILE *file;

    if (path != NULL && file == NULL)
        file = fopen(path, "a");
    vectors = file;
    written = bench;
    if (vectors != NULL)
        fprintf(
            vectors,
            "{\"power_on\": {\"groups\": %u, \"ports\": %u, \"uuid\": [\"%#llx\", \"%#llx\"]}}\n",
            bench.groups, bench.ports, (unsigned long long)bench.uuid[0],
            (unsigned long long)bench.uuid[1]);
}

/* Before something that happens to the device. */
static inline void vectors_check(void)
{
    const void *now = &bench, *then = &written;

    if (vectors != NULL && memcmp(now, then, sizeof bench) != 0)
        vectors = NULL;
}

#endif

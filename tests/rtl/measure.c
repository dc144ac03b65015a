/* SPDX-License-Identifier: BSD-3-Clause */
/* Cycles of the design: from the last arrival, taken by its lane, to the first and the last release
 * store, which its port takes at once; and of one arrival. Prints a table. */
#include <stdio.h>
#include <stdlib.h>

#include "sim/model/model.h"
#include "sim/rtl/rtl.h"

static struct gba_model device;
static struct gba_model_effects effects;

static void write_register(uint8_t width, uint32_t address, uint64_t value)
{
    const struct gba_model_access access = {
        .write = true, .width = width, .address = address, .value = value};

    gba_model_access(&device, &access, &effects);
    if (effects.error != GBA_ERROR_NONE)
        exit(1);
}

static void measure(uint32_t members, bool multicast)
{
    static const uint64_t uuid[2] = {1, 2};
    struct gba_rtl_options *options = gba_rtl_options();

    options->multicast = multicast;
    gba_model_init(&device, GBA_GROUPS, 0, uuid);
    write_register(4, GBA_GROUP_REG(0, GBA_REG_MEMBER_COUNT), members);
    for (uint32_t i = 0; i < members; i++) {
        uint64_t left = members - i / 64 * 64;

        write_register(8, GBA_GROUP_REG(0, GBA_REG_MEMBER_MASK + i / 64 * 8),
                       left < 64 ? (1ull << left) - 1 : ~0ull);
        write_register(8, GBA_TABLE_ENTRY(0, i), 8 + 8 * i);
    }
    write_register(4, GBA_GROUP_REG(0, GBA_REG_CONTROL), GBA_CONTROL_ENABLE | GBA_CONTROL_ARM);
    for (uint32_t i = 0; i < members; i++)
        write_register(8, GBA_DOORBELL(0), GBA_ARRIVAL(1, i));
    if (effects.releases != members)
        exit(1);
    printf("| %u | %s | %llu | %llu |\n", members, multicast ? "multicast" : "unicast",
           (unsigned long long)(options->first_release - options->began - 1),
           (unsigned long long)(options->last_release - options->began - 1));
}

int main(void)
{
    static const uint32_t members[] = {2, 8, 64, 128, 256, 512, 708};

    for (int multicast = 0; multicast < 2; multicast++)
        for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
            measure(members[i], multicast != 0);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rule tests on a design, beside the model: the vectors of the file $GBA_VECTORS
 * (tests/unit/model/vectors.h), one after the other. A failure names the rule of the vector.
 *
 * The registers of a group are read after each access, in turn.
 */
#include "tests/rtl/overlap.h"

/* The access, and what it has changed. */
static void play(uint32_t port, const struct gba_model_access *access)
{
    uint32_t group = (uint32_t)gba_model_group_of(&m, access->address); /* or above all */
    uint32_t turn = (uint32_t)(accesses % 22);

    offer(port, *access);
    rest();
    if (group >= group_count || port >= port_count || m.port[port].up == 0)
        return;
    look(port, GBA_GROUP_REG(group, GBA_REG_ARRIVAL), 8);
    look(port, GBA_GROUP_REG(group, GBA_REG_STATUS), 4);
    look(port, GBA_DEVICE_BASE + GBA_DEV_BAD_ACCESS, 8);
    if (turn >= GBA_COUNTERS)
        look(port, GBA_GROUP_REG(group, GBA_REG_ARRIVED_MASK + 8 * (turn - GBA_COUNTERS)), 8);
    rest();
    if (turn >= GBA_COUNTERS)
        return;
    rule_of_access = "CNT-1";
    look(port, GBA_GROUP_REG(group, GBA_REG_COUNTERS + 8 * turn), 8);
    rest();
}

static void play_line(const char *line)
{
    uint32_t port, count, write, width, address;
    unsigned long long value, random;

    if (sscanf(line, "{\"power_on\": {\"groups\": %u, \"ports\": %u", &count, &port) == 2)
        power_on(count, port, false);
    else if (sscanf(line, "{\"port_up\": {\"port\": %u, \"quota\": %u", &port, &count) == 2) {
        ports[port].quota = count;
        set_link(port, true);
    } else if (sscanf(line, "{\"port_down\": {\"port\": %u", &port) == 1)
        set_link(port, false);
    else if (sscanf(line,
                    "{\"port\": %u, \"write\": %u, \"width\": %u, \"address\": \"%x\", "
                    "\"value\": \"%llx\", \"random\": \"%llx\"",
                    &port, &write, &width, &address, &value, &random) == 6)
        play(port,
             &(struct gba_model_access){write != 0, (uint8_t)width, 0, address, value, random});
    else
        fail_msg("no vector: %s", line);
    rest();
}

TEST(test_ORD_1_one_by_one)
{
    const char *path = getenv("GBA_VECTORS");
    FILE *file = path == NULL ? NULL : fopen(path, "r");
    static char rule[16];
    unsigned lines = 0;
    char *line = NULL;
    size_t size = 0;

    if (path == NULL)
        skip();
    assert_non_null(file);
    for (; getline(&line, &size, file) > 0; lines++) {
        const char *named = strstr(line, "\"rule\": \"");

        rule_of_access =
            named != NULL && sscanf(named, "\"rule\": \"%15[^\"]", rule) == 1 ? rule : NULL;
        play_line(line);
    }
    free(line);
    (void)fclose(file);
    assert_int_not_equal(lines, 0);
}

TEST_MAIN(dut = design())

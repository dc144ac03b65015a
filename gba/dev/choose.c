/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/dev/choose.h"

#include <stdio.h>
#include <string.h>

#define NO_PROCESS UINT32_MAX

const char *gba_distance_name(gba_distance_t distance)
{
    static const char *const names[] = {"PIX", "PXB", "PHB", "NODE", "SYS"};

    return (unsigned)distance < sizeof names / sizeof names[0] ? names[distance] : "SYS";
}

static uint8_t nearest_of(const struct gba_choose *choose, uint32_t process)
{
    const uint8_t *to = choose->distance[process].to;
    uint8_t nearest = to[0];

    for (uint32_t d = 1; d < choose->devices; d++)
        nearest = to[d] < nearest ? to[d] : nearest;
    return nearest;
}

static bool is_nearest(const struct gba_choose *choose, uint32_t process, uint32_t device)
{
    return nearest_of(choose, process) == choose->distance[process].to[device];
}

/* The devices that are nearest to a process: their number, and with `index` one of them. */
static uint32_t equals(const struct gba_choose *choose, uint32_t process, uint32_t index,
                       uint8_t *device)
{
    uint32_t count = 0;

    for (uint32_t d = 0; d < choose->devices; d++)
        if (is_nearest(choose, process, d) && count++ == index)
            *device = (uint8_t)d;
    return count;
}

/* The first pass: among the nearest devices the one with the fewest processes so far. */
static void place(const struct gba_choose *choose, uint8_t *chosen, uint32_t *load)
{
    for (uint32_t p = 0; p < choose->processes; p++) {
        uint32_t best = GBA_DEVICE_CHOICES_MAX;

        for (uint32_t d = 0; d < choose->devices; d++)
            if (is_nearest(choose, p, d) &&
                (GBA_DEVICE_CHOICES_MAX == best || load[d] < load[best]))
                best = d;
        chosen[p] = (uint8_t)best;
        load[best]++;
    }
}

/* A process on device `from` for which device `to` is as near; NO_PROCESS: none. */
static uint32_t movable(const struct gba_choose *choose, const uint8_t *chosen, uint32_t from,
                        uint32_t to)
{
    for (uint32_t p = 0; p < choose->processes; p++)
        if (chosen[p] == from && is_nearest(choose, p, to))
            return p;
    return NO_PROCESS;
}

/*
 * Move one process off device `from`, if that makes the numbers more equal. The process may need
 * the place of another one, which moves in turn. So this is a search, breadth first, for a device
 * with at least two processes less. Each process that moves is on another device, so no move makes
 * another one invalid.
 */
static bool relieve(const struct gba_choose *choose, uint8_t *chosen, uint32_t *load, uint32_t from)
{
    uint32_t queue[GBA_DEVICE_CHOICES_MAX], first = 0, last = 0;
    uint32_t mover[GBA_DEVICE_CHOICES_MAX]; /* the process that would move to the device */
    bool seen[GBA_DEVICE_CHOICES_MAX] = {false};

    queue[last++] = from;
    seen[from] = true;
    while (first < last) {
        uint32_t device = queue[first++];

        for (uint32_t to = 0; to < choose->devices; to++) {
            if (seen[to])
                continue;
            mover[to] = movable(choose, chosen, device, to);
            if (NO_PROCESS == mover[to])
                continue;
            seen[to] = true;
            queue[last++] = to;
            if (load[to] + 2 > load[from])
                continue;
            load[to]++;
            load[from]--;
            while (to != from) {
                uint32_t previous = chosen[mover[to]];

                chosen[mover[to]] = (uint8_t)to;
                to = previous;
            }
            return true;
        }
    }
    return false;
}

static void map_apply(const struct gba_choose *choose, uint8_t *chosen)
{
    uint32_t total = 0, at;

    for (uint32_t i = 0; i < choose->parts; i++)
        total += choose->map[i].count;
    for (uint32_t p = 0; p < choose->processes && total > 0; p++) {
        uint32_t part = 0;

        at = (1 == choose->processes ? choose->turn : p) % total;
        while (at >= choose->map[part].count)
            at -= choose->map[part++].count;
        chosen[p] = (uint8_t)choose->map[part].device;
    }
}

void gba_choose(const struct gba_choose *choose, uint8_t *chosen)
{
    uint32_t load[GBA_DEVICE_CHOICES_MAX] = {0};
    uint8_t ignored = 0;

    if (choose->map != NULL) {
        map_apply(choose, chosen);
    } else if (1 == choose->processes) {
        (void)equals(choose, 0, choose->turn % equals(choose, 0, 0, &ignored), &chosen[0]);
    } else {
        place(choose, chosen, load);
        /* Ends, because each move makes the sum of the squares of the numbers smaller. */
        for (uint32_t d = 0; d < choose->devices; d++)
            if (relieve(choose, chosen, load, d))
                d = UINT32_MAX; /* again from the first device */
    }
}

void gba_choose_describe(const struct gba_choose *choose, const uint8_t *chosen, uint32_t self,
                         char *why, size_t len)
{
    uint32_t sharing = 0, count;
    uint8_t ignored = 0;
    char among[48] = "the nearest", by[80];

    for (uint32_t p = 0; p < choose->processes; p++)
        sharing += chosen[p] == chosen[self];
    count = equals(choose, self, 0, &ignored);
    if (count > 1)
        snprintf(among, sizeof among, "one of the %u nearest", count);
    if (choose->map != NULL)
        snprintf(among, sizeof among, "device_map");
    snprintf(by, sizeof by, "%u of %u processes of this host", sharing, choose->processes);
    if (1 == choose->processes)
        snprintf(by, sizeof by, "by the process ID");
    snprintf(why, len, "%s (%s)%s%s", among,
             gba_distance_name((gba_distance_t)choose->distance[self].to[chosen[self]]),
             1 == choose->processes && 1 == count && choose->map == NULL ? "" : ", ",
             1 == choose->processes && 1 == count && choose->map == NULL ? "" : by);
}

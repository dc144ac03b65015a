/* SPDX-License-Identifier: BSD-3-Clause */
/* The devices among which a process chooses, and what other processes of the host send about their
 * distances. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gba/base/clock.h"
#include "gba/dev/choose.h"
#include "gba/dev/distance.h"
#include "gba/dev/device_path.h"
#include "gba/dev/selection.h"

/* The time that one device has, see gba_device_attr_t.timeout_ms. */
#define LIMIT_MS 10000u

/* Add a choice, unless it is a file without that access (as for access(2)). */
static void choice_add(gba_device_choices_t *choices, const char *path, int access_mode)
{
    if ('/' == path[0] && 0 != access(path, access_mode))
        return;
    snprintf(choices->list[choices->count].path, GBA_DEVICE_PATH_MAX, "%s", path);
    choices->list[choices->count++].distance = GBA_DISTANCE_SYS;
}

static void choices_add(gba_device_choices_t *choices, const struct gba_device_selection *list,
                        int access_mode)
{
    char path[32];

    if (list->exclude || 0 == list->count) {
        /* A few calls of access(2) cost less than reading the directory, and most hosts have one
         * device or none. The numbers may have gaps. */
        for (unsigned number = 0; number < GBA_DEVICE_CHOICES_MAX; number++) {
            snprintf(path, sizeof path, "/dev/gba%u", number);
            if (!gba_device_list_has(list, path))
                choice_add(choices, path, access_mode);
        }
    } else {
        for (uint32_t i = 0; i < list->count; i++)
            choice_add(choices, list->path[i], access_mode);
    }
}

void gba_device_choices_find(const char *text, gba_device_choices_t *choices)
{
    struct gba_device_selection list;
    char ignored[1];

    memset(choices, 0, sizeof *choices);
    if (GBA_OK != gba_device_list_parse(text, &list, ignored, sizeof ignored))
        return;
    choices_add(choices, &list, R_OK | W_OK);
    if (0 == choices->count)
        choices_add(choices, &list, F_OK); /* opening one shows the user the reason */
    if (choices->count > 1)
        gba_distances_measure(choices);
}

const char *gba_device_choices_first(const char *path, const char *list,
                                     gba_device_choices_t *choices)
{
    choices->count = 0;
    if (path != NULL)
        return path;
    gba_device_choices_find(list != NULL ? list : "all", choices);
    if (choices->count > 0)
        return choices->list[0].path;
    return list != NULL ? "none" : NULL;
}

void gba_device_choices_open(const gba_device_choices_t *choices, const char *chosen,
                             const gba_device_attr_t *attr, uint32_t limit_ms,
                             gba_device_t **devices)
{
    const uint64_t limit = 0 == limit_ms ? LIMIT_MS : limit_ms, began = gba_clock_ns();
    gba_device_attr_t own = *attr;
    uint64_t spent;

    for (uint32_t i = 0; i < choices->count; i++) {
        if (0 == strcmp(choices->list[i].path, chosen))
            continue;
        spent = (gba_clock_ns() - began) / 1000000u;
        own.timeout_ms = (uint32_t)((spent < limit ? limit - spent : 0) / (choices->count - i)) + 1;
        (void)gba_global_device_get(choices->list[i].path, &own, &devices[i]);
    }
}

/*
 * The word: three bits for the distance to each choice, from bit 0 on, and above them a sum over
 * the paths, which differs for processes with other choices.
 */
#define DISTANCE_BITS 3u
#define SUM_SHIFT     (GBA_DEVICE_CHOICES_MAX * DISTANCE_BITS)

_Static_assert(SUM_SHIFT == 48, "48 bits of distances and 16 bits of the sum");

static uint64_t paths_sum(const gba_device_choices_t *choices)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < choices->count; i++)
        sum = sum * 31 + gba_dev_job(choices->list[i].path);
    return (sum ^ sum >> 16 ^ sum >> 32 ^ sum >> 48) & 0xFFFF;
}

uint64_t gba_device_choices_word(const gba_device_choices_t *choices)
{
    uint64_t sum = paths_sum(choices), word = (0 == sum ? 1 : sum) << SUM_SHIFT;

    for (uint32_t i = 0; i < choices->count; i++)
        word |= (uint64_t)choices->list[i].distance << i * DISTANCE_BITS;
    return word;
}

/* The distances of a process from its word, or from `own` if they are not known. */
static void word_read(uint64_t word, uint64_t own, struct gba_distances *distances)
{
    if (word >> SUM_SHIFT != own >> SUM_SHIFT)
        word = own;
    for (uint32_t i = 0; i < GBA_DEVICE_CHOICES_MAX; i++)
        distances->to[i] = (uint8_t)(word >> i * DISTANCE_BITS & ((1u << DISTANCE_BITS) - 1));
}

/* The parts of the map that name a choice. Returns their number. */
static uint32_t map_read(const gba_device_choices_t *choices, const char *text,
                         struct gba_map_part *parts)
{
    struct gba_device_selection map;
    uint32_t count = 0;
    char ignored[1];

    if (GBA_OK != gba_device_map_parse(text, &map, ignored, 0))
        return 0;
    for (uint32_t i = 0; i < map.count; i++)
        for (uint32_t c = 0; c < choices->count; c++)
            if (0 == strcmp(map.path[i], choices->list[c].path))
                parts[count++] = (struct gba_map_part){c, map.processes[i]};
    return count;
}

gba_status_t gba_device_choose(const gba_device_choices_t *choices, const char *map,
                               const uint64_t *words, uint32_t processes, uint32_t self,
                               uint32_t *index, char *why, size_t len)
{
    struct gba_distances *distances = calloc(processes, sizeof *distances);
    uint8_t *chosen = calloc(processes, sizeof *chosen);
    const uint64_t own = gba_device_choices_word(choices);
    struct gba_map_part parts[GBA_DEVICE_CHOICES_MAX];
    struct gba_choose choose = {.devices = choices->count,
                                .processes = processes,
                                .distance = distances,
                                .turn = (uint32_t)getpid()};
    gba_status_t status = GBA_ERR_NOMEM;

    if (distances == NULL || chosen == NULL)
        goto free_arrays;
    for (uint32_t p = 0; p < processes; p++)
        word_read(p == self ? own : words[p], own, &distances[p]);
    choose.parts = map_read(choices, map, parts);
    choose.map = choose.parts > 0 ? parts : NULL;
    gba_choose(&choose, chosen);
    gba_choose_describe(&choose, chosen, self, why, len);
    *index = chosen[self];
    status = GBA_OK;

free_arrays:
    free(chosen);
    free(distances);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The devices among which a process chooses: device_list, device_map, and what other processes of
 * the host send about their distances. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gba/dev/choose.h"
#include "gba/dev/distance.h"
#include "gba/dev/path.h"

#define COUNT_MAX 65535u

/* A list of devices, or the parts of a map. */
struct list {
    const char *parameter, *text; /* for messages */
    char *message;
    size_t len;
    bool map, exclude;
    uint32_t count;
    char path[GBA_CANDIDATES_MAX][GBA_CANDIDATE_PATH_MAX];
    uint32_t processes[GBA_CANDIDATES_MAX]; /* of a map */
};

static gba_status_t refuse(struct list *list, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Set the message, "device_list=TEXT: " and the error, and return GBA_ERR_PARAM. */
static gba_status_t refuse(struct list *list, const char *format, ...)
{
    char what[300];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    snprintf(list->message, list->len, "%s=%.40s%s: %s", list->parameter, list->text,
             strlen(list->text) > 40 ? "..." : "", what);
    for (char *c = list->message; list->len > 0 && '\0' != *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = '?'; /* one line, and nothing that a terminal executes */
    return GBA_ERR_PARAM;
}

/* "gba0" is a file in /dev; all else is a device path. */
static bool is_name(const char *item)
{
    return 0 == strncmp(item, "gba", 3) && '\0' != item[3] &&
           strlen(item) == 3 + strspn(item + 3, "0123456789");
}

/* Add one device of the text. */
static gba_status_t item_add(struct list *list, const char *item)
{
    char *path = list->path[list->count], message[288];
    struct gba_dev_path parsed;

    if (GBA_CANDIDATES_MAX == list->count)
        return refuse(list, "more than %u devices", GBA_CANDIDATES_MAX);
    if (strlen(item) + sizeof "/dev/" > GBA_CANDIDATE_PATH_MAX)
        return refuse(list, "a device has more than %zu characters",
                      GBA_CANDIDATE_PATH_MAX - sizeof "/dev/");
    snprintf(path, GBA_CANDIDATE_PATH_MAX, "%s%s", is_name(item) ? "/dev/" : "", item);
    if (GBA_OK != gba_dev_path_parse(path, &parsed, message, sizeof message) ||
        GBA_DEV_NONE == parsed.kind || (list->exclude && GBA_DEV_CDEV != parsed.kind))
        return refuse(list, "\"%.40s\" is not a device; allowed: names such as gba0%s", item,
                      list->exclude ? " after ^" : ", or paths as in device_path, with commas");
    for (uint32_t i = 0; i < list->count; i++)
        if (!list->map && 0 == strcmp(path, list->path[i]))
            return refuse(list, "%.40s is given twice", item);
    list->count++;
    return GBA_OK;
}

/* Split the count off "DEVICE:COUNT". */
static gba_status_t count_parse(struct list *list, char *item)
{
    char *colon = strrchr(item, ':');
    unsigned long count = 0;

    if (colon != NULL && '\0' != colon[1] && strlen(colon + 1) <= 5 &&
        strlen(colon + 1) == strspn(colon + 1, "0123456789"))
        count = strtoul(colon + 1, NULL, 10);
    if (0 == count || count > COUNT_MAX)
        return refuse(list,
                      "\"%.40s\" is not DEVICE:COUNT; allowed: none, or for example "
                      "gba0:3,gba1:5; COUNT is 1 to %u processes",
                      item, COUNT_MAX);
    *colon = '\0';
    list->processes[list->count % GBA_CANDIDATES_MAX] = (uint32_t)count;
    return GBA_OK;
}

static gba_status_t items_parse(struct list *list, const char *text)
{
    char copy[GBA_CANDIDATES_MAX * GBA_CANDIDATE_PATH_MAX], *rest = copy, *item;
    gba_status_t status = GBA_OK;

    if (strlen(text) >= sizeof copy)
        return refuse(list, "more than %zu characters", sizeof copy - 1);
    strcpy(copy, text);
    while (GBA_OK == status && (item = strsep(&rest, ",")) != NULL) {
        if (list->map)
            status = count_parse(list, item);
        if (GBA_OK == status)
            status = item_add(list, item);
    }
    return status;
}

static gba_status_t list_parse(struct list *list, const char *text, char *message, size_t len)
{
    *list = (struct list){.parameter = "device_list", .text = text, .message = message, .len = len};
    if (0 == strcmp(text, "all"))
        return GBA_OK;
    list->exclude = '^' == text[0];
    return items_parse(list, text + list->exclude);
}

static gba_status_t map_parse(struct list *map, const char *text, char *message, size_t len)
{
    *map = (struct list){
        .parameter = "device_map", .text = text, .message = message, .len = len, .map = true};
    return 0 == strcmp(text, "none") ? GBA_OK : items_parse(map, text);
}

gba_status_t gba_device_list_check(const char *list, char *message, size_t len)
{
    struct list parsed;

    return list_parse(&parsed, list, message, len);
}

gba_status_t gba_device_map_check(const char *map, char *message, size_t len)
{
    struct list parsed;

    return map_parse(&parsed, map, message, len);
}

static bool list_has(const struct list *list, const char *path)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (0 == strcmp(path, list->path[i]))
            return true;
    return false;
}

/* Add a candidate, unless it is a file without that access (as for access(2)). */
static void candidate_add(gba_candidates_t *candidates, const char *path, int access_mode)
{
    if ('/' == path[0] && 0 != access(path, access_mode))
        return;
    snprintf(candidates->list[candidates->count].path, GBA_CANDIDATE_PATH_MAX, "%s", path);
    candidates->list[candidates->count++].distance = GBA_DISTANCE_SYS;
}

static void candidates_add(gba_candidates_t *candidates, const struct list *list, int access_mode)
{
    char path[32];

    if (list->exclude || 0 == list->count) {
        /* A few calls of access(2) cost less than reading the directory, and most hosts have one
         * device or none. The numbers may have gaps. */
        for (unsigned number = 0; number < GBA_CANDIDATES_MAX; number++) {
            snprintf(path, sizeof path, "/dev/gba%u", number);
            if (!list_has(list, path))
                candidate_add(candidates, path, access_mode);
        }
    } else {
        for (uint32_t i = 0; i < list->count; i++)
            candidate_add(candidates, list->path[i], access_mode);
    }
}

void gba_candidates_find(const char *text, gba_candidates_t *candidates)
{
    struct list list;
    char ignored[1];

    memset(candidates, 0, sizeof *candidates);
    if (GBA_OK != list_parse(&list, text, ignored, sizeof ignored))
        return;
    candidates_add(candidates, &list, R_OK | W_OK);
    if (0 == candidates->count)
        candidates_add(candidates, &list, F_OK); /* opening one shows the user the reason */
    if (candidates->count > 1)
        gba_distances_measure(candidates);
}

/*
 * The word: three bits for the distance to each candidate, from bit 0 on, and above them a sum over
 * the paths, which differs for processes with other candidates.
 */
#define DISTANCE_BITS 3u
#define SUM_SHIFT     (GBA_CANDIDATES_MAX * DISTANCE_BITS)

_Static_assert(SUM_SHIFT == 48, "48 bits of distances and 16 bits of the sum");

static uint64_t paths_sum(const gba_candidates_t *candidates)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < candidates->count; i++)
        sum = sum * 31 + gba_dev_job(candidates->list[i].path);
    return (sum ^ sum >> 16 ^ sum >> 32 ^ sum >> 48) & 0xFFFF;
}

uint64_t gba_candidates_word(const gba_candidates_t *candidates)
{
    uint64_t sum = paths_sum(candidates), word = (0 == sum ? 1 : sum) << SUM_SHIFT;

    for (uint32_t i = 0; i < candidates->count; i++)
        word |= (uint64_t)candidates->list[i].distance << i * DISTANCE_BITS;
    return word;
}

/* The distances of a process from its word, or from `own` if they are not known. */
static void word_read(uint64_t word, uint64_t own, struct gba_distances *distances)
{
    if (word >> SUM_SHIFT != own >> SUM_SHIFT)
        word = own;
    for (uint32_t i = 0; i < GBA_CANDIDATES_MAX; i++)
        distances->to[i] = (uint8_t)(word >> i * DISTANCE_BITS & ((1u << DISTANCE_BITS) - 1));
}

/* The parts of the map that name a candidate. Returns their number. */
static uint32_t map_read(const gba_candidates_t *candidates, const char *text,
                         struct gba_map_part *parts)
{
    struct list map;
    uint32_t count = 0;
    char ignored[1];

    if (GBA_OK != map_parse(&map, text, ignored, 0))
        return 0;
    for (uint32_t i = 0; i < map.count; i++)
        for (uint32_t c = 0; c < candidates->count; c++)
            if (0 == strcmp(map.path[i], candidates->list[c].path))
                parts[count++] = (struct gba_map_part){c, map.processes[i]};
    return count;
}

gba_status_t gba_candidates_choose(const gba_candidates_t *candidates, const char *map,
                                   const uint64_t *words, uint32_t processes, uint32_t self,
                                   uint32_t *index, char *why, size_t len)
{
    struct gba_distances *distances = calloc(processes, sizeof *distances);
    uint8_t *chosen = calloc(processes, sizeof *chosen);
    const uint64_t own = gba_candidates_word(candidates);
    struct gba_map_part parts[GBA_CANDIDATES_MAX];
    struct gba_choose choose = {.devices = candidates->count,
                                .processes = processes,
                                .distance = distances,
                                .turn = (uint32_t)getpid()};
    gba_status_t status = GBA_ERR_NOMEM;

    if (distances == NULL || chosen == NULL)
        goto free_arrays;
    for (uint32_t p = 0; p < processes; p++)
        word_read(p == self ? own : words[p], own, &distances[p]);
    choose.parts = map_read(candidates, map, parts);
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

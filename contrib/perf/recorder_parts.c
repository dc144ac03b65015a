/* SPDX-License-Identifier: BSD-3-Clause */
/* The comparison of the times of a communicator's members. */
#include "contrib/perf/recorder_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int recorder_part_compare(const void *left, const void *right)
{
    const struct recorder_part *a = *(struct recorder_part *const *)left;
    const struct recorder_part *b = *(struct recorder_part *const *)right;

    if (a->call != b->call)
        return (a->call > b->call) - (a->call < b->call);
    if (a->id != b->id)
        return (a->id > b->id) - (a->id < b->id);
    return (a->rank > b->rank) - (a->rank < b->rank);
}

size_t recorder_parts_together(struct recorder_part *const *parts, size_t count)
{
    size_t together = 1;

    while (parts[0]->id != 0 && together < count && parts[together]->call == parts[0]->call &&
           parts[together]->id == parts[0]->id)
        together++;
    return together;
}

/* Keep the rounds that all parts have. Returns whether they have the same ones. */
static bool align(struct recorder_part **parts, size_t count)
{
    uint64_t rounds = UINT64_MAX;
    unsigned int shift = 0;

    for (size_t i = 0; i < count; i++) {
        shift = parts[i]->shift > shift ? parts[i]->shift : shift;
        rounds = parts[i]->rounds < rounds ? parts[i]->rounds : rounds;
    }
    for (size_t i = 0; i < count; i++) {
        struct recorder_part *part = parts[i];
        uint32_t kept = 0;

        for (uint32_t j = 0; j < part->count; j++)
            if (recorder_timed(part->times[j].round, shift) && part->times[j].round < rounds)
                part->times[kept++] = part->times[j];
        part->count = kept;
    }
    for (size_t i = 0; i < count; i++) {
        if (parts[i]->count != parts[0]->count || parts[i]->torn)
            return false;
        for (uint32_t j = 0; j < parts[0]->count; j++)
            if (parts[i]->times[j].round != parts[0]->times[j].round)
                return false;
    }
    return parts[0]->count > 0 && count == (size_t)parts[0]->size;
}

/* What a member caused: the barriers that it entered last, and the waiting for it, ns. */
struct caused {
    double lasts, wait, sites[RECORDER_SITES + 1];
};

/* Divide the j-th time of each part. */
static void divide(struct recorder_part **parts, size_t count, uint32_t j, struct caused *caused,
                   struct recorder_row *row)
{
    double sum = 0;
    size_t last = 0;

    for (size_t i = 1; i < count; i++)
        if (parts[i]->times[j].entered > parts[last]->times[j].entered)
            last = i;
    for (size_t i = 0; i < count; i++) {
        const struct recorder_time *time = &parts[i]->times[j];
        const double wait = (double)(parts[last]->times[j].entered - time->entered);
        const double spent = (double)time->spent;

        if (spent > 0)
            sum += fmin(wait, spent) * (double)time->charged / spent;
    }
    row->wait += sum;
    caused[last].lasts += 1;
    caused[last].wait += sum;
    caused[last].sites[(uintptr_t)parts[last]->times[j].site] += sum;
}

/* Name the member for which the others waited longest, and its site. */
static void name_late(struct recorder_part **parts, size_t count, const struct caused *caused,
                      struct recorder_row *row)
{
    size_t worst = 0, site = 0;

    for (size_t i = 1; i < count; i++)
        if (caused[i].wait > caused[worst].wait)
            worst = i;
    for (size_t i = 1; i < RECORDER_SITES; i++)
        if (caused[worst].sites[i] > caused[worst].sites[site])
            site = i;
    row->late = parts[worst]->rank;
    row->lasts = caused[worst].lasts / parts[worst]->count;
    row->caused = caused[worst].wait;
    (void)snprintf(row->host, sizeof row->host, "%s", parts[worst]->host);
    (void)snprintf(row->site, sizeof row->site, "%s", parts[worst]->sites[site]);
}

struct recorder_row recorder_row_of(struct recorder_part **parts, size_t count)
{
    struct recorder_row row = {.call = parts[0]->call, .size = parts[0]->size, .comms = 1};
    const bool same = parts[0]->id != 0 && align(parts, count);
    struct caused *caused = same ? calloc(count, sizeof *caused) : NULL;
    double rounds = 0;

    (void)snprintf(row.name, sizeof row.name, "%s", parts[0]->name);
    if (parts[0]->id == 0)
        row.comms = 1. / row.size;
    for (size_t i = 0; i < count; i++) {
        const double timed = parts[i]->count;
        const double part = timed > 0 ? (double)parts[i]->rounds / timed : 0;

        for (uint32_t j = 0; j < parts[i]->count; j++)
            row.time += part * (double)parts[i]->times[j].charged;
        row.calls += (double)parts[i]->rounds;
        rounds += timed;
    }
    if (caused == NULL) {
        row.wait = NAN;
        return row;
    }
    for (uint32_t j = 0; j < parts[0]->count; j++)
        divide(parts, count, j, caused, &row);
    name_late(parts, count, caused, &row);
    row.wait *= row.calls / rounds; /* a part of the rounds was timed */
    row.caused *= row.calls / rounds;
    free(caused);
    return row;
}

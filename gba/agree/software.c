/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/agree/software.h"

#include <stdio.h>

/* Largest team for which `auto` takes dissemination over messages. It sends log2(size) signals one
 * after the other. Above this size the rounds that radix saves outweigh its larger number of
 * messages. */
#define AUTO_V1_MAX 16u

/* The largest team on one host whose algorithms were measured with a core for each member. */
#define FORMULA_ABOVE 16u

/* ------------------------------------------------------------------------------- the list --- */

static struct gba_choice *list_add(struct gba_choice *list, uint32_t *count, int32_t hierarchy,
                                   int32_t algorithm)
{
    struct gba_choice *choice = &list[(*count)++];

    *choice = (struct gba_choice){.hierarchy = hierarchy, .algorithm = algorithm};
    return choice;
}

/* With a radix of n or more there is one round, in which each member signals all others. Beyond 8
 * members that takes too long (gba/algo/README.md). */
uint32_t gba_choices_radices(const struct gba_info *info, uint32_t n,
                             uint8_t list[GBA_RADICES_MOST])
{
    static const uint8_t radices[] = {4, 8, 3};
    uint32_t count = 0;

    if (n <= 2)
        return 0; /* dissemination is the same */
    if (info->terms.radix >= GBA_RADIX_MIN || info->oversubscribed) {
        list[count++] = gba_terms_radix(&info->terms);
        return count;
    }
    for (uint32_t i = 0; i < sizeof radices; i++)
        if (radices[i] < n)
            list[count++] = radices[i];
    if (n <= 8)
        list[count++] = (uint8_t)n;
    return count;
}

/* The algorithms among n members, flat or among the leaders. radix: with two members it is
 * dissemination. tree: with two members it has twice the way of dissemination, for as many
 * messages. */
static void list_algorithms(struct gba_choice *list, uint32_t *count, int32_t hierarchy,
                            const struct gba_info *info, uint32_t n)
{
    const int32_t algorithm = info->terms.algorithm;
    const bool any = GBA_ALGORITHM_AUTO == algorithm;
    uint8_t radices[GBA_RADICES_MOST];
    const uint32_t several = gba_choices_radices(info, n, radices);

    if (any || GBA_ALGORITHM_V1 == algorithm || (GBA_ALGORITHM_V2 == algorithm && n <= 2))
        list_add(list, count, hierarchy, GBA_ALGORITHM_V1);
    for (uint32_t i = 0; i < several && (any || GBA_ALGORITHM_V2 == algorithm); i++)
        list_add(list, count, hierarchy, GBA_ALGORITHM_V2)->radix = radices[i];
    if ((any && n > 2) || GBA_ALGORITHM_TREE == algorithm)
        list_add(list, count, hierarchy, GBA_ALGORITHM_TREE)->radix = gba_terms_radix(&info->terms);
}

uint32_t gba_choices_list(const struct gba_info *info, bool fallback,
                          struct gba_choice list[GBA_CHOICES_MOST])
{
    const struct gba_terms *terms = &info->terms;
    const bool any_algorithm = GBA_ALGORITHM_AUTO == terms->algorithm;
    const bool any_hierarchy = GBA_HIERARCHY_AUTO == terms->hierarchy;
    uint32_t count = 0;

    if (1 == info->hosts) {
        if (!any_algorithm)
            return 0; /* an algorithm leaves no choice on one host */
        if (GBA_HIERARCHY_FLAT != terms->hierarchy)
            list_add(list, &count, GBA_HIERARCHY_NODE, GBA_ALGORITHM_AUTO);
        if (GBA_HIERARCHY_NODE != terms->hierarchy) {
            list_algorithms(list, &count, GBA_HIERARCHY_FLAT, info, info->size);
            list_add(list, &count, GBA_HIERARCHY_FLAT, GBA_ALGORITHM_V3);
        }
    } else {
        /* central (v3) reads the memory of other hosts, so it is not a candidate. */
        if (GBA_ALGORITHM_V3 == terms->algorithm)
            return 0;
        if (GBA_HIERARCHY_FLAT != terms->hierarchy)
            list_algorithms(list, &count, GBA_HIERARCHY_NODE, info, info->hosts);
        /* With one member on each host both hierarchies are the same. */
        if (GBA_HIERARCHY_FLAT == terms->hierarchy || (any_hierarchy && info->hosts < info->size))
            list_algorithms(list, &count, GBA_HIERARCHY_FLAT, info, info->size);
    }
    if (any_algorithm && any_hierarchy && fallback)
        list[count++] = (struct gba_choice){.fallback = true};
    return count;
}

void gba_choice_name(const struct gba_choice *choice, bool hosts, char name[GBA_CHOICE_NAME])
{
    const struct gba_algorithm *algorithm = &gba_algorithms[choice->algorithm];
    const bool node = GBA_HIERARCHY_NODE == choice->hierarchy;
    const char *const prefix = !hosts ? "" : node ? "node " : "flat ";

    if (choice->fallback)
        snprintf(name, GBA_CHOICE_NAME, "fallback");
    else if (choice->group)
        snprintf(name, GBA_CHOICE_NAME, node ? "node device" : "device");
    else if (GBA_ALGORITHM_AUTO == choice->algorithm)
        snprintf(name, GBA_CHOICE_NAME, "%scounter", prefix);
    else if (algorithm->by_radix)
        snprintf(name, GBA_CHOICE_NAME, "%s%s %u", prefix, algorithm->name, choice->radix);
    else
        snprintf(name, GBA_CHOICE_NAME, "%s%s", prefix, algorithm->name);
}

/* ------------------------------------------------------------------------------ the first --- */

uint64_t gba_choice_cost(const struct gba_info *info, struct gba_choice choice, uint32_t domains)
{
    const struct gba_cost_team team = {.members = info->size,
                                       .hosts = info->hosts,
                                       .largest = info->largest,
                                       .domains = domains,
                                       .oversubscribed = info->oversubscribed};

    return 0 == info->hosts ? 0 : gba_cost(&info->terms.cost, &team, choice);
}

int32_t gba_algorithm_auto(uint32_t size)
{
    return size <= AUTO_V1_MAX ? GBA_ALGORITHM_V1 : GBA_ALGORITHM_V2;
}

/* An algorithm over messages, and for more processes than cores if hierarchy is flat. */
static int32_t algorithm_choose(int32_t wanted, uint32_t size, bool one_host, bool pull)
{
    if (GBA_ALGORITHM_AUTO == wanted)
        return gba_algorithm_auto(size);
    if (!one_host && GBA_ALGORITHM_V3 == wanted && !pull)
        return GBA_ALGORITHM_V1; /* central (v3) reads flags; messages cannot */
    return wanted;
}

/*
 * The algorithm of members on one host with a core for each, as gba/algo/README.md has measured it:
 * one round for up to 4 members, radix 4 for up to 16. Beyond, the formula decides, unmeasured.
 */
static struct gba_choice choice_of_cores(const struct gba_info *info)
{
    struct gba_choice first = {.hierarchy = GBA_HIERARCHY_FLAT, .algorithm = GBA_ALGORITHM_V2};
    struct gba_choice choice = first;
    uint8_t radices[GBA_RADICES_MOST];
    const uint32_t count = gba_choices_radices(info, info->size, radices);

    if (0 == count)
        return (struct gba_choice){.hierarchy = GBA_HIERARCHY_FLAT, .algorithm = GBA_ALGORITHM_V1};
    first.radix = info->size <= 4 ? radices[count - 1] : radices[0]; /* all, or 4 */
    for (uint32_t i = 1; i < count && info->size > FORMULA_ABOVE; i++) {
        choice.radix = radices[i];
        if (gba_choice_cost(info, choice, 1) < gba_choice_cost(info, first, 1))
            first = choice;
    }
    return first;
}

struct gba_choice gba_choice_first(const struct gba_info *info)
{
    const struct gba_terms *terms = &info->terms;
    const bool flat = info->one_host || GBA_HIERARCHY_FLAT == terms->hierarchy;
    const bool any = GBA_ALGORITHM_AUTO == terms->algorithm;
    struct gba_choice choice = {.hierarchy = flat ? GBA_HIERARCHY_FLAT : GBA_HIERARCHY_NODE};

    if (info->one_host && any && (info->oversubscribed || GBA_HIERARCHY_NODE == terms->hierarchy))
        return (struct gba_choice){.hierarchy = GBA_HIERARCHY_NODE,
                                   .algorithm = GBA_ALGORITHM_AUTO};
    if (info->one_host && !info->oversubscribed && info->size > 2 &&
        (any || GBA_ALGORITHM_V2 == terms->algorithm))
        return choice_of_cores(info);
    choice.algorithm = algorithm_choose(terms->algorithm, flat ? info->size : info->hosts,
                                        info->one_host, info->pull);
    if (GBA_ALGORITHM_V2 == choice.algorithm || GBA_ALGORITHM_TREE == choice.algorithm)
        choice.radix = gba_terms_radix(terms);
    return choice;
}

bool gba_choice_slow(const struct gba_info *info, const struct gba_choice *choices, uint32_t count,
                     uint32_t choice)
{
    const uint64_t cost = gba_choice_cost(info, choices[choice], 1);

    for (uint32_t i = 0;
         i < count && info->one_host && !info->oversubscribed && !choices[choice].fallback; i++)
        if (!choices[i].fallback && choices[i].hierarchy == choices[choice].hierarchy &&
            gba_choice_cost(info, choices[i], 1) < cost / 2)
            return true;
    return false;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The software barriers among which the members of a team choose: those that are worth a trial, the
 * one that parameters and measurements take first, and what each is called and expected to cost.
 * Pure.
 */
#ifndef GBA_AGREE_SOFTWARE_H
#define GBA_AGREE_SOFTWARE_H

#include "gba/agree/info.h"

#define GBA_CHOICES_MOST 11u

/*
 * List the software barriers, and, with `fallback`, the runtime's. The list can contain the current
 * barrier. Returns the number of candidates, 0 to GBA_CHOICES_MOST. Parameters that leave no choice
 * give fewer than 2.
 */
uint32_t gba_choices_list(const struct gba_info *info, bool fallback,
                          struct gba_choice list[GBA_CHOICES_MOST]);

/* The radices of the algorithm radix with n members that are worth a trial, in the order of
 * preference. Returns their number, 0 to GBA_RADICES_MOST. */
#define GBA_RADICES_MOST 3u
uint32_t gba_choices_radices(const struct gba_info *info, uint32_t n,
                             uint8_t list[GBA_RADICES_MOST]);

/* The radix of an algorithm that has one, if nothing else decides. */
static inline uint8_t gba_terms_radix(const struct gba_terms *terms)
{
    return terms->radix >= GBA_RADIX_MIN ? terms->radix : GBA_RADIX_DEFAULT;
}

/* The name of a candidate for the user: "counter", "node radix 4". hosts: several hosts. */
#define GBA_CHOICE_NAME 24u
void gba_choice_name(const struct gba_choice *choice, bool hosts, char name[GBA_CHOICE_NAME]);

/* The algorithm that `auto` takes among so many members. */
int32_t gba_algorithm_auto(uint32_t size);

/* The software barrier that the parameters and the table of algorithms choose. */
struct gba_choice gba_choice_first(const struct gba_info *info);

/* The expected time of a path, ns; 0: not known, also as long as the hosts are not. domains: of
 * switches, of a group. */
uint64_t gba_choice_cost(const struct gba_info *info, struct gba_choice choice, uint32_t domains);

/* Whether a trial is to leave a choice out: on one host with a core for each member its time is
 * expected to be twice that of another one of its hierarchy, which is more than the formula errs.
 */
bool gba_choice_slow(const struct gba_info *info, const struct gba_choice *choices, uint32_t count,
                     uint32_t choice);

#endif

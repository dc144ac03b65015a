/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers and times in the texts of users, and the message about a wrong one. */
#ifndef GBA_BASE_NUMBER_H
#define GBA_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A unit that may follow a number. */
struct gba_unit {
    const char *name; /* NULL ends the list; "": a number without a unit, the last one */
    uint64_t factor;
};

/* ns, us, ms, s, m, h, in picoseconds. */
extern const struct gba_unit gba_times[];
#define GBA_TIMES_NAMES "ns, us, ms, s, m, h"
#define GBA_NS          UINT64_C(1000)
#define GBA_SECOND      UINT64_C(1000000000000)

/*
 * Parse a decimal number without sign at the start of *text, and its unit. A fraction is allowed
 * as far as the product with the unit is an integer. *text, *value: set on success, *text to what
 * follows. Returns false if there is no such number, or the product exceeds 64 bits. Thread-safe.
 */
bool gba_number_parse(const char **text, const struct gba_unit *units, uint64_t *value);

/* Parse a text that is a number from `least` to `most` and nothing else. */
bool gba_count_parse(const char *text, uint64_t least, uint64_t most, uint64_t *value);

/* Parse a text that is a time and nothing else. unit: of a number without one, in picoseconds. */
bool gba_time_parse(const char *text, uint64_t unit, uint64_t *ps);

/* Parse "HOSTS" or "HOSTSxRANKS", each at least 1 and their product at most `most`. *hosts, *ranks:
 * set on success; without RANKS *ranks stays. Returns false, with the message, if it is neither.
 * name: for the message. */
bool gba_shape_parse(const char *name, const char *text, uint64_t most, uint64_t *hosts,
                     uint64_t *ranks, char *message, size_t len);

/* Print "NAME=VALUE is invalid; allowed: ALLOWED" in one line, with a blank for the "=" after the
 * name of an option (len bytes at most, terminated). */
void gba_refuse(char *message, size_t len, const char *name, const char *value,
                const char *allowed);

#endif

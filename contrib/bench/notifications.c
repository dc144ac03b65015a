/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The number of failure notifications that the death of a device costs in a round, in simulated
 * teams:
 *
 *   notifications [MEMBERS...]
 *
 * by default of 16, 64, 256 and 1024 members. The device has released none, half, or all except one
 * of the members. Prints the least and the most of 20 random orders of delivery, and the number of
 * a protocol in which each member notifies all others.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "contrib/bench/notifications.h"

#define ORDERS 20u

static void print_range(uint32_t members, uint32_t released)
{
    uint64_t least = UINT64_MAX, most = 0;

    for (unsigned seed = 1; seed <= ORDERS; seed++) {
        uint64_t sent = notifications_count(members, released, seed);

        least = sent < least ? sent : least;
        most = sent > most ? sent : most;
    }
    printf("  %8" PRIu64 " to %8" PRIu64, least, most);
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"16", "64", "256", "1024"};
    const char *const *sizes = argc > 1 ? (const char *const *)(argv + 1) : usual;
    int count = argc > 1 ? argc - 1 : 4;

    if (argc > 1 && (0 == strcmp(argv[1], "--help") || atoi(argv[1]) < 2)) {
        puts("usage: notifications [MEMBERS...]\n"
             "Count the failure notifications of a round in simulated teams of 2 members or more.");
        return 0 != strcmp(argv[1], "--help");
    }
    printf("%8s  %20s  %20s  %20s  %10s  %12s\n", "members", "none released", "half released",
           "all but one", "bound", "all to all");
    for (int i = 0; i < count; i++) {
        uint32_t members = (uint32_t)strtoul(sizes[i], NULL, 0);

        printf("%8" PRIu32, members);
        print_range(members, 0);
        print_range(members, members / 2);
        print_range(members, members - 1);
        printf("  %10" PRIu64 "  %12" PRIu64 "\n", notifications_bound(members),
               notifications_all_to_all(members));
    }
    return 0;
}

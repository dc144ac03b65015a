/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A PE that has left a barrier delays no other PE: leave DIRECTORY
 *
 * After each of its first barriers PE 0 calls no function of OpenSHMEM until all other PEs have
 * left the barrier, too. The PEs inform each other by files in DIRECTORY.
 */
#include <shmem.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/shmem/test.h"

/* Enough for the PEs to agree on a path, and for a few barriers on it. */
#define BARRIERS 10

static void file_name(char *name, size_t len, const char *directory, int barrier, int pe)
{
    snprintf(name, len, "%s/left-%d-%d", directory, barrier, pe);
}

int main(int argc, char **argv)
{
    char name[512];
    FILE *file;

    test_begin("leave");
    TEST_CHECK(argc > 1, "no directory");
    for (int i = 0; i < BARRIERS; i++) {
        shmem_barrier_all();
        file_name(name, sizeof name, argv[1], i, test_me);
        file = fopen(name, "w");
        TEST_CHECK(file != NULL, "cannot make %s", name);
        fclose(file);
        for (int pe = 1; 0 == test_me && pe < test_pes; pe++) {
            file_name(name, sizeof name, argv[1], i, pe);
            while (0 != access(name, F_OK))
                usleep(1000);
        }
    }
    return test_end();
}

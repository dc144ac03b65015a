/* SPDX-License-Identifier: BSD-3-Clause */
/* The bootstrap shmem in a program that uses OpenSHMEM itself. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>

#include "gba/bootstrap.h"

static const char help[] = "usage: in_shmem\n"
                           "\n"
                           "As a PE that oshrun has started. OpenSHMEM is the program's before,\n"
                           "during and after two bootstraps.\n";

#define CHECK(what)                                                              \
    do {                                                                         \
        if (!(what)) {                                                           \
            fprintf(stderr, "in_shmem: line %d: not so: %s\n", __LINE__, #what); \
            return 1;                                                            \
        }                                                                        \
    } while (0)

static int next;

static int put_works(int round)
{
    int pes = shmem_n_pes(), me = shmem_my_pe();

    shmem_int_p(&next, round * 100 + me, (me + 1) % pes);
    shmem_barrier_all();
    CHECK(round * 100 + (me + pes - 1) % pes == next);
    shmem_barrier_all();
    return 0;
}

int main(int argc, char **argv)
{
    const gba_bootstrap_attr_t attr = {.kind = GBA_BOOTSTRAP_SHMEM};
    gba_bootstrap_t *bootstraps[2];
    char message[256];
    int wrong;

    if (2 == argc && 0 == strcmp(argv[1], "--help"))
        return fputs(help, stdout) < 0;
    shmem_init();
    wrong = put_works(1);
    for (int i = 0; i < 2; i++) {
        const gba_oob_t *oob;
        int me = shmem_my_pe(), all[64];

        CHECK(GBA_OK == gba_bootstrap_init(&attr, &bootstraps[i], message, sizeof message));
        oob = gba_bootstrap_oob(bootstraps[i]);
        CHECK((uint32_t)me == oob->rank && (uint32_t)shmem_n_pes() == oob->size && oob->size <= 64);
        CHECK(GBA_OK == oob->allgather(oob->ctx, &me, all, sizeof me));
        for (int pe = 0; pe < shmem_n_pes(); pe++)
            CHECK(pe == all[pe]);
    }
    wrong |= put_works(2);
    for (int i = 0; i < 2; i++)
        gba_bootstrap_destroy(bootstraps[i]);
    wrong |= put_works(3);
    shmem_finalize();
    return wrong;
}

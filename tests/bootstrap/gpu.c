/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPU members of ranks on several hosts. Run with the CUDA driver of tests/gpu: threads stand for
 * kernels (tests/gpu/mixed.c). Arguments, as a member of a bootstrap (GBA_BOOTSTRAP):
 *
 *   ROUNDS
 *   FILE  a file that all processes map, for the proof that nobody leaves early
 *   WAY   even: even ranks have GPU members; all: all ranks have; left: as even, but rank 1
 *         leaves the job after half of the rounds
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gba/bootstrap.h"
#include "tests/gpu/members.h"

int main(int argc, char **argv)
{
    static struct member me;
    struct mixed mixed = {.device = NULL};
    gba_status_t status;
    char message[256] = "usage: gpu ROUNDS FILE WAY";
    bool left;
    int file;

    if (4 != argc || GBA_OK != gba_bootstrap_init(NULL, &me.bootstrap, message, sizeof message))
        return fprintf(stderr, "gpu: %s\n", message) < 0 ? 1 : 2;
    me.rank = gba_bootstrap_oob(me.bootstrap)->rank;
    mixed.gpus = 0 == strcmp(argv[3], "all") ? MIXED_ALL : MIXED_EVEN;
    left = 0 == strcmp(argv[3], "left");
    mixed.rounds = (uint32_t)strtoul(argv[1], NULL, 10) / (left && 1 == me.rank ? 2 : 1);
    file = open(argv[2], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || 0 != ftruncate(file, sizeof *me.all))
        return perror(argv[2]), 1;
    me.all = mmap(NULL, sizeof *me.all, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (MAP_FAILED == (void *)me.all)
        return perror(argv[2]), 1;
    me.all->size = gba_bootstrap_oob(me.bootstrap)->size;
    status = mixed_run(&me, &mixed);
    if (0 == me.rank)
        printf("%u barriers of %u members, %s; %s\n", mixed.rounds, me.all->size,
               GBA_OK == status ? "none left early" : gba_status_text(status),
               gba_team_why(me.team));
    member_end(&me);
    return GBA_OK == status || (left && 1 != me.rank) ? 0 : 1;
}

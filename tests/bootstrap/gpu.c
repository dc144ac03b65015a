/* SPDX-License-Identifier: BSD-3-Clause */
/* GPU members of ranks on several hosts. Run with the CUDA driver of tests/gpu: threads stand for
 * kernels (tests/gpu/mixed.c). */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gba/bootstrap.h"
#include "tests/gpu/members.h"

static const char help[] =
    "usage: gpu ROUNDS FILE WAY\n"
    "\n"
    "As a member of a bootstrap (GBA_BOOTSTRAP).\n"
    "\n"
    "  FILE  a file that all processes map, for the proof that nobody leaves early\n"
    "  WAY   even: even ranks have GPU members; all: all ranks have; left: as even, but rank 1\n"
    "        leaves the job after half of the rounds\n";

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "gpu: %s: %s\n", what, why);
    return 1;
}

static int run(struct member *me, gba_bootstrap_t *bootstrap, struct mixed *mixed, bool left)
{
    gba_remote_t *remote = NULL;
    gba_params_t params;
    char message[256];
    gba_status_t status;

    gba_params_default(&params);
    if (GBA_OK != gba_params_environment(&params, message, sizeof message) ||
        GBA_OK != gba_bootstrap_remote_open(bootstrap, &remote, message, sizeof message))
        return fail("no team", message);
    me->remote = remote;
    me->device_status = gba_bootstrap_device(bootstrap, params.device_path, NULL, &me->device);
    if (left && 1 == me->oob.rank)
        mixed->rounds /= 2;
    status = mixed_run(me, mixed);
    if (GBA_OK == status && !left)
        status = gba_bootstrap_barrier(bootstrap);
    if (0 == me->oob.rank)
        printf("%u barriers of %u members, %s; %s\n", mixed->rounds, me->oob.size,
               GBA_OK == status ? "none left early" : gba_status_text(status),
               gba_team_why(me->team));
    gba_team_destroy(me->team);
    gba_global_device_put(me->device);
    gba_bootstrap_remote_close(remote);
    return GBA_OK == status || (left && 1 != me->oob.rank) ? 0 : 1;
}

int main(int argc, char **argv)
{
    static struct member me;
    struct mixed mixed = {.path = NULL};
    gba_bootstrap_t *bootstrap;
    char message[256];
    int file, result;

    if (4 != argc)
        return fputs(help, stderr) < 0 ? 1 : 2;
    if (GBA_OK != gba_bootstrap_init(NULL, &bootstrap, message, sizeof message))
        return fail("cannot join", message);
    mixed.rounds = (uint32_t)strtoul(argv[1], NULL, 10);
    mixed.gpus = 0 == strcmp(argv[3], "all") ? MIXED_ALL : MIXED_EVEN;
    me.oob = *gba_bootstrap_oob(bootstrap);
    file = open(argv[2], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || 0 != ftruncate(file, sizeof *me.all))
        return fail(argv[2], "cannot be written");
    me.all = mmap(NULL, sizeof *me.all, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (MAP_FAILED == (void *)me.all)
        return fail(argv[2], "cannot be mapped");
    result = run(&me, bootstrap, &mixed, 0 == strcmp(argv[3], "left"));
    gba_bootstrap_destroy(bootstrap);
    return result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What contrib/bench/instructions counts: barriers of a team that never wait, since the release
 * flag is set before anybody looks. A team of one member, so one process is enough.
 *
 *   fast_path cdev    on /dev/gba0, with the system calls of a kernel that is not there
 *   fast_path sim     on a simulated device
 *   fast_path store   as cdev, but the doorbell may not be stored to: prints the address of the
 *                     instruction that tries to
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "gba/engine.h"
#include "tests/unit/fake_kernel.h"

#define BARRIERS 100 /* as contrib/bench/instructions expects */

static gba_status_t alone_bcast(void *ctx, void *buffer, size_t bytes, uint32_t root)
{
    (void)ctx, (void)buffer, (void)bytes, (void)root;
    return GBA_OK;
}

static gba_status_t alone_min(void *ctx, int64_t mine, int64_t *least)
{
    (void)ctx;
    *least = mine;
    return GBA_OK;
}

static gba_status_t alone_allgather(void *ctx, const void *in, void *out, size_t bytes)
{
    (void)ctx;
    memcpy(out, in, bytes);
    return GBA_OK;
}

static gba_status_t alone_barrier(void *ctx)
{
    (void)ctx;
    return GBA_OK;
}

static void alone_name(void *ctx, uint32_t rank, char *text, size_t len)
{
    (void)ctx;
    snprintf(text, len, "member %" PRIu32, rank);
}

static const gba_oob_t alone = {.size = 1,
                                .bcast = alone_bcast,
                                .allreduce_min = alone_min,
                                .allgather = alone_allgather,
                                .barrier = alone_barrier,
                                .name_member = alone_name};

static void on_fault(int number, siginfo_t *info, void *context)
{
    const ucontext_t *c = context;

    (void)number, (void)info;
#if defined(__x86_64__)
    printf("0x%llx\n", (unsigned long long)c->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
    printf("0x%llx\n", (unsigned long long)c->uc_mcontext.pc);
#else
    (void)c;
    printf("0\n");
#endif
    fflush(stdout);
    _exit(0);
}

static void doorbell_forbid(gba_mmio64_t *doorbell)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    uintptr_t page = (uintptr_t)doorbell & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1);

    sigaction(SIGSEGV, &action, NULL);
    mprotect((void *)page, 1, PROT_NONE);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    bool sim = strcmp(mode, "sim") == 0;
    gba_team_attr_t attr = {.name = "alone"};
    gba_params_t params;
    gba_team_t *team;

    if (!sim && strcmp(mode, "cdev") != 0 && strcmp(mode, "store") != 0) {
        fprintf(stderr, "usage: fast_path cdev|sim|store\n");
        return 2;
    }
    if (!sim)
        fake_kernel_start(32);
    gba_params_default(&params);
    attr.params = &params;
    if (gba_device_init(sim ? "sim" : FAKE_KERNEL_PATH, NULL, &attr.device) != GBA_OK ||
        gba_team_create(&attr, &alone, &team) != GBA_OK || team->state == NULL) {
        fprintf(stderr, "fast_path: the team has no barrier group\n");
        return 1;
    }
    if (strcmp(mode, "store") == 0)
        doorbell_forbid(team->state->doorbell);
    for (int i = 0; i < BARRIERS; i++) {
        /* Of the fake device; a simulated one is as fast as its members. */
        if (!sim)
            gba_word_store_release(team->state->flag, team->state->sequence + 1);
        if (gba_barrier_wait(team, NULL, NULL) != GBA_OK)
            return 1;
    }
    gba_team_destroy(team);
    gba_device_fini(attr.device);
    if (!sim)
        fake_kernel_stop();
    return 0;
}

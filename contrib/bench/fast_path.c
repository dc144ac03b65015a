/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program of contrib/bench/instructions: barriers of a team that never wait, because the
 * release flag is set before a member polls it. A team of one member, so one process is enough.
 *
 *   fast_path cdev    on /dev/gba0, with the system calls of a fake kernel
 *   fast_path hybrid  as cdev, with a group among the leaders of hosts
 *   fast_path sim     on a simulated device
 *   fast_path counter in software, by the counter of a host
 *   fast_path v1, v2, v3  in software, by that algorithm
 *   fast_path store   as cdev, but the doorbell is not writable: prints the address of the
 *                     instruction that stores to it
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "gba/failover/engine.h"
#include "tests/unit/dev/fake_kernel.h"

#define BARRIERS 100 /* as contrib/bench/instructions expects */

static const char usage[] =
    "usage: fast_path cdev|hybrid|sim|store|counter|v1|v2|v3\n"
    "Runs barriers that never wait, on a substituted /dev/gba0 (cdev, hybrid, store), a simulated "
    "device,\n"
    "or in software, for contrib/bench/instructions to count. store prints the address of the "
    "store "
    "to\n"
    "the doorbell.\n";

static gba_status_t alone_min(void *ctx, uint64_t *words, uint32_t count)
{
    (void)ctx, (void)words, (void)count;
    return GBA_OK;
}

static gba_status_t alone_allgather(void *ctx, const void *in, void *out, size_t bytes)
{
    (void)ctx;
    memcpy(out, in, bytes);
    return GBA_OK;
}

static gba_status_t alone_test(void *ctx)
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
                                .min = alone_min,
                                .allgather = alone_allgather,
                                .test = alone_test,
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

static const struct mode {
    const char *name, *device;
    gba_hierarchy_t hierarchy;
    gba_algorithm_choice_t algorithm;
} modes[] = {{.name = "cdev", .device = FAKE_KERNEL_PATH},
             {.name = "store", .device = FAKE_KERNEL_PATH},
             {.name = "hybrid", .device = FAKE_KERNEL_PATH, .hierarchy = GBA_HIERARCHY_NODE},
             {.name = "sim", .device = "sim"},
             {.name = "counter", .hierarchy = GBA_HIERARCHY_NODE},
             {.name = "v1", .algorithm = GBA_ALGORITHM_V1},
             {.name = "v2", .algorithm = GBA_ALGORITHM_V2},
             {.name = "v3", .algorithm = GBA_ALGORITHM_V3}};

static const struct mode *mode_find(const char *name)
{
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(name, modes[i].name) == 0)
            return &modes[i];
    return NULL;
}

int main(int argc, char **argv)
{
    const struct mode *mode = mode_find(argc > 1 ? argv[1] : "");
    gba_team_attr_t attr = {.name = "alone", .device_status = GBA_ERR_NO_DEVICE, .id = 1};
    struct gba_local_state *state;
    gba_params_t params;
    gba_team_t *team;
    bool fake;

    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) < 0;
    if (mode == NULL) {
        fputs(usage, stderr);
        return 2;
    }
    fake = mode->device != NULL && strcmp(mode->device, FAKE_KERNEL_PATH) == 0;
    if (fake)
        fake_kernel_start(32);
    gba_params_default(&params);
    params.offload = GBA_OFFLOAD_ALWAYS;
    params.hierarchy = (int)mode->hierarchy;
    params.sw_algorithm = (int)mode->algorithm;
    attr.params = &params;
    if ((mode->device != NULL && gba_device_init(mode->device, NULL, &attr.device) != GBA_OK) ||
        gba_team_create(&attr, &alone, &team) != GBA_OK) {
        fprintf(stderr, "fast_path: no team\n");
        return 1;
    }
    state = team->path->state;
    if ((mode->device != NULL) != (state != NULL)) {
        fprintf(stderr, "fast_path: not the path asked for: %s\n", gba_team_why(team));
        return 1;
    }
    if (state != NULL && strcmp(mode->name, "store") == 0)
        doorbell_forbid(state->doorbell);
    for (int i = 0; i < BARRIERS; i++) {
        /* Of the fake device; a simulated one is as fast as its members. */
        if (fake && state != NULL)
            gba_flag_store_release(state->flag, state->sequence + 1);
        if (gba_barrier_wait(team) != GBA_OK)
            return 1;
    }
    gba_team_destroy(team);
    gba_device_fini(attr.device);
    if (fake)
        fake_kernel_stop();
    return 0;
}

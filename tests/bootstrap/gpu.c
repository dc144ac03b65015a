/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPU members of ranks on several hosts. Run with the CUDA driver of tests/gpu: a thread stands for
 * the kernel. Each even rank takes part by a GPU member and each odd one by the CPU, or all by
 * GPUs.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gba/bootstrap.h"
#include "gba/gpu.h"

#define GBA_GPU_ON_CPU
#include "gba/gpu.cuh"

static const char help[] =
    "usage: gpu ROUNDS FILE [CPU]\n"
    "\n"
    "As a member of a bootstrap (GBA_BOOTSTRAP).\n"
    "\n"
    "  FILE  a file that all processes map, for the proof that nobody leaves early\n"
    "  CPU   \"cpu\": odd ranks take part by the CPU\n";

static struct {
    const gba_oob_t *oob;
    gba_bootstrap_t *bootstrap;
    gba_team_t *team;
    uint64_t *entered; /* [size] the round that each rank has entered, in FILE */
    uint32_t rounds;
    gba_gpu_member_t member;
    bool good;
} job;

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "gpu: %s: %s\n", what, why);
    return 1;
}

/* One barrier, and the proof. */
static bool round_good(uint64_t round, bool gpu)
{
    if (0 == round % 32 && round / 32 % job.oob->size == job.oob->rank)
        usleep(1000);
    __atomic_store_n(&job.entered[job.oob->rank], round, __ATOMIC_RELAXED);
    if (GBA_OK != (gpu ? gba_gpu_barrier(&job.member, GBA_GPU_THREAD, GBA_GPU_ACQ_REL, 0)
                       : gba_barrier_wait(job.team, gba_bootstrap_progress, job.bootstrap)))
        return fail("no barrier", gba_team_why(job.team)) == 0;
    for (uint32_t i = 0; i < job.oob->size; i++)
        if (__atomic_load_n(&job.entered[i], __ATOMIC_RELAXED) < round)
            return fail("PROOF", "a barrier was left before all had entered it") == 0;
    return true;
}

static void *kernel(void *unused)
{
    (void)unused;
    job.good = true;
    for (uint64_t round = 1; job.good && round <= job.rounds; round++)
        job.good = round_good(round, true);
    return NULL;
}

/* The rank's barriers by a GPU member. */
static int by_gpu(const gba_team_attr_t *attr)
{
    const gba_gpu_attr_t gpu = {.team_attr = attr, .oob = job.oob};
    pthread_t thread;

    if (GBA_OK != gba_gpu_member_create(job.team, &gpu, &job.member) ||
        0 != pthread_create(&thread, NULL, kernel, NULL))
        return 1;
    pthread_join(thread, NULL);
    if (job.good && 0 == job.oob->rank)
        printf("%u barriers of %u members, none left early; %s; %s\n", job.rounds, job.oob->size,
               gba_gpu_member_why(&job.member), gba_team_why(job.team));
    return GBA_OK == gba_gpu_member_destroy(&job.member) && job.good ? 0 : 1;
}

static int run(bool mixed)
{
    const bool gpu = !mixed || 0 == job.oob->rank % 2;
    gba_team_attr_t attr = {.name = "gpus", .gpu = gpu, .id = gba_bootstrap_team_id()};
    gba_remote_t *remote = NULL;
    gba_params_t params;
    char message[256];
    int result = 1;

    gba_params_default(&params);
    if (GBA_OK != gba_params_environment(&params, message, sizeof message) ||
        GBA_OK != gba_bootstrap_remote_open(job.bootstrap, &remote, message, sizeof message))
        return fail("no team", message);
    attr.params = &params;
    attr.remote = remote;
    attr.oversubscribed = gba_bootstrap_oversubscribed(job.bootstrap);
    attr.name_member = job.oob->name_member;
    attr.name_ctx = job.oob->ctx;
    attr.device_status =
        gba_bootstrap_device(job.bootstrap, params.device_path, NULL, &attr.device);
    if (GBA_OK == gba_team_create(&attr, job.oob, &job.team)) {
        result = 0;
        if (gpu)
            result = by_gpu(&attr);
        for (uint64_t round = 1; !gpu && 0 == result && round <= job.rounds; round++)
            result = round_good(round, false) ? 0 : 1;
        if (GBA_OK != gba_bootstrap_barrier(job.bootstrap))
            result = 1;
        gba_team_destroy(job.team);
    }
    gba_global_device_put(attr.device);
    gba_bootstrap_remote_close(remote);
    return result;
}

int main(int argc, char **argv)
{
    char message[256];
    int file, result;

    if (argc < 3 || argc > 4)
        return fputs(help, stderr) < 0 ? 1 : 2;
    if (GBA_OK != gba_bootstrap_init(NULL, &job.bootstrap, message, sizeof message))
        return fail("cannot join", message);
    job.rounds = (uint32_t)strtoul(argv[1], NULL, 10);
    job.oob = gba_bootstrap_oob(job.bootstrap);
    file = open(argv[2], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || 0 != ftruncate(file, (off_t)(job.oob->size * sizeof *job.entered)))
        return fail(argv[2], "cannot be written");
    job.entered = mmap(NULL, job.oob->size * sizeof *job.entered, PROT_READ | PROT_WRITE,
                       MAP_SHARED, file, 0);
    close(file);
    if (MAP_FAILED == job.entered)
        return fail(argv[2], "cannot be mapped");
    result = run(4 == argc && 0 == strcmp(argv[3], "cpu"));
    gba_bootstrap_destroy(job.bootstrap);
    return result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks on the GPUs of one host exchange a halo in a persistent kernel, with one barrier a step.
 * The cells of all ranks form a ring; a step adds to twice a cell its two neighbours. The result is
 * compared with a serial model, and the time with a kernel, a synchronization and MPI_Barrier for
 * each step.
 *
 *     nvcc gpu_steps.cu -o gpu_steps $(pkg-config --cflags --libs gba_gpu gba-bootstrap) -lmpi
 *     mpirun -np 2 gpu_steps          # processes that share a GPU need MPS, see gba_gpu(7)
 */
#include <cstdio>
#include <ctime>
#include <vector>

#include "gba/gpu.cuh"

#define CELLS 256u /* of a rank, one for each thread */
#define STEPS 2000u

/* The cells of a rank before and after a step, in turn. Two buffers are enough for one barrier a
 * step: who has passed it knows that the others have read what it overwrites next. */
struct cells {
    unsigned at[2][CELLS];
};

__device__ static void step(unsigned now, cells *mine, const cells *left, const cells *right)
{
    const unsigned i = threadIdx.x, from = now % 2;
    const volatile unsigned *own = mine->at[from];
    const unsigned before =
        0 == i ? ((const volatile unsigned *)left->at[from])[CELLS - 1] : own[i - 1];
    const unsigned after =
        CELLS - 1 == i ? ((const volatile unsigned *)right->at[from])[0] : own[i + 1];

    ((volatile unsigned *)mine->at[1 - from])[i] = before + 2 * own[i] + after;
}

__global__ void all_steps(gba_gpu_member_t member, cells *mine, const cells *left,
                          const cells *right, int *status)
{
    gba_gpu_barrier_session session(GBA_GPU_BLOCK, member);
    gba_status_t last = GBA_OK;

    for (unsigned now = 0; GBA_OK == last && now < STEPS; now++) {
        step(now, mine, left, right);
        last = session.sync(GBA_GPU_ACQ_REL, 60000000000ull);
    }
    if (0 == threadIdx.x)
        *status = last;
}

__global__ void one_step(unsigned now, cells *mine, const cells *left, const cells *right)
{
    step(now, mine, left, right);
}

static double now_us()
{
    timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static bool right_after_all(const cells &mine, unsigned rank, unsigned size)
{
    const unsigned all = size * CELLS;
    std::vector<unsigned> ring(all), next(all);

    for (unsigned i = 0; i < all; i++)
        ring[i] = i;
    for (unsigned now = 0; now < STEPS; now++, ring.swap(next))
        for (unsigned i = 0; i < all; i++)
            next[i] = ring[(i + all - 1) % all] + 2 * ring[i] + ring[(i + 1) % all];
    for (unsigned i = 0; i < CELLS; i++)
        if (mine.at[STEPS % 2][i] != ring[rank * CELLS + i])
            return false;
    return true;
}

/* The cells of a rank, mapped from its process. */
static cells *cells_of(const cudaIpcMemHandle_t *handles, unsigned rank, unsigned self, cells *mine)
{
    void *mapped = NULL;

    if (rank == self)
        return mine;
    return cudaSuccess == cudaIpcOpenMemHandle(&mapped, handles[rank], cudaIpcMemLazyEnablePeerAccess)
               ? (cells *)mapped
               : NULL;
}

/* Run it. team: of the ranks, without a GPU member yet. barrier: of the CPUs. Returns 0 if right. */
static int gpu_steps(gba_team_t *team, const gba_team_attr_t *attr, const gba_oob_t *oob,
                     void (*barrier)(void *), void *ctx)
{
    const unsigned rank = oob->rank, size = oob->size, left_rank = (rank + size - 1) % size;
    const unsigned right_rank = (rank + 1) % size;
    std::vector<cudaIpcMemHandle_t> handles(size);
    gba_gpu_attr_t gpu = {};
    gba_gpu_member_t member;
    cells *mine = NULL, *left, *right, host = {};
    double began, together, apart;
    int *status = NULL, result = 1;

    gpu.team_attr = attr;
    gpu.oob = oob;
    for (unsigned i = 0; i < CELLS; i++)
        host.at[0][i] = rank * CELLS + i;
    if (cudaSuccess != cudaMalloc(&mine, sizeof *mine) ||
        cudaSuccess != cudaMallocHost(&status, sizeof *status) ||
        cudaSuccess != cudaMemcpy(mine, &host, sizeof host, cudaMemcpyHostToDevice) ||
        cudaSuccess != cudaIpcGetMemHandle(&handles[rank], mine) ||
        GBA_OK != oob->allgather(oob->ctx, &handles[rank], handles.data(), sizeof handles[0]))
        return 1;
    left = cells_of(handles.data(), left_rank, rank, mine);
    right = right_rank == left_rank ? left : cells_of(handles.data(), right_rank, rank, mine);
    if (left == NULL || right == NULL || GBA_OK != gba_gpu_member_create(team, &gpu, &member))
        return 1;
    if (0 == rank)
        printf("%s\n", gba_gpu_member_why(&member));
    *status = 1;
    began = now_us();
    all_steps<<<1, CELLS>>>(member, mine, left, right, status);
    if (cudaSuccess == cudaDeviceSynchronize() && GBA_OK == *status &&
        cudaSuccess == cudaMemcpy(&host, mine, sizeof host, cudaMemcpyDeviceToHost))
        result = right_after_all(host, rank, size) ? 0 : 1;
    together = (now_us() - began) / STEPS;
    barrier(ctx);
    began = now_us();
    for (unsigned now = 0; now < STEPS; now++) {
        one_step<<<1, CELLS>>>(now, mine, left, right);
        (void)cudaStreamSynchronize(NULL);
        barrier(ctx);
    }
    apart = (now_us() - began) / STEPS;
    if (0 == rank)
        printf("%s; a step takes %.2f us, and with a kernel and a barrier of the CPU %.2f us\n",
               0 == result ? "right" : "WRONG", together, apart);
    (void)gba_gpu_member_destroy(&member);
    return result;
}

#ifndef GPU_STEPS_NO_MPI
#include <mpi.h>

#include "gba/bootstrap.h"

static void mpi_barrier(void *)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    gba_bootstrap_attr_t how = {};
    gba_team_attr_t attr = {};
    gba_bootstrap_t *bootstrap;
    gba_params_t params;
    gba_team_t *team;
    char message[256];
    int provided, devices = 1, result = 1;

    /* The thread that serves the GPU makes calls of MPI when the team agrees. */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    how.kind = GBA_BOOTSTRAP_MPI;
    if (GBA_OK != gba_bootstrap_init(&how, &bootstrap, message, sizeof message))
        return fprintf(stderr, "%s\n", message), 1;
    const gba_oob_t *oob = gba_bootstrap_oob(bootstrap);
    gba_params_default(&params);
    if (GBA_OK != gba_params_environment(&params, message, sizeof message))
        return fprintf(stderr, "%s\n", message), 1;
    attr.name = "steps";
    attr.params = &params;
    attr.device_status = gba_bootstrap_device(bootstrap, params.device_path, NULL, &attr.device);
    attr.gpu = true;
    attr.oversubscribed = gba_bootstrap_oversubscribed(bootstrap);
    attr.name_member = oob->name_member;
    attr.name_ctx = oob->ctx;
    attr.id = gba_bootstrap_team_id();
    (void)cudaGetDeviceCount(&devices);
    (void)cudaSetDevice((int)oob->rank % (devices > 0 ? devices : 1));
    if (GBA_OK == gba_team_create(&attr, oob, &team)) {
        result = gpu_steps(team, &attr, oob, mpi_barrier, NULL);
        if (0 == oob->rank)
            printf("%s\n%d passed, %d failed\n", gba_team_why(team), 0 == result, 0 != result);
        gba_team_destroy(team);
    }
    gba_global_device_put(attr.device);
    gba_bootstrap_destroy(bootstrap);
    MPI_Finalize();
    return result;
}
#endif

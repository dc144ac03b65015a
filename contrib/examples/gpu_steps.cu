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
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <vector>

#include "gba/gpu.cuh"

#define CELLS 256u /* of a rank, one for each thread */
#define STEPS 2000u

/* The cells of a rank before and after a step, in turn. Two buffers are enough for one barrier a
 * step: who has passed it knows that the others have read what it overwrites next. */
struct cells {
    volatile unsigned at[2][CELLS];
};

__device__ static void step(unsigned now, cells *mine, const cells *left, const cells *right)
{
    const unsigned i = threadIdx.x, from = now % 2;
    const unsigned before = 0 == i ? left->at[from][CELLS - 1] : mine->at[from][i - 1];
    const unsigned after = CELLS - 1 == i ? right->at[from][0] : mine->at[from][i + 1];

    mine->at[1 - from][i] = before + 2 * mine->at[from][i] + after;
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
    return std::chrono::duration<double, std::micro>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

static bool right_after_all(const cells &mine, unsigned rank, unsigned size)
{
    const unsigned all = size * CELLS;
    std::vector<unsigned> ring(all), next(all);

    std::iota(ring.begin(), ring.end(), 0u);
    for (unsigned now = 0; now < STEPS; now++, ring.swap(next))
        for (unsigned i = 0; i < all; i++)
            next[i] = ring[(i + all - 1) % all] + 2 * ring[i] + ring[(i + 1) % all];
    return std::equal(mine.at[STEPS % 2], mine.at[STEPS % 2] + CELLS, &ring[rank * CELLS]);
}

/* Run it. team: of the ranks, without a GPU member yet. barrier: of the CPUs. Returns 0 if right. */
template <typename Barrier>
static int gpu_steps(gba_team_t *team, const gba_team_attr_t *attr, const gba_oob_t *oob,
                     Barrier barrier)
{
    const unsigned rank = oob->rank, size = oob->size, neighbour[2] = {(rank + size - 1) % size,
                                                                      (rank + 1) % size};
    std::vector<cudaIpcMemHandle_t> handles(size);
    std::vector<void *> cells_of(size); /* of this rank and its neighbours */
    gba_gpu_attr_t gpu = {};
    gba_gpu_member_t member;
    cells *mine = NULL, *left, *right, host = {};
    int *status = NULL, result = 1;

    std::iota(host.at[0], host.at[0] + CELLS, rank * CELLS);
    if (cudaSuccess != cudaMalloc(&mine, sizeof *mine) ||
        cudaSuccess != cudaMallocHost(&status, sizeof *status) ||
        cudaSuccess != cudaMemcpy(mine, &host, sizeof host, cudaMemcpyHostToDevice) ||
        cudaSuccess != cudaIpcGetMemHandle(&handles[rank], mine) ||
        GBA_OK != oob->allgather(oob->ctx, &handles[rank], handles.data(), sizeof handles[0]))
        return 1;
    cells_of[rank] = mine;
    for (unsigned other : neighbour)
        if (cells_of[other] == NULL &&
            cudaSuccess != cudaIpcOpenMemHandle(&cells_of[other], handles[other],
                                                cudaIpcMemLazyEnablePeerAccess))
            return 1;
    left = (cells *)cells_of[neighbour[0]];
    right = (cells *)cells_of[neighbour[1]];
    gpu.team_attr = attr;
    gpu.oob = oob;
    if (GBA_OK != gba_gpu_member_create(team, &gpu, &member))
        return 1;
    *status = 1;
    double began = now_us();
    all_steps<<<1, CELLS>>>(member, mine, left, right, status);
    if (cudaSuccess == cudaDeviceSynchronize() && GBA_OK == *status &&
        cudaSuccess == cudaMemcpy(&host, mine, sizeof host, cudaMemcpyDeviceToHost))
        result = right_after_all(host, rank, size) ? 0 : 1;
    const double together = (now_us() - began) / STEPS;
    barrier();
    began = now_us();
    for (unsigned now = 0; now < STEPS; now++) {
        one_step<<<1, CELLS>>>(now, mine, left, right);
        (void)cudaStreamSynchronize(NULL);
        barrier();
    }
    if (0 == rank)
        printf("%s\n%s; a step takes %.2f us, and with a kernel and a barrier of the CPU %.2f us\n",
               gba_gpu_member_why(&member), 0 == result ? "right" : "WRONG", together,
               (now_us() - began) / STEPS);
    (void)gba_gpu_member_destroy(&member);
    return result;
}

#ifndef GPU_STEPS_NO_MPI
#include <mpi.h>

#include "gba/bootstrap.h"

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
    gba_params_default(&params);
    if (GBA_OK != gba_params_environment(&params, message, sizeof message) ||
        GBA_OK != gba_bootstrap_init(&how, &bootstrap, message, sizeof message))
        return fprintf(stderr, "%s\n", message), 1;
    const gba_oob_t *oob = gba_bootstrap_oob(bootstrap);
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
        result = gpu_steps(team, &attr, oob, [] { MPI_Barrier(MPI_COMM_WORLD); });
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

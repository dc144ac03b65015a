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
#include <mpi.h>
#include <vector>

#include "gba/bootstrap.h"
#include "gba/gpu.cuh"

#define CELLS 256u /* of a rank, one for each thread */
#define STEPS 2000u
#define CK(call) \
    ((call) ? (fprintf(stderr, "failed: %s\n", #call), MPI_Abort(MPI_COMM_WORLD, 1)) : 0)

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
    gba_status_t last = GBA_OK;

    for (unsigned now = 0; GBA_OK == last && now < STEPS; now++) {
        step(now, mine, left, right);
        last = gba_gpu_barrier(&member, GBA_GPU_BLOCK, GBA_GPU_ACQ_REL, 60000000000ull);
    }
    if (0 == threadIdx.x)
        *status = last;
}

__global__ void one_step(unsigned now, cells *mine, const cells *left, const cells *right)
{
    step(now, mine, left, right);
}

static bool right_after_all(const cells &mine, unsigned rank, unsigned size)
{
    const unsigned all = size * CELLS;
    std::vector<unsigned> ring(all), next(all);
    bool right = true;

    for (unsigned i = 0; i < all; i++)
        ring[i] = i;
    for (unsigned now = 0; now < STEPS; now++, ring.swap(next))
        for (unsigned i = 0; i < all; i++)
            next[i] = ring[(i + all - 1) % all] + 2 * ring[i] + ring[(i + 1) % all];
    for (unsigned i = 0; i < CELLS; i++)
        right = right && ring[rank * CELLS + i] == mine.at[STEPS % 2][i];
    return right;
}

int main(int argc, char **argv)
{
    cells *mine, *left, *right, host = {};
    gba_bootstrap_attr_t how = {};
    gba_gpu_attr_t attr = {};
    gba_bootstrap_team_t *team;
    gba_bootstrap_t *all;
    gba_gpu_member_t member;
    int provided, devices, *status;
    char why[256];

    /* The threads that serve the GPU make calls of MPI. */
    CK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    CK(MPI_THREAD_MULTIPLE != provided);
    how.kind = GBA_BOOTSTRAP_MPI;
    how.gpu = true;
    if (GBA_OK != gba_bootstrap_init(&how, &all, why, sizeof why) ||
        GBA_OK != gba_bootstrap_team_create(all, NULL, &team, why, sizeof why))
        return fprintf(stderr, "%s\n", why), MPI_Abort(MPI_COMM_WORLD, 1);
    const unsigned rank = gba_bootstrap_oob(all)->rank, size = gba_bootstrap_oob(all)->size;
    std::vector<cudaIpcMemHandle_t> handles(size);
    const auto cells_of = [&](unsigned other) {
        void *theirs = mine;

        if (other != rank)
            CK(cudaIpcOpenMemHandle(&theirs, handles[other], cudaIpcMemLazyEnablePeerAccess));
        return (cells *)theirs;
    };

    for (unsigned i = 0; i < CELLS; i++)
        host.at[0][i] = rank * CELLS + i;
    CK(cudaGetDeviceCount(&devices));
    CK(cudaSetDevice((int)rank % devices));
    CK(cudaMallocHost(&status, sizeof *status));
    CK(cudaMalloc(&mine, sizeof *mine));
    CK(cudaMemcpy(mine, &host, sizeof host, cudaMemcpyHostToDevice));
    CK(cudaIpcGetMemHandle(&handles[rank], mine));
    CK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, handles.data(), sizeof handles[0], MPI_BYTE,
                     MPI_COMM_WORLD));
    left = cells_of((rank + size - 1) % size);
    right = cells_of((rank + 1) % size);
    attr.attend = gba_bootstrap_team_attend;
    attr.ctx = team;
    CK(gba_gpu_member_create(gba_bootstrap_team_get(team), &attr, &member));

    double began = MPI_Wtime();
    all_steps<<<1, CELLS>>>(member, mine, left, right, status);
    CK(cudaDeviceSynchronize());
    const double together = (MPI_Wtime() - began) / STEPS * 1e6;
    CK(cudaMemcpy(&host, mine, sizeof host, cudaMemcpyDeviceToHost));
    const bool good = GBA_OK == *status && right_after_all(host, rank, size);

    MPI_Barrier(MPI_COMM_WORLD);
    began = MPI_Wtime();
    for (unsigned now = 0; now < STEPS; now++) {
        one_step<<<1, CELLS>>>(now, mine, left, right);
        CK(cudaStreamSynchronize(NULL));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (0 == rank)
        printf("%s\n%s\na step takes %.2f us, and with a kernel and MPI_Barrier %.2f us\n"
               "%d passed, %d failed\n",
               gba_team_why(gba_bootstrap_team_get(team)), gba_gpu_member_why(&member), together,
               (MPI_Wtime() - began) / STEPS * 1e6, good, !good);
    CK(gba_gpu_member_destroy(&member));
    gba_bootstrap_team_destroy(team);
    gba_bootstrap_destroy(all);
    MPI_Finalize();
    return good ? 0 : 1;
}

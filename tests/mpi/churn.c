/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators are created and freed, and overlap. The ranks use a pool of them in an order that
 * is random but the same on all ranks, and sometimes replace one by a new one.
 *
 *   churn [COMMUNICATORS]
 */
#include "tests/mpi/test.h"

#define POOL 40 /* more than a device has groups, so that both paths are in use at once */

static MPI_Comm pool[POOL];
static struct test_proof proofs[POOL];
static uint64_t ours; /* random, the same on all ranks */

/* Some ranks of the world, different ones each time; MPI_COMM_NULL on the others. */
static MPI_Comm make(void)
{
    uint64_t random = test_random(&ours);
    uint64_t members = test_random(&ours); /* a set: bit r % 64 is rank r */
    bool member = (members >> (test_rank % 64) & 1) != 0;
    MPI_Comm comm;

    switch (random % 4) {
    case 0:
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        break;
    case 1: /* two communicators: those in the set, and the rest */
        MPI_Comm_split(MPI_COMM_WORLD, member, -test_rank, &comm);
        break;
    case 2:
        MPI_Comm_split(MPI_COMM_WORLD, member ? 1 : MPI_UNDEFINED, test_rank, &comm);
        break;
    default: /* neighbours */
        MPI_Comm_split(MPI_COMM_WORLD, (test_rank + (int)(random >> 8 & 1)) / 2, test_rank, &comm);
        break;
    }
    return comm;
}

static void replace(int slot, uint32_t id)
{
    if (pool[slot] != MPI_COMM_NULL) {
        test_proof_end(&proofs[slot]);
        MPI_Comm_free(&pool[slot]);
    }
    pool[slot] = make();
    if (pool[slot] != MPI_COMM_NULL)
        test_proof_begin(&proofs[slot], pool[slot], "a communicator of the pool", slot, id);
}

int main(int argc, char **argv)
{
    uint64_t mine;
    long count;

    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    count = test_argument(argc, argv, 1, 1000);
    ours = test_seed(0);
    mine = test_seed((uint64_t)test_rank + 1);
    for (int i = 0; i < POOL; i++)
        pool[i] = MPI_COMM_NULL;

    test_step("communicators that come and go");
    for (long i = 0; i < count; i++) {
        /* The first communicators are freed soon, so that their groups are reused; later ones live
         * longer. */
        replace((int)(i < count / 2 ? 0 : test_random(&ours) % POOL), (uint32_t)i + 1);
        for (int j = 0; j < 3; j++) {
            int slot = i < count / 2 ? 0 : (int)(test_random(&ours) % POOL);

            if (pool[slot] == MPI_COMM_NULL)
                continue;
            if (test_random(&mine) % 16 == 0)
                test_delay(&mine);
            test_proof_barrier(&proofs[slot]);
        }
    }
    for (int i = 0; i < POOL; i++)
        if (pool[i] != MPI_COMM_NULL) {
            test_proof_barrier(&proofs[i]);
            test_proof_end(&proofs[i]);
            MPI_Comm_free(&pool[i]);
        }
    return test_end();
}

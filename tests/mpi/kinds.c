/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers on every kind of communicator that MPI can make. */
#include "tests/mpi/test.h"

#define ROUNDS 40

/* id: the same on all members. */
static void use_form(MPI_Comm comm, const char *what, uint32_t id, bool nonblocking)
{
    uint64_t random = test_seed((uint64_t)id << 16 | (uint64_t)test_rank);
    struct test_proof proof;

    test_step(what);
    test_proof_begin(&proof, comm, what, 0, id);
    for (int i = 0; i < ROUNDS; i++) {
        test_delay(&random);
        if (i % 5 == 4 && nonblocking)
            test_proof_ibarrier(&proof);
        else
            test_proof_barrier(&proof);
    }
    test_proof_end(&proof);
}

static void use(MPI_Comm comm, const char *what, uint32_t id)
{
    int inter;

    /* Open MPI 4.1's own MPI_Ibarrier on an intercommunicator releases ranks too early when its
     * groups differ in size. It is not ours, so only the blocking one is tested there. */
    MPI_Comm_test_inter(comm, &inter);
    use_form(comm, what, id, !inter);
}

static void use_and_free(MPI_Comm comm, const char *what, uint32_t id)
{
    if (comm == MPI_COMM_NULL)
        return;
    use(comm, what, id);
    MPI_Comm_free(&comm);
}

static void duplicates(void)
{
    MPI_Request request;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    use_and_free(comm, "dup", 10);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm);
    use_and_free(comm, "dup_with_info", 11);
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    /* Blocking ones only: Open MPI 4.1, without the plugin, hangs when the steps of an idup and
     * nonblocking collectives of the same communicator come in different orders on different
     * ranks. */
    use_form(MPI_COMM_WORLD, "world during an idup", 12, false);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    use_and_free(comm, "idup", 13);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    use_and_free(comm, "dup of self", 14);
}

static void splits(void)
{
    int odd = test_rank % 2;
    MPI_Comm comm;

    MPI_Comm_split(MPI_COMM_WORLD, odd, test_rank, &comm);
    use_and_free(comm, "split", 20);
    MPI_Comm_split(MPI_COMM_WORLD, odd, -test_rank, &comm);
    use_and_free(comm, "split, ranks reversed", 21);
    MPI_Comm_split(MPI_COMM_WORLD, test_rank, 0, &comm);
    use_and_free(comm, "split of size 1", 22);
    MPI_Comm_split(MPI_COMM_WORLD, test_rank == 0 ? MPI_UNDEFINED : 1, 0, &comm);
    use_and_free(comm, "split without rank 0", 23);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    use_and_free(comm, "split_type", 24);
}

static void groups(void)
{
    int range[1][3] = {{0, test_size - 1, 2}};
    MPI_Group world, even, rest;
    MPI_Comm comm;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &even);
    MPI_Group_range_excl(world, 1, range, &rest);
    MPI_Comm_create(MPI_COMM_WORLD, even, &comm);
    use_and_free(comm, "create", 30);
    /* Only the members call it, so here the two groups do it at the same time. */
    MPI_Comm_create_group(MPI_COMM_WORLD, test_rank % 2 == 0 ? even : rest, 7, &comm);
    use_and_free(comm, "create_group", 31);
    MPI_Group_free(&rest);
    MPI_Group_free(&even);
    MPI_Group_free(&world);
}

static void topologies(void)
{
    int dims[2] = {0, 0}, periods[2] = {1, 0}, remain[2] = {0, 1};
    int left = (test_rank + test_size - 1) % test_size, right = (test_rank + 1) % test_size,
        weight = 1;
    MPI_Comm cart, comm;

    MPI_Dims_create(test_size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &cart);
    if (cart != MPI_COMM_NULL) {
        use(cart, "cart", 40);
        MPI_Cart_sub(cart, remain, &comm);
        use_and_free(comm, "cart_sub", 41);
        MPI_Comm_free(&cart);
    }
    /* Not MPI_UNWEIGHTED: Open MPI 4.1 has it as an array of no elements, and gcc warns. */
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, &weight, 1, &right, &weight,
                                   MPI_INFO_NULL, 0, &comm);
    use_and_free(comm, "dist_graph", 42);
}

static void between(void)
{
    int odd = test_rank % 2;
    MPI_Comm half, inter, comm;

    MPI_Comm_split(MPI_COMM_WORLD, odd, test_rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - odd, 8, &inter);
    use(inter, "intercommunicator", 50);
    MPI_Intercomm_merge(inter, odd, &comm);
    use_and_free(comm, "merge, even ranks first", 51);
    MPI_Intercomm_merge(inter, !odd, &comm);
    use_and_free(comm, "merge, odd ranks first", 52);
    MPI_Comm_dup(inter, &comm);
    use_and_free(comm, "dup of an intercommunicator", 53);
    /* Free the half before the communicators that were made of it. */
    use_and_free(half, "half of an intercommunicator", 54);
    use_and_free(inter, "intercommunicator, its half freed", 55);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    use(MPI_COMM_WORLD, "world", 1);
    use(MPI_COMM_SELF, "self", 2);
    duplicates();
    splits();
    groups();
    topologies();
    between();
    use(MPI_COMM_WORLD, "world again", 3);
    return test_end();
}

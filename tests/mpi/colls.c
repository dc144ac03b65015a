/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All other collectives are right under an exclusive selection of the barrier, blocking and
 * nonblocking: the test compares every value with the expected one.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/mpi/test.h"

#define BLOCK 3  /* words from each rank to each */
#define MAX   64 /* ranks */

/* CALL runs the one or the other of its arguments, and waits for the latter. */
static bool nonblocking;
static MPI_Comm comm;
static int rank, size;
static MPI_Request request;

#define CALL(blocking, started)                    \
    do {                                           \
        test_step(#blocking);                      \
        memset(in, -1, sizeof in);                 \
        if (nonblocking) {                         \
            started;                               \
            MPI_Wait(&request, MPI_STATUS_IGNORE); \
        } else {                                   \
            blocking;                              \
        }                                          \
        where = #blocking;                         \
    } while (0)

static const char *where; /* the call whose result is checked */
static int out[MAX * (MAX + 1) * BLOCK], in[MAX * (MAX + 1) * BLOCK];
static int counts[MAX], offsets[MAX], in_counts[MAX], in_offsets[MAX];
static MPI_Datatype types[MAX];

/* What rank `from` has as word i for rank `to`. */
static int word(int from, int to, int i)
{
    return from * 10007 + to * 101 + i;
}

static void fill(void)
{
    memset(out, 0, sizeof out);
    for (int to = 0; to < size; to++)
        for (int i = 0; i < BLOCK; i++)
            out[to * BLOCK + i] = word(rank, to, i);
}

static void expect(int index, int value)
{
    TEST_CHECK(in[index] == value, "%s%s: word %d is %d, not %d", nonblocking ? "nonblocking " : "",
               where, index, in[index], value);
}

/* BLOCK words at `index` are those that `from` has for `to`. */
static void expect_block(int index, int from, int to)
{
    for (int i = 0; i < BLOCK; i++)
        expect(index + i, word(from, to, i));
}

/* word() for `to`, summed over the ranks below `ranks`. */
static int sum(int ranks, int to, int i)
{
    int total = 0;

    for (int from = 0; from < ranks; from++)
        total += word(from, to, i);
    return total;
}

static void expect_sum(int ranks, int to)
{
    for (int i = 0; i < BLOCK; i++)
        expect(i, sum(ranks, to, i));
}

static void roots(int root)
{
    if (rank == root)
        memcpy(in, out, BLOCK * sizeof in[0]);
    /* Not CALL: the buffer is the root's input. */
    where = "MPI_Bcast";
    test_step(where);
    if (nonblocking) {
        MPI_Ibcast(in, BLOCK, MPI_INT, root, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Bcast(in, BLOCK, MPI_INT, root, comm);
    }
    expect_block(0, root, 0);

    CALL(MPI_Reduce(out, in, BLOCK, MPI_INT, MPI_SUM, root, comm),
         MPI_Ireduce(out, in, BLOCK, MPI_INT, MPI_SUM, root, comm, &request));
    if (rank == root)
        expect_sum(size, 0);

    CALL(MPI_Gather(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, root, comm),
         MPI_Igather(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, root, comm, &request));
    for (int from = 0; rank == root && from < size; from++)
        expect_block(from * BLOCK, from, 0);

    CALL(MPI_Scatter(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, root, comm),
         MPI_Iscatter(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, root, comm, &request));
    expect_block(0, root, rank);
}

/* The v forms: rank r sends and gets r % BLOCK + 1 words, at places with gaps between them. */
static void vector_layout(void)
{
    for (int r = 0; r < size; r++) {
        counts[r] = r % BLOCK + 1;
        offsets[r] = r * (BLOCK + 1);
        in_counts[r] = counts[rank];
        in_offsets[r] = r * (BLOCK + 1);
    }
}

static void vectors_rooted(int root)
{
    vector_layout();
    CALL(MPI_Gatherv(out, counts[rank], MPI_INT, in, counts, offsets, MPI_INT, root, comm),
         MPI_Igatherv(out, counts[rank], MPI_INT, in, counts, offsets, MPI_INT, root, comm,
                      &request));
    for (int r = 0; rank == root && r < size; r++) {
        for (int i = 0; i < counts[r]; i++)
            expect(offsets[r] + i, word(r, 0, i));
        expect(offsets[r] + counts[r], -1);
    }
    CALL(MPI_Scatterv(out, counts, offsets, MPI_INT, in, counts[rank], MPI_INT, root, comm),
         MPI_Iscatterv(out, counts, offsets, MPI_INT, in, counts[rank], MPI_INT, root, comm,
                       &request));
    for (int i = 0; i < counts[rank]; i++) {
        int index = offsets[rank] + i; /* in the root's out */

        expect(i, index < size * BLOCK ? word(root, index / BLOCK, index % BLOCK) : 0);
    }
    expect(counts[rank], -1);
}

static void vectors(void)
{
    vector_layout();
    CALL(MPI_Allgatherv(out, counts[rank], MPI_INT, in, counts, offsets, MPI_INT, comm),
         MPI_Iallgatherv(out, counts[rank], MPI_INT, in, counts, offsets, MPI_INT, comm, &request));
    for (int r = 0; r < size; r++) {
        for (int i = 0; i < counts[r]; i++)
            expect(offsets[r] + i, word(r, 0, i));
        expect(offsets[r] + counts[r], -1);
    }

    for (int r = 0; r < size; r++)
        offsets[r] = r * BLOCK;
    CALL(MPI_Alltoallv(out, counts, offsets, MPI_INT, in, in_counts, in_offsets, MPI_INT, comm),
         MPI_Ialltoallv(out, counts, offsets, MPI_INT, in, in_counts, in_offsets, MPI_INT, comm,
                        &request));
    for (int r = 0; r < size; r++)
        for (int i = 0; i < counts[rank]; i++)
            expect(in_offsets[r] + i, word(r, rank, i));

    for (int r = 0; r < size; r++) {
        offsets[r] *= (int)sizeof out[0];
        in_offsets[r] *= (int)sizeof in[0];
        types[r] = MPI_INT;
    }
    CALL(MPI_Alltoallw(out, counts, offsets, types, in, in_counts, in_offsets, types, comm),
         MPI_Ialltoallw(out, counts, offsets, types, in, in_counts, in_offsets, types, comm,
                        &request));
    for (int r = 0; r < size; r++)
        for (int i = 0; i < counts[rank]; i++)
            expect(in_offsets[r] / (int)sizeof in[0] + i, word(r, rank, i));
}

static void symmetric(void)
{
    CALL(MPI_Allreduce(out, in, BLOCK, MPI_INT, MPI_SUM, comm),
         MPI_Iallreduce(out, in, BLOCK, MPI_INT, MPI_SUM, comm, &request));
    expect_sum(size, 0);
    CALL(MPI_Scan(out, in, BLOCK, MPI_INT, MPI_SUM, comm),
         MPI_Iscan(out, in, BLOCK, MPI_INT, MPI_SUM, comm, &request));
    expect_sum(rank + 1, 0);
    CALL(MPI_Exscan(out, in, BLOCK, MPI_INT, MPI_SUM, comm),
         MPI_Iexscan(out, in, BLOCK, MPI_INT, MPI_SUM, comm, &request));
    if (rank > 0) /* rank 0's buffer is not defined */
        expect_sum(rank, 0);
    CALL(MPI_Allgather(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, comm),
         MPI_Iallgather(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, comm, &request));
    for (int from = 0; from < size; from++)
        expect_block(from * BLOCK, from, 0);
    CALL(MPI_Alltoall(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, comm),
         MPI_Ialltoall(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, comm, &request));
    for (int from = 0; from < size; from++)
        expect_block(from * BLOCK, from, rank);
    CALL(MPI_Reduce_scatter_block(out, in, BLOCK, MPI_INT, MPI_SUM, comm),
         MPI_Ireduce_scatter_block(out, in, BLOCK, MPI_INT, MPI_SUM, comm, &request));
    expect_sum(size, rank);
    for (int r = 0; r < size; r++)
        counts[r] = BLOCK;
    CALL(MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, comm),
         MPI_Ireduce_scatter(out, in, counts, MPI_INT, MPI_SUM, comm, &request));
    expect_sum(size, rank);
}

/* On a ring, where rank r receives from r - 1 and then from r + 1. */
static void neighbors(void)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    int two[2] = {BLOCK, BLOCK}, places[2] = {0, BLOCK};
    MPI_Aint bytes[2] = {0, BLOCK * sizeof(int)};
    MPI_Datatype ints[2] = {MPI_INT, MPI_INT};

    CALL(MPI_Neighbor_allgather(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, comm),
         MPI_Ineighbor_allgather(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, comm, &request));
    expect_block(0, left, 0);
    expect_block(BLOCK, right, 0);
    CALL(MPI_Neighbor_allgatherv(out, BLOCK, MPI_INT, in, two, places, MPI_INT, comm),
         MPI_Ineighbor_allgatherv(out, BLOCK, MPI_INT, in, two, places, MPI_INT, comm, &request));
    expect_block(0, left, 0);
    expect_block(BLOCK, right, 0);
    if (size < 3)
        return; /* left and right are the same rank, and MPI does not define which message is which
                 */
    /* Block 0 goes to the left, block 1 to the right. */
    CALL(MPI_Neighbor_alltoall(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, comm),
         MPI_Ineighbor_alltoall(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, comm, &request));
    expect_block(0, left, 1);
    expect_block(BLOCK, right, 0);
    CALL(MPI_Neighbor_alltoallv(out, two, places, MPI_INT, in, two, places, MPI_INT, comm),
         MPI_Ineighbor_alltoallv(out, two, places, MPI_INT, in, two, places, MPI_INT, comm,
                                 &request));
    expect_block(0, left, 1);
    expect_block(BLOCK, right, 0);
    CALL(MPI_Neighbor_alltoallw(out, two, bytes, ints, in, two, bytes, ints, comm),
         MPI_Ineighbor_alltoallw(out, two, bytes, ints, in, two, bytes, ints, comm, &request));
    expect_block(0, left, 1);
    expect_block(BLOCK, right, 0);
}

static void all_on(MPI_Comm this_comm)
{
    comm = this_comm;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    TEST_CHECK(size <= MAX, "more than %d ranks", MAX);
    fill();
    for (int form = 0; form < 2; form++) {
        nonblocking = form == 1;
        MPI_Barrier(comm);
        for (int root = 0; root < size; root++) {
            roots(root);
            vectors_rooted(root);
        }
        symmetric();
        vectors();
        test_step("a barrier between other collectives");
        MPI_Barrier(comm);
    }
}

int main(int argc, char **argv)
{
    int ring, periodic = 1;
    MPI_Comm other;

    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    all_on(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, -test_rank, &other);
    all_on(other);
    MPI_Comm_free(&other);

    ring = test_size;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ring, &periodic, 0, &other);
    all_on(other);
    for (int form = 0; form < 2; form++) {
        nonblocking = form == 1;
        neighbors();
        MPI_Barrier(other);
    }
    MPI_Comm_free(&other);
    return test_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Other collectives are right under an exclusive selection of the barrier, blocking and
 * nonblocking: the test compares every value with the expected one. The v forms and those of
 * neighbours come from the same components, without which Open MPI makes no communicator.
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
static int out[MAX * BLOCK], in[MAX * BLOCK];
static int counts[MAX];

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
        for (int root = 0; root < size; root++)
            roots(root);
        symmetric();
        test_step("a barrier between other collectives");
        MPI_Barrier(comm);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm other;

    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    all_on(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, -test_rank, &other);
    all_on(other);
    MPI_Comm_free(&other);
    return test_end();
}

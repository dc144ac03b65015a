/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A message with the tag of software barriers, ahead of a signal: rank 0 sends it to rank 1.
 *
 *   stray [PATHS]
 *
 * Without PATHS it is empty, and the next barrier of rank 1 must fail. With PATHS: so many messages
 * of other paths, as a trial leaves them behind. They must not count as signals.
 */
#include <unistd.h>

#include "tests/mpi/test.h"

#include "ompi/mca/common/gba/transport.h"
#include "ompi/mca/pml/pml.h"

#define BEFORE 5
#define LATE   20000 /* us */

/* As in ompi/mca/common/gba/transport.c. */
struct message {
    uint64_t path;
    uint32_t sequence, unused;
};

static void send_stray(long paths)
{
    int rc = OMPI_SUCCESS;

    if (paths == 0)
        rc = MCA_PML_CALL(send(NULL, 0, MPI_BYTE, 1, GBA_COMMON_TAG_TRANSPORT,
                               MCA_PML_BASE_SEND_STANDARD, MPI_COMM_WORLD));
    for (uint32_t i = 0; i < (uint32_t)paths && rc == OMPI_SUCCESS; i++) {
        struct message message = {.path = 1 + i % 3, .sequence = BEFORE + 1 + i / 3};

        rc = MCA_PML_CALL(send(&message, sizeof message, MPI_BYTE, 1, GBA_COMMON_TAG_TRANSPORT,
                               MCA_PML_BASE_SEND_STANDARD, MPI_COMM_WORLD));
    }
    TEST_CHECK(rc == OMPI_SUCCESS, "it could not be sent");
}

int main(int argc, char **argv)
{
    struct test_proof proof;
    long paths;

    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    paths = test_argument(argc, argv, 1, 0);
    test_step("barriers");
    test_proof_begin(&proof, MPI_COMM_WORLD, "world", 0, 1);
    for (int i = 0; i < BEFORE; i++)
        test_proof_barrier(&proof);
    test_step("a stray message");
    if (test_rank == 0) {
        send_stray(paths);
        usleep(LATE);
    }
    for (int i = 0; i < (paths == 0 ? 1 : BEFORE); i++)
        test_proof_barrier(&proof);
    test_proof_end(&proof);
    return test_end();
}

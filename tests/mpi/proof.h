/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by test.c and proof.c only. */
#ifndef GBA_TESTS_MPI_PROOF_H
#define GBA_TESTS_MPI_PROOF_H

#include <stdint.h>

/* Make the memory that the ranks of a host share. Collective over MPI_COMM_WORLD. */
void test_proof_init(void);

/* The round of the barrier of a proof in which this rank is, if all members have arrived;
 * otherwise, and if the members are on several hosts, 0. For a signal handler. */
uint64_t test_proof_all_arrived(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by test.c and proof.c only. */
#ifndef GBA_TESTS_MPI_PROOF_H
#define GBA_TESTS_MPI_PROOF_H

/* Make the memory that the ranks of a host share. Collective over MPI_COMM_WORLD. */
void test_proof_init(void);

#endif

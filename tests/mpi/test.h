/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all MPI test programs share, besides program.h: a watchdog, and the proof that nobody leaves
 * a barrier early.
 *
 * The environment: GBA_TEST_SEED (default: the time) and GBA_TEST_SECONDS, the watchdog's patience
 * (default 60). GBA_TEST_APART: the ranks are in containers and share no memory, so each is a host
 * of its own to the proofs. Every program prints its seed.
 */
#ifndef GBA_TESTS_MPI_TEST_H
#define GBA_TESTS_MPI_TEST_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/program.h"

#define TEST_SLOTS 64 /* proofs that one process can have under way, */

extern int test_slots; /* unless it sets more here before test_begin, as all others do */

extern int test_rank, test_size; /* in MPI_COMM_WORLD */

/* MPI_Init_thread with that level, the watchdog, and the memory of the proofs. Fails the test if
 * the level is not to be had. */
void test_begin(int *argc, char ***argv, int thread_level);

/* MPI_Finalize, still under the watchdog. Returns what main returns. */
int test_end(void);

/* What the program does now, for the line of the watchdog. A constant string. */
void test_step(const char *what);

/*
 * The proof that nobody leaves early. Each member writes the number of its round to shared memory
 * before it enters; when it has left, it looks whether all members had written that number. Members
 * on other hosts are not looked at: test_referee is for them.
 */
struct test_proof {
    MPI_Comm comm;
    const char *what; /* for the line of a failure */
    int slot;
    uint64_t round; /* id << 32 | rounds done */
    int members;
    int *world; /* the rank in MPI_COMM_WORLD of each member to look at, or -1 */
};

/*
 * slot: 0 to test_slots - 1, not in use by another proof of any member.
 * id: the same on all members, another one than that of the slot's last use.
 * On an intercommunicator the members to look at are those of the remote group, as in MPI.
 */
void test_proof_begin(struct test_proof *proof, MPI_Comm comm, const char *what, int slot,
                      uint32_t id);

/* One barrier, proved. ibarrier: the nonblocking one, tested until it is done. */
void test_proof_barrier(struct test_proof *proof);
void test_proof_ibarrier(struct test_proof *proof);

/* The parts, for other uses: note that this process enters the next round; look whether all have
 * entered round `round`, and nobody a round later than `ahead` behind it. */
void test_proof_enter(struct test_proof *proof);
void test_proof_look(const struct test_proof *proof, uint64_t round, uint32_t ahead);

/* Wait, outside MPI, until all have entered round `round`. */
void test_proof_await(const struct test_proof *proof, uint64_t round);

/* Collective: nobody uses the slot for something else before all have looked. */
void test_proof_end(struct test_proof *proof);

/*
 * The proof by messages, on any number of hosts: rank 0 of `all` is the referee, all others do
 * barriers on a communicator of their own and tell it when they enter and when they have left.
 * Collective over `all`, which needs 3 members; with fewer it does nothing.
 */
void test_referee(MPI_Comm all, int rounds);

#endif

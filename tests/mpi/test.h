/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The common part of all MPI test programs, besides program.h: a watchdog, and the proof that no
 * rank leaves a barrier early.
 *
 * The environment: GBA_TEST_SEED (default: the time) and GBA_TEST_SECONDS, the time limit of the
 * watchdog (default 60). GBA_TEST_APART: the ranks are in containers and share no memory, so each
 * is a separate host to the proofs. Every program prints its seed.
 */
#ifndef GBA_TESTS_MPI_TEST_H
#define GBA_TESTS_MPI_TEST_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/program.h"

#define TEST_SLOTS 64 /* proofs that one process can have in progress, */

extern int test_slots; /* unless it sets more here before test_begin, as all others do */

extern int test_rank, test_size; /* in MPI_COMM_WORLD */

/* MPI_Init_thread with that level, the watchdog, and the memory of the proofs. Fails the test if
 * MPI does not provide the level. */
void test_begin(int *argc, char ***argv, int thread_level);

/* MPI_Finalize, still under the watchdog. Returns the value for main to return. */
int test_end(void);

/* The current step of the program, for the line of the watchdog. A constant string. */
void test_step(const char *what);

/* Each rank sends to the next lower one when it has left a barrier; the last rank sends first. So a
 * rank that a dying device has released waits for one that it has not. */
void test_chain(void);

/* A thread of test_threads: its number, and a duplicate of MPI_COMM_WORLD. */
struct test_thread {
    int number;
    MPI_Comm comm;
};

/* Run `work` in `count` threads at once, with the numbers from `first` on. Its argument is a struct
 * test_thread. */
void test_threads(void *(*work)(void *), int first, int count);

/* MPI_Barrier_init, which Open MPI 4.1 has as an extension. Returns false if this Open MPI lacks
 * it, with a null request. */
bool test_barrier_init(MPI_Comm comm, MPI_Request *request);

/*
 * The proof that no member leaves early. Each member writes the number of its round to shared
 * memory before it enters. When it has left, it checks that all members had written that number. It
 * does not check members on other hosts: test_referee does.
 */
struct test_proof {
    MPI_Comm comm;
    const char *what; /* for the line of a failure */
    int slot;
    uint64_t round; /* id << 32 | rounds done */
    uint32_t ahead; /* that others may be in test_proof_barrier, 1 unless set after the begin */
    int members;
    int *world; /* the rank in MPI_COMM_WORLD of each member to check, or -1 */
};

/*
 * slot: 0 to test_slots - 1, not in use by another proof of any member. id: the same on all
 * members, and different from that of the slot's last use. On an intercommunicator the members to
 * check are those of the remote group, as in MPI.
 */
void test_proof_begin(struct test_proof *proof, MPI_Comm comm, const char *what, int slot,
                      uint32_t id);

/* One barrier, proved. ibarrier: the nonblocking one, tested until it is done. start: a persistent
 * one. */
void test_proof_barrier(struct test_proof *proof);
void test_proof_start(struct test_proof *proof, MPI_Request *request);
void test_proof_ibarrier(struct test_proof *proof);

/* The parts, for other uses. Note that this process enters the next round. Check that all have
 * entered round `round`, and none a round later than `ahead` behind it. */
void test_proof_enter(struct test_proof *proof);
void test_proof_look(const struct test_proof *proof, uint64_t round, uint32_t ahead);

/* Wait, without a call of MPI, until all have entered round `round`. */
void test_proof_await(const struct test_proof *proof, uint64_t round);

/* Collective: no member reuses the slot before all have checked it. */
void test_proof_end(struct test_proof *proof);

/*
 * The proof by messages, on any number of hosts: rank 0 of `all` is the referee. All others run
 * barriers on their own communicator and send the referee a message when they enter and when they
 * have left. Collective over `all`, which needs 3 members; with fewer it does nothing.
 */
void test_referee(MPI_Comm all, int rounds);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The proofs that no rank leaves a barrier early: by shared memory, and by messages. */
#define _GNU_SOURCE
#include "tests/mpi/proof.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gba/base/order.h"
#include "tests/mpi/test.h"

/* By rank in the world, and slot: the round that this rank has entered. As small as possible,
 * because a test limits the size of files. */
static gba_word_t *entered;
int test_slots = TEST_SLOTS;

static gba_word_t *entered_of(int rank, int slot)
{
    return &entered[rank * test_slots + slot];
}

static bool *same_host; /* by rank in the world */

/*
 * The memory has no name, so nothing is left of it however the test ends. The others open it
 * through the first rank's file descriptor. Not MPI_Win_allocate_shared, because it makes barriers
 * itself, and takes a barrier group.
 */
static void memory_make(MPI_Comm host)
{
    size_t bytes = sizeof entered[0] * (size_t)test_slots * (size_t)test_size;
    int rank, where[2], fd = -1, ready = 1, all_ready;
    char path[64];

    MPI_Comm_rank(host, &rank);
    if (rank == 0) {
        fd = memfd_create("gba-test", MFD_CLOEXEC);
        TEST_CHECK(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0, "no shared memory");
    }
    where[0] = (int)getpid();
    where[1] = fd;
    MPI_Bcast(where, 2, MPI_INT, 0, host);
    if (rank != 0) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", where[0], where[1]);
        fd = open(path, O_RDWR | O_CLOEXEC);
        TEST_CHECK(fd >= 0, "cannot open %s", path);
    }
    entered = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    TEST_CHECK(entered != MAP_FAILED, "cannot map shared memory");
    /* All have opened it before the first rank closes it. */
    MPI_Allreduce(&ready, &all_ready, 1, MPI_INT, MPI_MIN, host);
    close(fd);
}

void test_proof_init(void)
{
    int *ranks, size;
    MPI_Comm host;

    test_step("the shared memory of the proofs");
    if (getenv("GBA_TEST_APART") != NULL)
        MPI_Comm_split(MPI_COMM_WORLD, test_rank, 0, &host);
    else
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &size);
    ranks = calloc((size_t)size, sizeof ranks[0]);
    same_host = calloc((size_t)test_size, sizeof same_host[0]);
    TEST_CHECK(ranks != NULL && same_host != NULL, "no memory");
    MPI_Allgather(&test_rank, 1, MPI_INT, ranks, 1, MPI_INT, host);
    for (int i = 0; i < size; i++)
        same_host[ranks[i]] = true;
    free(ranks);
    memory_make(host);
    MPI_Comm_free(&host);
}

void test_proof_begin(struct test_proof *proof, MPI_Comm comm, const char *what, int slot,
                      uint32_t id)
{
    MPI_Group group, world;
    int inter, *members;

    MPI_Comm_test_inter(comm, &inter);
    if (inter)
        MPI_Comm_remote_group(comm, &group);
    else
        MPI_Comm_group(comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(group, &proof->members);

    members = calloc((size_t)proof->members, sizeof members[0]);
    proof->world = calloc((size_t)proof->members, sizeof proof->world[0]);
    TEST_CHECK(members != NULL && proof->world != NULL, "no memory");
    for (int i = 0; i < proof->members; i++)
        members[i] = i;
    MPI_Group_translate_ranks(group, proof->members, members, world, proof->world);
    for (int i = 0; i < proof->members; i++)
        if (proof->world[i] == MPI_UNDEFINED || !same_host[proof->world[i]])
            proof->world[i] = -1;
    free(members);
    MPI_Group_free(&group);
    MPI_Group_free(&world);

    proof->comm = comm;
    proof->what = what;
    proof->slot = slot;
    proof->round = (uint64_t)id << 32;
    proof->ahead = 1;
}

void test_proof_enter(struct test_proof *proof)
{
    proof->round++;
    /* Relaxed, because the barrier must make it visible to all members that leave. */
    gba_word_store_relaxed(entered_of(test_rank, proof->slot), proof->round);
}

void test_proof_look(const struct test_proof *proof, uint64_t round, uint32_t ahead)
{
    for (int i = 0; i < proof->members; i++) {
        uint64_t theirs;

        if (proof->world[i] < 0)
            continue;
        theirs = gba_word_load_relaxed(entered_of(proof->world[i], proof->slot));
        TEST_CHECK(
            theirs >= round && theirs <= round + ahead,
            "%s: left round %llx of the barrier while rank %d of the world was in round %llx",
            proof->what, (unsigned long long)round, proof->world[i], (unsigned long long)theirs);
    }
}

void test_proof_await(const struct test_proof *proof, uint64_t round)
{
    for (int i = 0; i < proof->members; i++)
        while (proof->world[i] >= 0 &&
               gba_word_load_relaxed(entered_of(proof->world[i], proof->slot)) < round)
            sched_yield();
}

/* The proof whose blocking barrier this rank is in, and the round. A thread's barrier may replace
 * another thread's, which then is not proved. */
static const struct test_proof *_Atomic inside;

uint64_t test_proof_all_arrived(void)
{
    const struct test_proof *proof = inside;

    if (proof == NULL)
        return 0;
    for (int i = 0; i < proof->members; i++)
        if (proof->world[i] < 0 ||
            gba_word_load_relaxed(entered_of(proof->world[i], proof->slot)) < proof->round)
            return 0;
    return proof->round;
}

/* Members that have left may have entered the next round, but cannot leave it without this one. */
void test_proof_barrier(struct test_proof *proof)
{
    test_proof_enter(proof);
    inside = proof;
    MPI_Barrier(proof->comm);
    inside = NULL;
    test_proof_look(proof, proof->round, proof->ahead);
}

void test_proof_start(struct test_proof *proof, MPI_Request *request)
{
    test_proof_enter(proof);
    MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    test_proof_look(proof, proof->round, proof->ahead);
}

void test_proof_ibarrier(struct test_proof *proof)
{
    MPI_Request request;
    int done = 0;

    test_proof_enter(proof);
    MPI_Ibarrier(proof->comm, &request);
    while (!done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    test_proof_look(proof, proof->round, 1);
}

void test_proof_end(struct test_proof *proof)
{
    int mine = 1, all;

    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, proof->comm);
    free(proof->world);
    proof->world = NULL;
}

enum { TAG_ENTER, TAG_LEFT };

/* All members have reported their entry before one reports its exit. */
static void referee_watch(MPI_Comm all, int players, int rounds)
{
    int *said = calloc((size_t)players + 1, sizeof said[0]); /* rounds entered, by rank */
    long messages = 2L * players * rounds;
    MPI_Status status;
    int round;

    TEST_CHECK(said != NULL, "no memory");
    while (messages-- > 0) {
        MPI_Recv(&round, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, all, &status);
        if (status.MPI_TAG == TAG_ENTER) {
            said[status.MPI_SOURCE] = round;
            continue;
        }
        for (int i = 1; i <= players; i++)
            TEST_CHECK(said[i] >= round, "rank %d left round %d before rank %d entered it",
                       status.MPI_SOURCE, round, i);
    }
    free(said);
}

/*
 * Messages of two senders may overtake each other, so the first one is synchronous. The referee has
 * received it before the sender enters the barrier, and thus before any member may leave it.
 */
static void referee_play(MPI_Comm all, MPI_Comm players, int rounds)
{
    uint64_t random = test_seed(0x7e0 + (uint64_t)test_rank);

    for (int round = 1; round <= rounds; round++) {
        test_delay(&random);
        MPI_Ssend(&round, 1, MPI_INT, 0, TAG_ENTER, all);
        MPI_Barrier(players);
        MPI_Send(&round, 1, MPI_INT, 0, TAG_LEFT, all);
    }
}

void test_referee(MPI_Comm all, int rounds)
{
    MPI_Comm players;
    int rank, size;

    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    if (size < 3)
        return;
    MPI_Comm_split(all, rank == 0 ? MPI_UNDEFINED : 1, rank, &players);
    test_step("the barriers before a referee");
    if (rank == 0) {
        referee_watch(all, size - 1, rounds);
        return;
    }
    referee_play(all, players, rounds);
    MPI_Comm_free(&players);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More communicators than barrier groups: which communicator gets a group, and when. The test reads
 * the path of a communicator from the component's performance variables; it must be the same on all
 * ranks.
 *
 *   scarce after N GROUPS        offload_after is N: the barrier after the N-th finds a group
 *   scarce freed COMMS GROUPS    communicators that renegotiate get the freed groups
 *   scarce moves COMMS GROUPS PHASES   those that have the groups are freed in each phase
 *   scarce dies COMMS GROUPS PHASES   the device dies meanwhile
 *   scarce hosts COMMS           communicators of one host, of two pretended ones, take no group
 *
 * GROUPS: those that the job can have, by the device or by max_groups.
 *
 * GBA_TEST_NONBLOCKING in the environment: all barriers are nonblocking. A renegotiation then
 * precedes a barrier; otherwise it is at the end of one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mpi/test.h"

enum { PATH_SIM = 2, PATH_SOFTWARE = 3, PATH_FALLBACK = 4 };

#define WINDOW       3            /* nonblocking barriers in progress at once */
#define AHEAD        (WINDOW + 1) /* rounds that others may have entered since */
#define BURST        16
#define SUBJECTS_MAX 128 /* more than the 100 that the test wants */

/* A refused team requests a group again after so many barriers, and then twice as many each
 * time. */
#define PAUSE 64

struct subject {
    MPI_Comm comm;
    struct test_proof proof;
    MPI_T_pvar_handle path, failovers, barriers, fallbacks;
    uint64_t done; /* barriers */
};

static MPI_T_pvar_session session;
static bool dies, nonblocking;
static int paths[] = {PATH_SOFTWARE, PATH_FALLBACK}; /* without a group; the first one counts */

static MPI_T_pvar_handle handle(const char *name, MPI_Comm *comm)
{
    static const int classes[] = {MPI_T_PVAR_CLASS_LEVEL, MPI_T_PVAR_CLASS_COUNTER};
    MPI_T_pvar_handle result;
    int index, count;
    char full[96];

    snprintf(full, sizeof full, "coll_gba_barrier_comm_%s", name);
    for (int class = 0; class < 2; class ++)
        if (MPI_T_pvar_get_index(full, classes[class], &index) == MPI_SUCCESS &&
            MPI_T_pvar_handle_alloc(session, index, comm, &result, &count) == MPI_SUCCESS)
            return result;
    test_fail("there is no performance variable %s", full);
}

static unsigned long long value(MPI_T_pvar_handle variable)
{
    unsigned long long result = 0;

    TEST_CHECK(MPI_T_pvar_read(session, variable, &result) == MPI_SUCCESS, "cannot read");
    return result;
}

/* Check that the values of all ranks are equal. */
static unsigned long long agreed(MPI_T_pvar_handle variable, const char *what)
{
    unsigned long long mine[2] = {value(variable), 0}, most[2];

    mine[1] = ~mine[0];
    MPI_Allreduce(mine, most, 2, MPI_UNSIGNED_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    TEST_CHECK(most[0] == ~most[1], "%s is %llu here, and up to %llu elsewhere", what, mine[0],
               most[0]);
    return mine[0];
}

/* color: of the communicator of this rank, if there are several. */
static void subject_split(struct subject *subject, int number, int color)
{
    static uint32_t id;

    /* Some communicators have another leader. */
    MPI_Comm_split(MPI_COMM_WORLD, color, number % 3 == 1 ? -test_rank : test_rank, &subject->comm);
    test_proof_begin(&subject->proof, subject->comm, "scarce", number, ++id);
    subject->path = handle("path", &subject->comm);
    subject->failovers = handle("failovers", &subject->comm);
    subject->barriers = handle("barriers", &subject->comm);
    subject->fallbacks = handle("fallbacks", &subject->comm);
    subject->done = 0;
}

static void subject_begin(struct subject *subject, int number)
{
    subject_split(subject, number, 0);
}

/* Collective. All barriers are counted, and no device has died except on purpose. */
static void subject_end(struct subject *subject)
{
    unsigned long long done =
        agreed(subject->barriers, "barriers") + agreed(subject->fallbacks, "fallbacks");

    TEST_CHECK(done == subject->done, "%llu barriers are counted, not %llu", done,
               (unsigned long long)subject->done);
    TEST_CHECK(agreed(subject->failovers, "failovers") == 0 || dies, "there were failovers");
    MPI_T_pvar_handle_free(session, &subject->path);
    MPI_T_pvar_handle_free(session, &subject->failovers);
    MPI_T_pvar_handle_free(session, &subject->barriers);
    MPI_T_pvar_handle_free(session, &subject->fallbacks);
    test_proof_end(&subject->proof);
    MPI_Comm_free(&subject->comm);
}

/* A barrier that is complete at the end. */
static void barrier(struct subject *subject)
{
    MPI_Request request;

    test_proof_enter(&subject->proof);
    if (nonblocking) {
        MPI_Ibarrier(subject->comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Barrier(subject->comm);
    }
    test_proof_look(&subject->proof, subject->proof.round, AHEAD);
    subject->done++;
}

/* Nonblocking barriers in progress, and one more behind them. */
static void window(struct subject *subject)
{
    MPI_Request requests[WINDOW];

    for (int i = 0; i < WINDOW; i++) {
        test_proof_enter(&subject->proof);
        MPI_Ibarrier(subject->comm, &requests[i]);
    }
    barrier(subject);
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    subject->done += WINDOW;
}

static bool on_group(struct subject *subject, const char *what)
{
    unsigned long long path = agreed(subject->path, what);

    TEST_CHECK(path == PATH_SIM || path == (unsigned long long)paths[0], "path %llu", path);
    return path == PATH_SIM;
}

static void at_most(struct subject *subjects, long from, long to, long groups)
{
    long found = 0;

    for (long i = from; i < to; i++)
        found += on_group(&subjects[i], "the path");
    TEST_CHECK(found <= groups, "%ld communicators have a group", found);
}

/* Whether `done` barriers are enough for a renegotiation that follows `barriers`. */
static bool renegotiated(uint64_t done, uint64_t barriers)
{
    return nonblocking ? done > barriers : done >= barriers;
}

/* Exact counts: of single barriers, and of several in progress at once. */
static void after(uint64_t barriers)
{
    struct subject subject;

    test_step("offload_after");
    subject_begin(&subject, 0);
    for (uint64_t i = 1; i <= barriers + 5; i++) {
        barrier(&subject);
        TEST_CHECK(on_group(&subject, "the path") == renegotiated(i, barriers),
                   "after %llu barriers", (unsigned long long)i);
    }
    subject_end(&subject);
    subject_begin(&subject, 0);
    barrier(&subject); /* nonblocking ones before it are not ours */
    while (subject.done < barriers + 5) {
        window(&subject);
        TEST_CHECK(on_group(&subject, "the path") == renegotiated(subject.done, barriers),
                   "after %llu barriers, some at once", (unsigned long long)subject.done);
    }
    subject_end(&subject);
}

/* A group is free when the last member has left it, and MPI_Comm_free does not synchronise. No
 * barrier here, because it would take a group. */
static void all_here(void)
{
    int one = 1, least;

    MPI_Allreduce(&one, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
}

/* The first communicators have all groups. When they are freed, the communicators that renegotiate
 * get the groups, and once more when those are freed. */
static void freed(struct subject *subjects, long count, long groups)
{
    const uint64_t pause = PAUSE + nonblocking;

    test_step("groups that are freed");
    for (long i = 0; i < count; i++) {
        subject_begin(&subjects[i], (int)i);
        barrier(&subjects[i]);
        TEST_CHECK(on_group(&subjects[i], "the path") == (i < groups), "communicator %ld", i);
    }
    for (long i = 0; i < groups; i++)
        subject_end(&subjects[i]);
    all_here();
    for (long i = groups; i < count; i++) {
        while (subjects[i].done < pause - 1)
            barrier(&subjects[i]);
        TEST_CHECK(!on_group(&subjects[i], "the path"), "communicator %ld is early", i);
        barrier(&subjects[i]);
        TEST_CHECK(on_group(&subjects[i], "the path") || i >= 2 * groups, "communicator %ld", i);
    }
    at_most(subjects, groups, count, groups);
    for (long i = groups; i < 2 * groups; i++)
        subject_end(&subjects[i]);
    all_here();
    for (long i = 2 * groups; i < count; i++) {
        while (subjects[i].done < 3 * PAUSE - 1)
            window(&subjects[i]);
        barrier(&subjects[i]);
    }
    at_most(subjects, 2 * groups, count, groups);
    for (long i = 2 * groups; i < count; i++)
        subject_end(&subjects[i]);
}

/* A pass over the busy communicators of this phase, and one barrier on some of the others. */
static void pass(struct subject *subjects, long count, const long *order, long busy)
{
    static long idle;

    for (long i = 0; i < busy; i++) {
        struct subject *subject = &subjects[order[i]];

        for (int j = 0; j < BURST; j++) {
            if (j % 8 == 7)
                window(subject);
            else
                barrier(subject);
        }
    }
    for (int i = 0; i < 4 && busy < count; i++)
        barrier(&subjects[order[busy + idle++ % (count - busy)]]);
}

static void shuffle(long *order, long count, uint64_t *random)
{
    for (long i = count - 1; i > 0; i--) {
        long other = (long)(test_random(random) % (uint64_t)(i + 1)), kept = order[i];

        order[i] = order[other];
        order[other] = kept;
    }
}

/* Let barriers of these communicators run until all groups are in use. */
static void use_all(struct subject *subjects, const long *order, long count, long groups)
{
    const long most = groups < count ? groups : count;
    long found;

    test_step("not all groups are in use");
    do {
        for (int n = 0; n < 8; n++)
            pass(subjects, count, order, most);
        found = 0;
        for (long i = 0; i < count; i++)
            found += on_group(&subjects[order[i]], "the path");
        TEST_CHECK(found <= groups, "%ld communicators have a group", found);
    } while (found < most && !dies);
}

/* Free the communicators that have groups, and move them behind the others. Returns the number of
 * the others. */
static long end_some(struct subject *subjects, long *order, long count)
{
    long kept = 0;

    for (long i = 0; i < count; i++) {
        const long number = order[i];

        if (on_group(&subjects[number], "the path")) {
            subject_end(&subjects[number]);
        } else {
            order[i] = order[kept];
            order[kept++] = number;
        }
    }
    all_here();
    return kept;
}

/* In each phase the communicators that have groups are freed, the others get the groups, and then
 * new ones begin, for which there is no group. */
static void moves(struct subject *subjects, long count, long groups, long phases)
{
    uint64_t ours = test_seed(0);
    long order[SUBJECTS_MAX] = {0}, live = 0;

    for (long i = 0; i < count; i++)
        order[i] = i;
    for (long phase = 0; phase <= phases; phase++) {
        test_step("new communicators begin");
        for (long i = live; i < count; i++) {
            subject_begin(&subjects[order[i]], (int)order[i]);
            barrier(&subjects[order[i]]);
        }
        live = end_some(subjects, order, count);
        shuffle(order, live, &ours);
        use_all(subjects, order, live, groups);
    }
    for (long i = 0; i < live; i++)
        subject_end(&subjects[order[i]]);
}

/* hosts_preload.c has two hosts: of the even and of the odd ranks. */
static void hosts(struct subject *subjects, long count)
{
    test_step("many communicators of one host, and one of two");
    for (long i = 0; i < count; i++)
        subject_split(&subjects[i], (int)i, test_rank % 2);
    for (int round = 0; round < 8 * PAUSE; round++)
        for (long i = 0; i < (round < PAUSE ? count : 2); i++)
            barrier(&subjects[i]);
    subject_begin(&subjects[count], (int)count);
    for (int round = 0; round < PAUSE; round++) {
        for (long i = 0; i <= count; i++)
            barrier(&subjects[i]);
        TEST_CHECK(on_group(&subjects[count], "the path of two hosts"), "it has no group");
    }
    for (long i = 0; i < count; i++)
        TEST_CHECK(!on_group(&subjects[i], "the path of one host"), "one host has a group");
    for (long i = 0; i <= count; i++)
        subject_end(&subjects[i]);
}

/* Whether a tool sees the values of a parameter: `count` of them, the first one with this text. */
static void values_are(const char *name, int count, const char *first)
{
    char full[96], text[128] = "";
    int index, level, scope, bind, number, most = (int)sizeof text, length = 0, seen = 0;
    MPI_Datatype type;
    MPI_T_enum values = MPI_T_ENUM_NULL;

    snprintf(full, sizeof full, "coll_gba_barrier_%s", name);
    TEST_CHECK(MPI_T_cvar_get_index(full, &index) == MPI_SUCCESS, "no parameter %s", full);
    MPI_T_cvar_get_info(index, NULL, NULL, &level, &type, &values, NULL, NULL, &bind, &scope);
    MPI_T_enum_get_info(values, &seen, NULL, &length);
    MPI_T_enum_get_item(values, 0, &number, text, &most);
    TEST_CHECK(seen == count && strcmp(text, first) == 0, "%s: %d values, the first is \"%s\"",
               full, seen, text);
}

int main(int argc, char **argv)
{
    static struct subject subjects[SUBJECTS_MAX];
    long first, second, third;
    int provided;

    test_slots = SUBJECTS_MAX;
    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    TEST_CHECK(argc > 1, "which test?");
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    values_are("sw_radix", 1, "0, 2 to 64");
    values_are("hierarchy", 3, "auto");
    first = test_argument(argc, argv, 2, 100);
    second = test_argument(argc, argv, 3, 8);
    third = test_argument(argc, argv, 4, 3);
    TEST_CHECK(first < SUBJECTS_MAX || argv[1][0] == 'a', "too many communicators");
    dies = strcmp(argv[1], "dies") == 0;
    nonblocking = getenv("GBA_TEST_NONBLOCKING") != NULL;
    if (getenv("GBA_TEST_FALLBACK") != NULL)
        paths[0] = PATH_FALLBACK;
    if (strcmp(argv[1], "after") == 0)
        after((uint64_t)first);
    else if (strcmp(argv[1], "freed") == 0)
        freed(subjects, first, second);
    else if (strcmp(argv[1], "hosts") == 0)
        hosts(subjects, first);
    else
        moves(subjects, first, second, third);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return test_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One member lacks a resource: memory, a mapping, a file, a descriptor. In each agreement (the
 * first one, a request, a trial, a recovery) its first call for a resource fails, in the next run
 * the second one, and so on until none is left to fail. All members must end on the same path for
 * the same reason, with no barrier left early, and leave nothing behind.
 *
 * The linker puts the functions of this file in the place of the C library's, and of the functions
 * that run an agreement. Only calls inside an agreement count.
 */
#define _GNU_SOURCE /* memfd_create */
#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/types.h>

#include "gba/base/log.h"
#include "tests/unit/log_catch.h"
#include "tests/unit/team/team_harness.h"

/* The agreement whose calls fail. */
enum phase { CREATE, RENEGOTIATE, RECOVER };

static struct {
    enum phase phase;
    uint32_t member;
    unsigned nth;
} plan;
static _Thread_local unsigned calls; /* of the member, in that phase */
static _Thread_local bool counts;    /* in an agreement of that phase */
static gba_word_t failed;            /* the call was made */

static bool due(void)
{
    if (!counts || ++calls != plan.nth)
        return false;
    gba_word_store_relaxed(&failed, 1);
    return true;
}

/* Declare the function of the C library and the one in its place, which fails when that is due. */
#define RESOURCE(type, name, failure, error, parameters, arguments) \
    extern type __real_##name parameters;                           \
    extern type __wrap_##name parameters;                           \
    type __wrap_##name parameters                                   \
    {                                                               \
        if (!due())                                                 \
            return __real_##name arguments;                         \
        errno = error;                                              \
        return failure;                                             \
    }

RESOURCE(void *, malloc, NULL, ENOMEM, (size_t size), (size))
RESOURCE(void *, calloc, NULL, ENOMEM, (size_t count, size_t size), (count, size))
RESOURCE(void *, aligned_alloc, NULL, ENOMEM, (size_t alignment, size_t size), (alignment, size))
RESOURCE(void *, realloc, NULL, ENOMEM, (void *memory, size_t size), (memory, size))
RESOURCE(void *, mmap, MAP_FAILED, ENOMEM,
         (void *address, size_t size, int protection, int flags, int file, off_t offset),
         (address, size, protection, flags, file, offset))
RESOURCE(int, memfd_create, -1, EMFILE, (const char *name, unsigned flags), (name, flags))
RESOURCE(int, fallocate, -1, ENOSPC, (int file, int mode, off_t offset, off_t size),
         (file, mode, offset, size))
RESOURCE(ssize_t, getrandom, -1, ENOSYS, (void *to, size_t size, unsigned flags), (to, size, flags))
RESOURCE(FILE *, fopen, NULL, EMFILE, (const char *path, const char *mode), (path, mode))
RESOURCE(int, open, -1, EMFILE, (const char *path, int flags, int mode), (path, flags, mode))

/* An agreement of this member begins, or has ended. */
static void agreement_begin(enum phase phase, const gba_oob_t *oob)
{
    counts = phase == plan.phase && oob->rank == plan.member;
}

static gba_status_t agreement_end(gba_status_t status)
{
    counts = false;
    return status;
}

gba_status_t __real_gba_team_create(const gba_team_attr_t *attr, const gba_oob_t *oob,
                                    gba_team_t **team);
gba_status_t __wrap_gba_team_create(const gba_team_attr_t *attr, const gba_oob_t *oob,
                                    gba_team_t **team);
gba_status_t __wrap_gba_team_create(const gba_team_attr_t *attr, const gba_oob_t *oob,
                                    gba_team_t **team)
{
    calls = 0;
    agreement_begin(CREATE, oob);
    return agreement_end(__real_gba_team_create(attr, oob, team));
}

/* Later agreements. */
gba_status_t __real_gba_team_agree(gba_team_t **team, gba_due_t due, const gba_team_attr_t *attr,
                                   const gba_oob_t *oob);
gba_status_t __wrap_gba_team_agree(gba_team_t **team, gba_due_t due, const gba_team_attr_t *attr,
                                   const gba_oob_t *oob);
gba_status_t __wrap_gba_team_agree(gba_team_t **team, gba_due_t due, const gba_team_attr_t *attr,
                                   const gba_oob_t *oob)
{
    agreement_begin(GBA_DUE_RECOVER == due ? RECOVER : RENEGOTIATE, oob);
    return agreement_end(__real_gba_team_agree(team, due, attr, oob));
}

/* ------------------------------------------------------------------------------- sweeps --- */

#define SIZE 5u

/* The teams, before and in which something fails. */
struct layout {
    uint32_t hosts;
    int hierarchy, offload, min_hosts;
};

static const struct layout layouts[] = {
    {1, GBA_HIERARCHY_AUTO, GBA_OFFLOAD_ALWAYS, 1},
    {1, GBA_HIERARCHY_NODE, GBA_OFFLOAD_ALWAYS, 1},
    {1, GBA_HIERARCHY_AUTO, GBA_OFFLOAD_FASTEST, 3},
    {3, GBA_HIERARCHY_AUTO, GBA_OFFLOAD_ALWAYS, 1},
    {3, GBA_HIERARCHY_NODE, GBA_OFFLOAD_ALWAYS, 1},
    {3, GBA_HIERARCHY_AUTO, GBA_OFFLOAD_FASTEST, 3},
    {3, GBA_HIERARCHY_AUTO, GBA_OFFLOAD_FASTEST, 100},
    {3, GBA_HIERARCHY_AUTO, GBA_OFFLOAD_NEVER, 1},
};
#define LAYOUTS (sizeof layouts / sizeof layouts[0])

static struct harness *harness_lacking(const char *device, const struct layout *layout)
{
    struct harness *w = harness_on(device);

    w->past = true;
    w->rounds = 12;
    w->own_barrier = true;
    w->params.hierarchy = layout->hierarchy;
    w->params.offload = layout->offload;
    w->params.min_hosts = layout->min_hosts;
    if (layout->hosts > 1)
        harness_hosts(w, SIZE, layout->hosts, 0);
    return w;
}

/* A team without any path names the member that lacks something. */
static void check_name(const struct harness *w)
{
    char name[32];

    snprintf(name, sizeof name, "(member %u)", plan.member);
    if (CREATE == plan.phase && GBA_PATH_FALLBACK == w->path[0] && NOBODY == w->no_remote &&
        0 != gba_word_load_relaxed(&failed) && strstr(w->why[0], name) == NULL)
        fail_msg("%s is not in \"%s\"", name, w->why[0]);
}

/* Each call of each member fails. The first `spare` ones are those without which a member cannot
 * take part: its runtime has to end the job. Returns the number of runs. */
static unsigned sweep(enum phase phase, const char *device, void (*set)(struct harness *w),
                      unsigned spare)
{
    static const uint32_t members[] = {0, 1, SIZE - 1};
    unsigned runs = 0;

    plan.phase = phase;
    for (size_t i = 0; i < LAYOUTS; i++)
        for (size_t m = 0; m < sizeof members / sizeof members[0]; m++) {
            plan.member = members[m];
            plan.nth = spare;
            do {
                struct harness *w = harness_lacking(device, &layouts[i]);

                set(w);
                plan.nth++;
                gba_word_store_relaxed(&failed, 0);
                harness_run(w, SIZE, HARNESS_ANY_PATH);
                check_name(w);
                harness_end(w);
                runs++;
            } while (0 != gba_word_load_relaxed(&failed));
        }
    print_message("%u failures\n", runs);
    return runs;
}

static void set_nothing(struct harness *w)
{
    (void)w;
}

static void set_no_messages(struct harness *w)
{
    w->no_remote = 2;
}

/* The team itself is the first allocation. */
TEST(test_first_agreement)
{
    const unsigned least = LAYOUTS * 3;

    assert_true(sweep(CREATE, "sim", set_no_messages, 1) > least);
    assert_true(sweep(CREATE, "sim", set_nothing, 1) > least);
    assert_true(sweep(CREATE, NULL, set_nothing, 1) > least);
}

static void set_request(struct harness *w)
{
    w->params.offload_after = 5;
}

TEST(test_request)
{
    assert_true(sweep(RENEGOTIATE, "sim", set_request, 0) > LAYOUTS * 3);
}

static void set_trial(struct harness *w)
{
    w->params.trial_after = 3;
    w->params.trial_test = 2;
    w->rounds = 7; /* two trials */
}

TEST(test_trial)
{
    assert_true(sweep(RENEGOTIATE, "sim", set_trial, 0) > LAYOUTS * 3);
}

TEST(test_recovery)
{
    assert_true(sweep(RECOVER, "sim?die_after=4", set_nothing, 0) > LAYOUTS * 3);
}

TEST_MAIN(gba_log_set(log_drop, NULL, GBA_LOG_ERROR);)

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many devices die in one job: a new simulated device for each iteration, and new communicators on
 * it, whose members are in random phases of their barriers when it dies.
 *
 *   soak [DEVICES [STYLE]]
 *
 * DEVICES: iterations, 100 by default. STYLE, of a team's barriers: 1 blocking and nonblocking; 2
 * nonblocking, after the first one; 3 blocking; 4, the default: drawn for each team. device_path is
 * "sim:NAME" in the environment; the devices are NAME-1, NAME-2 and so on, each with a random
 * option to die. If the ranks have several names, the last digit of a name decides which of them
 * die.
 *
 * The plugin opens one device in a process and keeps it. So this program exports the functions of
 * libgba that take a device, and passes the device of the iteration. libgba and the plugin are the
 * installed ones.
 *
 * Each barrier is checked for an early exit, each team for a lost round, and each iteration has the
 * time limit of the watchdog. The last line is for the runner:
 *
 *   soak: DEVICES devices, DEATHS deaths, TEAMS teams failed over, IDLE died unused
 *
 * A death counts if at least one team failed over: it was on the device, and its members agreed on
 * another path. A device that dies in an agreement, or with no barrier after it, died unused.
 */
#define _GNU_SOURCE
#include "tests/limit.h"
#include "tests/mpi/test.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gba/device.h"
#include "gba/team.h"

#define TEAMS   3
#define RUNNING TEAMS /* agreements at a time */
#define WINDOW  4

struct soaked {
    MPI_Comm comm;
    struct test_proof proof;
    long style; /* 1 to 3, see above */
    int pending;
    bool agreed;  /* the agreement has begun; the team exists at its end */
    bool foreign; /* some of them are Open MPI's own, from before the agreement */
    MPI_Request request[WINDOW];
    uint64_t round[WINDOW];
    gba_team_t *team;
    uint64_t barriers; /* since the agreement began, with the one in which it did */
};

static struct soaked soaked[TEAMS];
static struct soaked *in_barrier; /* whose MPI_Barrier or MPI_Ibarrier this process is in */
static gba_device_t *device;      /* of this iteration */
static long failed_over;          /* teams of this iteration, counted by their rank 0 */
static int teams_alive;

/* The function of libgba itself, behind the one of this program. */
#define REAL(function) (*(__typeof__(&function) *)real(#function))

static void *real(const char *name)
{
    static void *address;

    address = dlsym(RTLD_NEXT, name);
    TEST_CHECK(address != NULL, "%s is in no library", name);
    return &address;
}

/* The attributes with the device of the iteration. */
static gba_team_attr_t on_device(const gba_team_attr_t *attr)
{
    gba_team_attr_t mine = *attr;

    if (mine.device != NULL)
        mine.device = device;
    return mine;
}

/* The agreements in progress. They begin within MPI_Barrier or MPI_Ibarrier, and can end in another
 * call. */
static struct running {
    gba_agreement_t *agreement; /* NULL: free */
    gba_due_t due;
    struct soaked *soaked; /* that gets the team */
    bool counts;           /* this is rank 0 of the team */
} running[RUNNING];

static struct running *running_find(const gba_agreement_t *agreement)
{
    for (int i = 0; i < RUNNING; i++)
        if (running[i].agreement == agreement)
            return &running[i];
    test_fail("more than %d agreements at a time", RUNNING);
}

gba_status_t gba_agree_start(gba_team_t *team, gba_due_t due, const gba_team_attr_t *attr,
                             const gba_oob_t *oob, gba_agreement_t **agreement)
{
    const gba_team_attr_t mine = on_device(attr);
    struct running *r = running_find(NULL);

    *r = (struct running){.due = due, .soaked = in_barrier, .counts = oob->rank == 0};
    if (due == GBA_DUE_CREATE) {
        TEST_CHECK(r->soaked != NULL, "an agreement begins outside of a barrier");
        r->soaked->agreed = true;
        r->soaked->barriers = 1;
    }
    TEST_CHECK(REAL(gba_agree_start)(team, due, &mine, oob, agreement) == GBA_OK, "no agreement");
    r->agreement = *agreement;
    return GBA_OK;
}

gba_status_t gba_agree_test(gba_agreement_t *agreement, gba_team_t **team)
{
    struct running *r = running_find(agreement);
    gba_status_t status = REAL(gba_agree_test)(agreement, team);

    if (status == GBA_INPROGRESS)
        return status;
    r->agreement = NULL;
    TEST_CHECK(status == GBA_OK, "no team: status %d", (int)status);
    if (r->due == GBA_DUE_CREATE) {
        r->soaked->team = *team;
        teams_alive++;
    }
    if (r->due == GBA_DUE_RECOVER) {
        TEST_CHECK(REAL(gba_team_path)(*team) == GBA_PATH_SOFTWARE,
                   "a team is not on a software barrier after its device");
        failed_over += r->counts;
    }
    return status;
}

void gba_team_destroy(gba_team_t *team)
{
    teams_alive -= team != NULL;
    REAL(gba_team_destroy)(team);
}

/* --------------------------------------------------------------------------------- devices --- */

/* The random option to die. In a barrier of a team that includes all ranks, each rank arrives, or
 * one rank of each pretended host. */
static void option_draw(uint64_t *ours, char *text, size_t len)
{
    const unsigned hosts = (unsigned)test_environment("GBA_TEST_HOSTS", (uint64_t)test_size);
    const unsigned arrivers = hosts < (unsigned)test_size ? hosts : (unsigned)test_size;
    const unsigned some = (unsigned)(test_random(ours) % 24);
    const unsigned which = (unsigned)(test_random(ours) % 6);
    const unsigned releases = 1 + (unsigned)(test_random(ours) % arrivers);

    if (which == 0)
        snprintf(text, len, "die_call=%u", 1 + (unsigned)(test_random(ours) % (4 * arrivers + 2)));
    else if (which == 1)
        snprintf(text, len, "die_arrival=%u", 1 + (unsigned)(test_random(ours) % (24 * arrivers)));
    else if (which == 2)
        snprintf(text, len, "die_after=%u", 1 + some);
    else
        snprintf(text, len, "die_after=%u&die_release=%u%s", some, releases,
                 which == 3   ? ""
                 : which == 4 ? "&latency=200us&jitter=2ms&seed=1"
                              : "&latency=5us&jitter=100us&seed=2");
}

/* `step`: set to the text for the watchdog and for failures. Which of several devices die is drawn
 * as well: bit n of `victims` for a name that ends in n. */
static void device_open(const char *base, long index, uint64_t *ours, char *text, size_t len)
{
    const unsigned victims = 1 + (unsigned)(test_random(ours) % 3);
    const gba_device_attr_t attr = {.job = "soak"};
    const unsigned mine = (unsigned)(base[strlen(base) - 1] - '0');
    char option[96];
    gba_status_t status;

    option_draw(ours, option, sizeof option);
    /* One device dies always; of two, at least one. */
    if (getenv("GBA_TEST_DEVICES") != NULL && (victims >> mine & 1) == 0)
        option[0] = '\0';
    snprintf(text, len, "%s-%ld?%s", base, index, option[0] == '\0' ? "groups=32" : option);
    status = REAL(gba_device_init)(text, &attr, &device);
    TEST_CHECK(status == GBA_OK, "no device %s: status %d", text, (int)status);
}

/* Whether the device has died. */
static bool device_close(void)
{
    gba_device_info_t info;
    gba_status_t status = REAL(gba_device_query)(device, &info);

    TEST_CHECK(status == GBA_OK, "no information of a device: status %d", (int)status);
    TEST_CHECK(teams_alive == 0, "%d teams are left", teams_alive);
    REAL(gba_device_fini)(device);
    device = NULL;
    return info.dead;
}

/* -------------------------------------------------------------------------------- barriers --- */

/* `round` is complete: all have entered it. Another member can have completed the rounds that this
 * process has entered, and then enters WINDOW more and a blocking one. */
static void look(const struct soaked *s, uint64_t round)
{
    test_proof_look(&s->proof, round, (uint32_t)(s->proof.round - round) + WINDOW + 1);
}

static void block(struct soaked *s)
{
    test_proof_enter(&s->proof);
    s->barriers++;
    in_barrier = s;
    MPI_Barrier(s->comm);
    in_barrier = NULL;
    look(s, s->proof.round);
}

static void start(struct soaked *s)
{
    test_proof_enter(&s->proof);
    s->barriers++;
    s->round[s->pending] = s->proof.round;
    in_barrier = s;
    MPI_Ibarrier(s->comm, &s->request[s->pending++]);
    in_barrier = NULL;
    s->foreign |= !s->agreed;
}

static void wait_all(struct soaked *s)
{
    for (int i = 0; i < s->pending; i++) {
        MPI_Wait(&s->request[i], MPI_STATUS_IGNORE);
        look(s, s->round[i]);
    }
    s->pending = 0;
    s->foreign = false;
}

/* One step on one communicator: the same on all members, drawn from `ours`. */
static void act(struct soaked *s, uint64_t *ours, uint64_t *mine)
{
    const unsigned drawn = (unsigned)(test_random(ours) % 8);

    test_delay(mine);
    if (drawn == 0)
        test_chain();
    else if (s->style == 3 || (s->style == 1 && drawn < 4))
        block(s);
    else if (drawn == 4 || s->pending == WINDOW)
        wait_all(s);
    else
        start(s);
}

static void soaked_open(struct soaked *s, int slot, uint32_t id, long style, uint64_t *ours)
{
    memset(s, 0, sizeof *s);
    if (test_size > 3 && test_random(ours) % 4 == 0)
        MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, 0, &s->comm);
    else
        MPI_Comm_dup(MPI_COMM_WORLD, &s->comm);
    s->style = style < 4 ? style : 1 + (long)(test_random(ours) % 3);
    test_proof_begin(&s->proof, s->comm, "barriers of a dying device", slot, id);
    /* Otherwise the first barrier, which agrees on a path, can be a nonblocking one. */
    if (test_random(ours) % 8 != 0)
        block(s);
}

/* The communicator may be freed while its barriers are in progress. Open MPI's own nonblocking
 * barriers crash then (libnbc of 4.1 and 5.0). */
static void soaked_close(struct soaked *s, uint64_t *ours)
{
    gba_team_stats_t stats = {0};

    if (test_random(ours) % 4 != 0)
        block(s);
    if (s->agreed && test_random(ours) % 2 == 0) {
        wait_all(s);
        REAL(gba_team_stats)(s->team, &stats);
        TEST_CHECK(stats.rounds == s->barriers, "the team has counted %llu rounds of %llu",
                   (unsigned long long)stats.rounds, (unsigned long long)s->barriers);
    }
    if (s->foreign)
        wait_all(s);
    MPI_Comm_free(&s->comm);
    wait_all(s);
    s->proof.comm = MPI_COMM_WORLD;
    test_proof_end(&s->proof);
}

int main(int argc, char **argv)
{
    const char *base = getenv("OMPI_MCA_coll_gba_barrier_device_path");
    long devices, style, deaths = 0, unused = 0, teams = 0;
    static char step[256];
    uint64_t mine;

    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    devices = test_argument(argc, argv, 1, 100);
    style = test_argument(argc, argv, 2, 4);
    TEST_CHECK(base != NULL && strncmp(base, "sim:", 4) == 0, "device_path is not sim:NAME");
    mine = test_seed((uint64_t)test_rank + 1);
    for (long i = 1; i <= devices; i++) {
        uint64_t ours = test_seed(UINT64_C(1) << 32 | (uint64_t)i);
        const int count = 1 + (int)(test_random(&ours) % TEAMS);
        long happened[2], all[2];

        alarm(test_limit(
            (unsigned)test_environment("GBA_TEST_SECONDS", 60))); /* the watchdog, again */
        test_step("");
        device_open(base, i, &ours, step, sizeof step);
        test_step(step);
        failed_over = 0;
        for (int t = 0; t < count; t++)
            soaked_open(&soaked[t], t, (uint32_t)i, style, &ours);
        for (int turn = (int)(test_random(&ours) % 60); turn > 0; turn--)
            act(&soaked[test_random(&ours) % (uint64_t)count], &ours, &mine);
        for (int t = 0; t < count; t++)
            soaked_close(&soaked[t], &ours);
        happened[0] = failed_over;
        happened[1] = device_close();
        MPI_Allreduce(happened, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        TEST_CHECK(all[0] == 0 || all[1] != 0, "a team has left a device that lives: %s", step);
        teams += all[0];
        deaths += all[0] != 0;
        unused += all[0] == 0 && all[1] != 0;
    }
    if (test_rank == 0)
        printf("soak: %ld devices, %ld deaths, %ld teams failed over, %ld died unused\n", devices,
               deaths, teams, unused);
    return test_end();
}

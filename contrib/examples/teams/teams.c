/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * teams: strided and 2D splits, over active sets and over MPI, with a check of every number and
 * every synchronisation. See README.md. A plain program of OpenSHMEM and MPI, independent of
 * barrier plugins.
 */
#include "team.h"

#include <getopt.h>
#include <mpi.h>
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char usage[] =
    "usage: teams [--pes N] [--rounds N] [--jitter US]\n"
    "  --pes N      end with an error unless there are N PEs\n"
    "  --rounds N   synchronisations of each team, 1 to 100000 (50)\n"
    "  --jitter US  random pauses of less than that many microseconds, 0 to 100000 (100)\n";

static int me, pes; /* in the world */
static long rounds = 50, pause_max = 100, checked;

/*
 * arrived[p]: the number of synchronisations that PE p has entered; written by p only, on all PEs
 * of the team at once. One for each of the two teams that are checked in turn.
 */
static long *arrived[2];

#define REQUIRE(condition, ...)                                               \
    do {                                                                      \
        if (!(condition)) {                                                   \
            fprintf(stderr, "teams: PE %d: %s:%d: ", me, __FILE__, __LINE__); \
            fprintf(stderr, __VA_ARGS__);                                     \
            fputc('\n', stderr);                                              \
            shmem_global_exit(1);                                             \
        }                                                                     \
    } while (0)

static void random_pause(void)
{
    static uint64_t state;
    struct timespec t = {0, 0};

    if (state == 0)
        state = (uint64_t)me + 1;
    state = state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX generator */
    if (pause_max == 0 || state >> 62 != 0)
        return;
    t.tv_nsec = (long)((state >> 32) % (uint64_t)pause_max) * 1000;
    nanosleep(&t, NULL);
}

/*
 * One synchronisation, the count-th of this team: no PE may leave before all have entered. No PE
 * may be more than one ahead either, which shows that the numbers are this team's.
 */
static void check_sync(team_t team, team_t world, long *counts, long count)
{
    random_pause();
    for (int i = 0; i < team_n_pes(team); i++)
        shmem_long_atomic_set(&counts[me], count, team_translate_pe(team, i, world));
    shmem_quiet();
    team_sync(team);
    for (int i = 0; i < team_n_pes(team); i++) {
        const int pe = team_translate_pe(team, i, world);
        const long seen = shmem_long_atomic_fetch(&counts[pe], me);

        REQUIRE(seen == count || seen == count + 1,
                "synchronisation %ld by %s of %d PEs: PE %d was at %ld", count,
                team_sync_name(team), team_n_pes(team), pe, seen);
    }
}

/* Clear the counts; collective over all PEs. */
static void clear_counts(void)
{
    shmem_barrier_all();
    for (int pe = 0; pe < pes; pe++)
        arrived[0][pe] = arrived[1][pe] = 0;
    shmem_barrier_all();
}

/* The team is the PEs start, start + stride, ... of the world, or I am not in it. */
static void check_numbers(team_t team, team_t world, int start, int stride, int size)
{
    int mine = -1;

    for (int i = 0; i < size; i++)
        if (start + i * stride == me)
            mine = i;
    REQUIRE((team != TEAM_INVALID) == (mine >= 0), "in a team of %d PEs from %d: %d", size, start,
            team != TEAM_INVALID);
    REQUIRE(team_my_pe(team) == mine, "my number is %d, not %d", team_my_pe(team), mine);
    REQUIRE(team_n_pes(team) == (mine >= 0 ? size : -1), "the size is %d", team_n_pes(team));
    for (int i = 0; i < size; i++) {
        const int pe = start + i * stride;

        REQUIRE(team_translate_pe(team, i, world) == (mine >= 0 ? pe : -1), "PE %d is %d", i,
                team_translate_pe(team, i, world));
        REQUIRE(team_translate_pe(world, pe, team) == (mine >= 0 ? i : -1), "PE %d is %d here", pe,
                team_translate_pe(world, pe, team));
    }
    REQUIRE(team_translate_pe(team, size, world) == -1, "there is a PE %d of %d", size, size);
    checked++;
}

/* Make the team, check it, end it. start and stride are the parent's numbers, as for the split. */
static void check_strided(team_t parent, team_t world, int start, int stride, int size)
{
    team_t team;

    if (parent) {
        REQUIRE(team_split_strided(parent, start, stride, size, &team) == 0,
                "no team of %d PEs from %d by %d", size, start, stride);
        const int first = team_translate_pe(parent, start, world);
        const int step =
            size > 1 ? team_translate_pe(parent, start + stride, world) - first : stride;

        check_numbers(team, world, first, step, size);
        if (team_my_pe(team) == 0 && world == team_world)
            printf("%d PEs from %d by %d: %s\n", size, first, step, team_sync_name(team));
    }
    clear_counts();
    for (long i = 1; parent && team && i <= rounds; i++)
        check_sync(team, world, arrived[0], i);
    if (parent)
        team_destroy(team);
}

/* Rows and columns in turn: a PE changes from one team to the other while its neighbours do not. */
static void check_2d(team_t world, int xrange)
{
    const int x = me % xrange, y = me / xrange, last = pes - y * xrange;
    team_t row, column;

    REQUIRE(team_split_2d(world, xrange, &row, &column) == 0, "no rows of %d PEs", xrange);
    check_numbers(row, world, y * xrange, 1, last < xrange ? last : xrange);
    check_numbers(column, world, x, xrange, (pes - x + xrange - 1) / xrange);
    REQUIRE(team_my_pe(row) == x && team_my_pe(column) == y, "x, y are %d, %d", team_my_pe(row),
            team_my_pe(column));
    clear_counts();
    for (long i = 1; i <= rounds; i++) {
        check_sync(row, world, arrived[0], i);
        check_sync(column, world, arrived[1], i);
    }
    team_destroy(row);
    team_destroy(column);
}

/* Invalid arguments of a split. All PEs get the same result. */
static void check_refusals(team_t world)
{
    const int bad[][3] = {{0, 1, pes + 1}, {0, 1, 0}, {-1, 1, 1},        {pes, 1, 1}, {0, pes, 2},
                          {0, -1, 2},      {0, 0, 2}, {0, INT32_MAX, 3}, {0, 1, -1},  {0, 2, pes}};
    const int count = pes == 1 ? 9 : 10; /* one PE has room for the last */
    team_t team, other;

    for (int i = 0; i < count; i++) {
        team = world;
        REQUIRE(team_split_strided(world, bad[i][0], bad[i][1], bad[i][2], &team) != 0 &&
                    team == TEAM_INVALID,
                "a team of %d PEs from %d by %d", bad[i][2], bad[i][0], bad[i][1]);
    }
    REQUIRE(team_split_strided(TEAM_INVALID, 0, 1, 1, &team) != 0, "a team of no team");
    REQUIRE(team_split_2d(world, 0, &team, &other) != 0 && !team && !other, "rows of 0 PEs");
    REQUIRE(team_translate_pe(TEAM_INVALID, 0, world) == -1, "PE 0 of no team");
    REQUIRE(team_translate_pe(team_world, 0, team_world_mpi) == -1, "PE 0 of two kinds");
    REQUIRE(team_my_pe(TEAM_INVALID) == -1 && team_n_pes(TEAM_INVALID) == -1, "no team has PEs");
    team_sync(TEAM_INVALID);
    team_destroy(TEAM_INVALID);
}

/*
 * Make teams until no place is free. All PEs get the refusal in the same call, also those that are
 * in none of these teams. Then free the teams, and make one again, repeatedly.
 */
static void check_places(void)
{
    team_t team[TEAMS_MAX];
    const int others = pes > 1 ? pes - 1 : 1;
    int count = 0;

    while (count < TEAMS_MAX && team_split_strided(team_world, 0, 1, others, &team[count]) == 0)
        count++;
    REQUIRE(count == TEAMS_MAX - 1, "%d teams beside the world", count);
    while (count-- > 0)
        team_destroy(team[count]);
    for (int i = 0; i < 100; i++) {
        /* Alternate strides, so that the same place serves sets of both kinds. */
        const int stride = 1 + i % 3, size = (pes + stride - 1) / stride;

        REQUIRE(team_split_strided(team_world, 0, stride, size, &team[0]) == 0, "no place again");
        team_sync(team[0]);
        team_sync(team[0]);
        team_destroy(team[0]);
    }
}

static void check_kind(team_t world)
{
    team_t even;

    check_numbers(world, world, 0, 1, pes);
    for (int stride = 1; stride <= 4 && stride <= pes; stride++)
        check_strided(world, world, 0, stride, (pes + stride - 1) / stride);
    check_strided(world, world, pes - 1, -1, pes);
    check_strided(world, world, pes - 1, 0, 1);
    if (pes > 1)
        check_strided(world, world, 1, 1, pes - 1);
    if (pes > 3)
        check_strided(world, world, pes - 1, -3, 2);
    for (int xrange = 1; xrange <= pes; xrange++)
        check_2d(world, xrange);

    /* A team of a team, of a stride that is the product of both. */
    REQUIRE(team_split_strided(world, 0, 2, (pes + 1) / 2, &even) == 0, "no even team");
    check_strided(even, world, 0, 1, (pes + 1) / 2);
    if (pes > 6)
        check_strided(even, world, 0, 3, 2);
    if (pes > 2)
        check_strided(even, world, (pes + 1) / 2 - 1, -1, (pes + 1) / 2);
    team_destroy(even);
    check_refusals(world);
}

static int parse_options(int argc, char **argv)
{
    static const struct option options[] = {
        {"pes", 1, NULL, 0}, {"rounds", 1, NULL, 1}, {"jitter", 1, NULL, 2}, {NULL, 0, NULL, 0}};
    static const long min[] = {1, 1, 0}, max[] = {1 << 20, 100000, 100000};
    long value[] = {pes, rounds, pause_max};
    int id;

    opterr = me == 0;
    while ((id = getopt_long(argc, argv, "", options, NULL)) >= 0 && id < 3) {
        char *end;

        value[id] = strtol(optarg, &end, 10);
        if (end == optarg || *end || value[id] < min[id] || value[id] > max[id]) {
            if (me == 0)
                fprintf(stderr, "teams: --%s %s: a number from %ld to %ld is allowed\n",
                        options[id].name, optarg, min[id], max[id]);
            return -1;
        }
    }
    if (me == 0 && (id >= 0 || optind < argc))
        fputs(usage, stderr);
    else if (me == 0 && value[0] != pes)
        fprintf(stderr, "teams: --pes %ld: there are %d PEs\n", value[0], pes);
    rounds = value[1];
    pause_max = value[2];
    return id >= 0 || optind < argc || value[0] != pes ? -1 : 0;
}

int main(int argc, char **argv)
{
    int had_mpi, status = 2;

    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) < 0;
    /* shmem_init of Open MPI also initialises MPI, and shmem_finalize finalises it; other libraries
     * may not. */
    shmem_init();
    MPI_Initialized(&had_mpi);
    if (!had_mpi)
        MPI_Init(NULL, NULL);
    me = shmem_my_pe();
    pes = shmem_n_pes();
    if (parse_options(argc, argv) == 0) {
        for (int i = 0; i < 2; i++)
            arrived[i] = shmem_malloc((size_t)pes * sizeof *arrived[i]);
        REQUIRE(arrived[0] && arrived[1] && teams_init() == 0, "no symmetric memory");
        REQUIRE(team_my_pe(team_world_mpi) == me, "MPI and OpenSHMEM number processes differently");
        check_kind(team_world);
        check_kind(team_world_mpi);
        check_places();
        if (me == 0)
            printf("verified: %d PEs, %ld teams\n", pes, checked);
        teams_fini();
        shmem_free(arrived[1]);
        shmem_free(arrived[0]);
        status = 0;
    }
    if (!had_mpi)
        MPI_Finalize();
    shmem_finalize();
    return status;
}

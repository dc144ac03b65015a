/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict of gba_perf about a program, from records whose truth is known. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "contrib/perf/program.h"
#include "tests/suite.h"

#define SETS 400 /* of records, for each kind of noise */

static const char *const settings[] = {"plugin", "stock"};
static uint64_t seed = 1;

/* 0 to 1. */
static double random_part(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(seed >> 11) / (double)(UINT64_C(1) << 53);
}

/* About normal; deviation 1. */
static double random_normal(void)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += random_part();
    return sum;
}

/* Noise of a run, as a logarithm. */
static double even(void)
{
    return 0.02 * random_normal();
}

static double rare(void)
{
    return 0.01 * random_normal() + (random_part() < 0.2 ? 0.5 * random_part() : 0);
}

static double two_modes(void)
{
    return 0.1 * (random_part() < 0.5) + 0.003 * random_normal();
}

static double burst;
static double bursts(void)
{
    if (random_part() < 0.3)
        burst = 0.15 - burst;
    return burst + 0.01 * random_normal();
}

/* What the records are of: runs of 10 s, from MPI_Init to MPI_Finalize 8 s. */
struct truth {
    uint32_t pairs;
    double (*noise)(void);
    double gain;   /* of the plugin: a logarithm */
    int ends[2];   /* exit status, with each setting */
    bool late;     /* rank 1 of 4 causes 90% of the waiting, else a random rank half of it */
    bool moved;    /* with the plugin barriers take 2 s less, and MPI_Allreduce takes 3 s more */
    uint32_t size; /* of the communicator */
    const char *busy;
};

static void write_run(const struct truth *truth, uint32_t pair, int setting, FILE *file)
{
    const double size = truth->size;
    const unsigned rank = truth->late ? 1 : (unsigned)(random_part() * size);

    fprintf(file, "run %u %s %u\nbatch program %.0f\nended program %d\nbatch mpi 8e9\n",
            truth->size, settings[setting], pair,
            1e10 * exp((truth->noise != NULL ? truth->noise() : 0) - (0 == setting) * truth->gain),
            truth->ends[setting]);
    if (truth->moved)
        fprintf(file, "barriers MPI_Allreduce - 0 1 100 %g nan 0 - 0 0 \n",
                0 == setting ? 0.5 : 0.125);
    fprintf(file, "barriers MPI_Barrier - %u 1 100 %g 0.25 %u host %g %g a+0x1\n", truth->size,
            truth->moved && 1 == setting ? 0.625 : 0.375, rank, truth->late ? 0.9 : 1 / size + 0.1,
            0.25 * (truth->late ? 0.9 : fmax(1 / size + 0.1, random_part())));
}

static void judge(const struct truth *truth, char *text, size_t size)
{
    struct perf_report report;
    char *records = NULL;
    size_t bytes;
    FILE *file = open_memstream(&records, &bytes);

    assert_non_null(file);
    fprintf(file, "base stock\n");
    for (uint32_t pair = 0; pair < truth->pairs; pair++)
        for (int i = 0; i < 2; i++)
            write_run(truth, pair, (int)(pair + (uint32_t)i) % 2, file);
    if (truth->busy != NULL)
        fprintf(file, "busy key %s\n", truth->busy);
    assert_int_equal(fclose(file), 0);
    file = fmemopen(records, bytes, "r");
    assert_non_null(file);
    assert_true(perf_report_read(&report, file));
    perf_verdict(&report, text, size);
    perf_report_free(&report);
    (void)fclose(file);
    free(records);
}

/* Of SETS sets of records, how many have a verdict with that text. */
static uint32_t count(const struct truth *truth, const char *text)
{
    uint32_t found = 0;
    char verdict[1024];

    for (int i = 0; i < SETS; i++) {
        judge(truth, verdict, sizeof verdict);
        found += strstr(verdict, text) != NULL;
    }
    return found;
}

static void assert_verdict(const struct truth *truth, const char *part, bool has)
{
    char verdict[1024];

    judge(truth, verdict, sizeof verdict);
    if ((strstr(verdict, part) != NULL) != has)
        fail_msg("%s: %s\n", has ? "lacks" : "has", verdict);
}

/* Settings that are equal differ in fewer than 3 of 100 verdicts, whatever the noise. */
TEST(test_equal_settings)
{
    static double (*const noises[])(void) = {even, rare, two_modes, bursts};

    for (size_t i = 0; i < sizeof noises / sizeof noises[0]; i++)
        for (uint32_t pairs = 5; pairs <= 20; pairs = 2 * pairs - 3)
            assert_true(count(&(struct truth){.pairs = pairs, .noise = noises[i], .size = 4},
                              "takes") < SETS * 3 / 100);
}

TEST(test_different_settings)
{
    struct truth truth = {.pairs = 5, .noise = even, .gain = 0.2, .size = 4};

    assert_true(count(&truth, "With plugin the program takes") > SETS * 95 / 100);
    assert_verdict(&truth, "% less time than with stock (", true);
    truth.gain = -0.2;
    assert_true(count(&truth, "% more time than with stock (") > SETS * 95 / 100);
}

TEST(test_few_runs_show_nothing)
{
    const struct truth truth = {.pairs = 4, .gain = 0.5, .size = 4, .late = true};

    assert_verdict(&truth, "Fewer than 5 runs show no difference", true);
    assert_verdict(&truth, "takes", false);
    assert_verdict(&truth, "balance rank", false);
}

/* The barriers take 0.125 of the time in MPI, which is 0.8 of the run. */
TEST(test_parts_of_the_run)
{
    assert_verdict(&(struct truth){.pairs = 5, .size = 4},
                   "Barriers cost 10% of the run with stock, late ranks 20%: the plugin can save "
                   "at most 10%.",
                   true);
}

TEST(test_moved_waiting)
{
    struct truth truth = {.pairs = 5, .size = 4, .moved = true};
    const char *words = "With plugin barriers take 2 s less than with stock, but MPI_Allreduce "
                        "takes 3 s more: the waiting has moved there.";

    assert_verdict(&truth, words, true);
    assert_verdict(&truth, "Barriers cost 30% of the run with stock, late ranks 20%", true);
    truth.moved = false;
    assert_verdict(&truth, "moved", false);
}

/* A rank is blamed if it is late in all runs, but not where any rank is. */
TEST(test_late_rank)
{
    assert_verdict(&(struct truth){.pairs = 5, .size = 4, .late = true}, "; balance rank 1.", true);
    for (uint32_t size = 2; size <= 32; size *= 4)
        assert_true(count(&(struct truth){.pairs = 5, .size = size}, "balance rank") <
                    SETS / 100 + 1);
}

TEST(test_busy_machine)
{
    const struct truth truth = {
        .pairs = 5, .gain = 0.2, .size = 4, .late = true, .busy = "others were runnable"};

    assert_verdict(&truth, "This machine was too busy to compare: others were runnable. Barriers ",
                   true);
    assert_verdict(&truth, "takes", false);
    assert_verdict(&truth, "can save", false);
    assert_verdict(&truth, "balance", false);
}

TEST(test_failed_runs)
{
    struct truth truth = {.pairs = 5, .gain = 0.2, .size = 4, .ends = {139, 0}};

    assert_verdict(&truth,
                   "The program ended differently: 5 of 5 failed with plugin (exit status 139), "
                   "0 of 5 failed with stock.",
                   true);
    assert_verdict(&truth, "takes", false);
    truth.ends[1] = 134;
    assert_verdict(&truth, "The program failed in all runs: ", true);
    assert_verdict(&truth, "takes", false);
    truth.ends[1] = 139;
    assert_verdict(&truth, "The program failed in all runs: ", true);
}

TEST_MAIN()

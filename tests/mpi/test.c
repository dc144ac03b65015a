/* SPDX-License-Identifier: BSD-3-Clause */
/* The programs' common part: life of a test, watchdog, randomness. */
#define _GNU_SOURCE
#include "tests/mpi/test.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gba/base/order.h"
#include "tests/mpi/proof.h"

#define EXIT_HANG 99

int test_rank, test_size;

static uint64_t seed_job;
static const char *program = "test";

/* What the watchdog's handler reads: a pointer, and a line's beginning made beforehand, since a
 * handler must not call printf. */
static gba_word_t step;
static char hang_line[128];

void test_step(const char *what)
{
    gba_word_store_relaxed(&step, (uint64_t)(uintptr_t)what);
}

/* One line in one write, or those of several ranks get mixed up. */
static void on_alarm(int signal_number)
{
    char line[256];
    size_t length = strlen(hang_line), more;
    const char *what = (const char *)(uintptr_t)gba_word_load_relaxed(&step);

    (void)signal_number;
    more = strlen(what);
    if (more > sizeof line - length - 1)
        more = sizeof line - length - 1;
    memcpy(line, hang_line, length);
    memcpy(line + length, what, more);
    line[length + more] = '\n';
    /* Nothing can be done about a failure to write. */
    if (write(STDERR_FILENO, line, length + more + 1) < 0)
        _exit(EXIT_HANG);
    _exit(EXIT_HANG);
}

static uint64_t environment_number(const char *name, uint64_t value_default)
{
    const char *text = getenv(name);

    return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 0) : value_default;
}

static void watchdog_start(void)
{
    struct sigaction action = {.sa_handler = on_alarm};
    unsigned seconds = (unsigned)environment_number("GBA_TEST_SECONDS", 60);

    snprintf(hang_line, sizeof hang_line, "FAIL %s: rank %d hangs (%u s): ", program, test_rank,
             seconds);
    sigaction(SIGALRM, &action, NULL);
    alarm(seconds);
}

void test_begin(int *argc, char ***argv, int thread_level)
{
    int provided;
    const char *slash = strrchr((*argv)[0], '/');

    program = slash != NULL ? slash + 1 : (*argv)[0];
    test_step("MPI_Init_thread");
    watchdog_start(); /* MPI_Init can hang, too */
    MPI_Init_thread(argc, argv, thread_level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &test_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &test_size);
    watchdog_start();
    TEST_CHECK(provided >= thread_level, "no thread level %d", thread_level);

    test_step("the exchange of the seed");
    seed_job = environment_number("GBA_TEST_SEED", (uint64_t)time(NULL));
    MPI_Bcast(&seed_job, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (test_rank == 0)
        printf("%s: %d ranks, seed %llu\n", program, test_size, (unsigned long long)seed_job);
    fflush(stdout);
    test_proof_init();
}

int test_end(void)
{
    if (test_rank == 0)
        printf("%s: right\n", program);
    fflush(stdout);
    test_step("MPI_Finalize");
    MPI_Finalize();
    return 0;
}

void test_fail(const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "FAIL %s: rank %d: %s\n", program, test_rank, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

long test_argument(int argc, char **argv, int index, long value_default)
{
    char *end;
    long value;

    if (index >= argc)
        return value_default;
    value = strtol(argv[index], &end, 0);
    TEST_CHECK(*end == '\0' && value >= 1, "argument %d is \"%s\", and should be a number from 1",
               index, argv[index]);
    return value;
}

uint64_t test_seed(uint64_t purpose)
{
    return seed_job * UINT64_C(1000003) + purpose;
}

/* Splitmix64, after Steele, Lea and Flood, "Fast splittable pseudorandom number generators". */
uint64_t test_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

void test_delay(uint64_t *state)
{
    uint64_t random = test_random(state);

    switch (random % 8) {
    case 0:
        usleep((useconds_t)(random >> 8) % 1000);
        break;
    case 1:
    case 2: /* some ten microseconds of work */
        for (uint64_t i = (random >> 8) % 20000; i > 0; i--)
            gba_fence_compiler();
        break;
    default: /* most of the time all come at once */
        break;
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gba/base/order.h"

uint64_t test_seed_job = 1;

/* Print the second comment of a source; the first one is the licence. */
static void help_print(FILE *source)
{
    char line[256];
    unsigned comments = 0;

    while (fgets(line, sizeof line, source) != NULL) {
        char *text = line, *end;

        if (0 == strncmp(line, "/*", 2) && ++comments > 2)
            return;
        if (comments < 2)
            continue;
        end = strstr(line, "*/");
        if (end != NULL)
            strcpy(end, "\n");
        text += strspn(text, " /*");
        if (0 != strcmp(line, "/*\n") && (end == NULL || '\n' != *text))
            fputs(text, stdout);
        if (end != NULL)
            return;
    }
}

/*
 * --help, before main, because programs read their arguments, print, or call MPI_Init first. glibc
 * passes the arguments of main.
 */
static void __attribute__((constructor)) help(int argc, char **argv)
{
    const char *name;
    char path[512];
    FILE *source;

    if (2 != argc || 0 != strcmp(argv[1], "--help"))
        return;
    name = strrchr(argv[0], '/') != NULL ? strrchr(argv[0], '/') + 1 : argv[0];
    snprintf(path, sizeof path, GBA_TEST_SOURCES "/%s/%s.c", test_directory, name);
    printf("%s: a test program; tests/%s/run starts it\n", name, test_directory);
    source = fopen(path, "r");
    if (source == NULL) {
        printf("its arguments are explained at the top of tests/%s/%s.c\n", test_directory, name);
    } else {
        help_print(source);
        fclose(source);
    }
    exit(0);
}

void test_fail(const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    test_abort(text);
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

uint64_t test_environment(const char *name, uint64_t value_default)
{
    const char *text = getenv(name);

    return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 0) : value_default;
}

uint64_t test_seed(uint64_t purpose)
{
    return test_seed_job * UINT64_C(1000003) + purpose;
}

/* Splitmix64, after Steele, Lea and Flood, "Fast splittable pseudorandom number generators". */
uint64_t test_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

void test_shuffle(int *order, int count, uint64_t *state)
{
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int other = (int)(test_random(state) % (uint64_t)(i + 1)), kept = order[i];

        order[i] = order[other];
        order[other] = kept;
    }
}

void test_file_make(const char *directory, const char *name, int number)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s-%d", directory, name, number);
    file = fopen(path, "w");
    TEST_CHECK(file != NULL, "cannot make %s", path);
    fclose(file);
}

void test_file_await(const char *directory, const char *name, int number)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s-%d", directory, name, number);
    while (access(path, F_OK) != 0)
        usleep(1000);
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
        for (uint64_t i = (random >> 8) % 300; i > 0; i--)
            gba_cpu_pause();
        break;
    default: /* most of the time all come at once */
        break;
    }
}

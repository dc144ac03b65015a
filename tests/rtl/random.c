/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inputs of a fuzzer for a design under test: those of the files, then random ones until that
 * many accesses were compared.
 *
 *   GBA_DUT=LIBRARY random ACCESSES SEED [FILE...]
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/rtl/lockstep.h"

#define INPUT_MAX 512 /* as contrib/fuzz has it */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t seed, inputs;

void lockstep_fail(const char *rule, const char *format, ...)
{
    va_list arguments;

    fprintf(stderr, "rule %s: ", rule);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, ", at access %llu of input %llu, seed %llu\n",
            (unsigned long long)lockstep_accesses, (unsigned long long)inputs,
            (unsigned long long)seed);
    exit(1);
}

static uint32_t next(void)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed >> 33);
}

int main(int argc, char **argv)
{
    uint8_t input[INPUT_MAX];
    unsigned long long accesses = argc > 2 ? strtoull(argv[1], NULL, 0) : 0;

    if (argc < 3 || getenv("GBA_DUT") == NULL) {
        fprintf(stderr, "usage: GBA_DUT=LIBRARY %s ACCESSES SEED [FILE...]\n", argv[0]);
        return 2;
    }
    for (int i = 3; i < argc; i++, inputs++) {
        FILE *file = fopen(argv[i], "rb");

        if (file == NULL)
            return 2;
        LLVMFuzzerTestOneInput(input, fread(input, 1, sizeof input, file));
        fclose(file);
    }
    seed = strtoull(argv[2], NULL, 0);
    for (; lockstep_accesses < accesses; inputs++) {
        size_t size = 1 + next() % INPUT_MAX;

        for (size_t i = 0; i < size; i++)
            input[i] = (uint8_t)next();
        LLVMFuzzerTestOneInput(input, size);
    }
    printf("%llu accesses of %llu inputs, no difference\n", (unsigned long long)lockstep_accesses,
           (unsigned long long)inputs);
    return 0;
}

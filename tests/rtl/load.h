/* SPDX-License-Identifier: BSD-3-Clause */
/* The design under test, which is a library. */
#ifndef TESTS_RTL_LOAD_H
#define TESTS_RTL_LOAD_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "gba/spec/gba_dut.h"

/* Load it. library: set. Ends the program with a line if there is none of this version. */
static inline const struct gba_dut *dut_load(const char *path, void **library)
{
    const struct gba_dut *(*table)(void);
    const struct gba_dut *dut;

    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*library == NULL) {
        fprintf(stderr, "GBA_DUT must name the library of a design: %s\n", dlerror());
        exit(2);
    }
    *(void **)&table = dlsym(*library, "gba_dut");
    if (table == NULL || (dut = table())->version != GBA_DUT_VERSION) {
        fprintf(stderr, "%s: no gba_dut() of version %u\n", path, GBA_DUT_VERSION);
        exit(2);
    }
    return dut;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A rule test of the model, for a design under test: a difference fails the test. */
#include "tests/rtl/lockstep.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

void lockstep_fail(const char *rule, const char *format, ...)
{
    char text[200];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fail_msg("rule %s: %s", rule, text);
    abort();
}

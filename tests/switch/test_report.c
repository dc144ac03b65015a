/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of reports of gba-switchd. The daemon does no other work during a report. */
#include "tests/switch/core_bench.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/switch/report.h"

/* The linker replaces fopen. */
static unsigned files;

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
    files++;
    return __real_fopen(path, mode);
}

/* A report reads the state of each process once, whatever the number of its members. */
static void test_files(void **state)
{
    enum { GROUPS = 4, SESSIONS = 3 };
    struct gba_switchd daemon = {.started = 0};
    char *(*const reports[])(struct gba_switchd_view *, size_t *) = {gba_switchd_report,
                                                                     gba_switchd_report_text};

    (void)state;
    bench_start(&bench_config);
    for (uint32_t i = 0; i < SESSIONS; i++)
        bench_attach(i, 0, 0);
    for (unsigned i = 0; i < GROUPS; i++)
        (void)bench_group(SESSIONS);
    bench_arrive(0, 0, 0, 1);
    daemon.device = bench.device;
    for (unsigned i = 0; i < 2; i++) {
        struct gba_switchd_view view = {.daemon = &daemon};
        size_t length;
        char *text;

        files = 0;
        text = reports[i](&view, &length);
        assert_non_null(text);
        assert_int_equal(strlen(text), length);
        assert_int_equal(files, SESSIONS);
        assert_non_null(strstr(text, i == 0 ? "\"missing\"" : "  member 1: "));
        free(text);
    }
    bench_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_files)};

    return cmocka_run_group_tests_name("switch: reports", tests, NULL, NULL);
}

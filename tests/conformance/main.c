/* SPDX-License-Identifier: BSD-3-Clause */
/* Run the suite on every backend. Prints one line for each test and backend. */
#include "tests/conformance/conformance.h"
#include "tests/unit/log_catch.h"

#define TESTS_MAX 64

static const struct conf_test *const suites[] = {conf_life_tests, conf_round_tests,
                                                 conf_register_tests};

/* The argument of a test: cmocka passes one pointer. */
struct run {
    struct conf conf;
    const struct conf_test *test;
};

static int open_device(void **state)
{
    struct run *run = *state;
    const struct conf_backend *backend = run->conf.backend;
    struct gba_dev_path path;
    char message[400];

    if (GBA_OK != gba_dev_path_parse(backend->path, &path, message, sizeof message))
        return -1;
    if (backend->start != NULL)
        backend->start();
    run->conf.ops = backend->ops;
    return GBA_OK == backend->ops->open(&path, NULL, &run->conf.dev) ? 0 : -1;
}

static void judge(void **state)
{
    struct run *run = *state;

    run->test->run(&run->conf);
    /* Every test frees its groups. */
    assert_int_equal(conf_info(&run->conf).groups_free, conf_info(&run->conf).groups);
    run->conf.ops->close(run->conf.dev);
    run->conf.dev = NULL;
    /* In parentheses, because cmocka 2 has a macro stop(). */
    if (run->conf.backend->stop != NULL)
        (run->conf.backend->stop)();
}

static int run_backend(const struct conf_backend *backend)
{
    static struct run run[TESTS_MAX];
    struct CMUnitTest tests[TESTS_MAX];
    size_t count = 0;

    memset(run, 0, sizeof run);
    memset(tests, 0, sizeof tests);
    for (size_t s = 0; s < sizeof suites / sizeof suites[0]; s++) {
        if (backend->no_registers && conf_register_tests == suites[s])
            continue;
        for (const struct conf_test *test = suites[s]; test->name != NULL; test++, count++) {
            if (TESTS_MAX == count)
                return 1;
            run[count].conf.backend = backend;
            run[count].test = test;
            tests[count].name = test->name;
            tests[count].test_func = judge;
            tests[count].setup_func = open_device;
            tests[count].initial_state = &run[count];
        }
    }
    return _cmocka_run_group_tests(backend->name, tests, count, NULL, NULL);
}

int main(void)
{
    int failed = 0, status = conf_prepare();

    if (0 != status)
        return status;
    gba_log_set(log_drop, NULL, GBA_LOG_WARN); /* the suite provokes refusals */
    for (size_t i = 0; conf_backends[i] != NULL; i++)
        failed += run_backend(conf_backends[i]);
    return 0 == failed ? 0 : 1;
}

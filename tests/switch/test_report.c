/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of reports of gba-switchd. The daemon does no other work during a report. */
#include "tests/switch/core_bench.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/switch/net/report.h"

/* The linker replaces fopen. */
static unsigned files;
static int fopen_error;         /* 0: none */
static const char *fopen_other; /* the file that is opened instead; NULL: none */

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
    files++;
    if (fopen_error != 0) {
        errno = fopen_error;
        return NULL;
    }
    return __real_fopen(fopen_other == NULL ? path : fopen_other, mode);
}

/* A report reads the state of each process once, whatever the number of its members. */
TEST(test_files)
{
    enum { GROUPS = 4, SESSIONS = 3 };
    struct gba_switchd daemon = {.started = 0};
    char *(*const reports[])(struct gba_switchd_view *, size_t *) = {gba_switchd_report,
                                                                     gba_switchd_report_text};

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
        assert_non_null(strstr(text, i == 0 ? "\"missing\"" : "  member 1 ("));
        free(text);
    }
    bench_end();
}

/* Check the state of the only port, whose connection that process made: NULL is unknown. */
static void expect_process(const char *kind, pid_t process, const char *state)
{
    struct gba_switch_identity identity = {.process = (uint32_t)process, .local = true};
    struct gba_switchd daemon = {.started = 0};
    struct gba_switchd_view view = {.daemon = &daemon};

    bench_start(&bench_config);
    snprintf(identity.kind, sizeof(identity.kind), "%s", kind);
    bench.port[0] = gba_switch_attach(bench.device, &bench_ops, &bench.session[0], &identity);
    assert_true(bench.port[0] >= 0);
    daemon.device = bench.device;
    files = 0;
    for (unsigned i = 0; i < 2; i++) {
        const char *found = gba_switchd_process(&view, (uint32_t)bench.port[0]);

        if (state == NULL)
            assert_null(found);
        else
            assert_string_equal(found == NULL ? "unknown" : found, state);
    }
    assert_true(files <= 1);
    bench_end();
}

/* The number of a process that has ended. */
static pid_t dead_process(void)
{
    pid_t child = fork();

    assert_return_code(child, errno);
    if (child == 0)
        _exit(0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    return child;
}

/* No process is gone because its state cannot be read: /proc may hide it, or the daemon may have no
 * descriptor left. */
TEST(test_unreadable)
{
    static const int errors[] = {EMFILE, EPERM, EACCES, ENOENT};
    const pid_t init = 1; /* of another user, unless the test runs as root */
    const pid_t dead = dead_process();

    expect_process("unix", getpid(), "running");
    expect_process("unix", dead, "gone");
    for (unsigned i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        fopen_error = errors[i];
        expect_process("unix", getpid(), NULL);
        expect_process("unix", init, NULL);
        expect_process("unix", dead, "gone");
    }
    fopen_error = 0;
    fopen_other = "/dev/null"; /* opens, but has no line */
    expect_process("unix", getpid(), NULL);
    expect_process("unix", dead, "gone");
    fopen_other = NULL;
}

/* A manager that made the connection of a virtual machine may hand it over and end, so its state
 * says nothing about the virtual machine. */
TEST(test_virtual_machine)
{
    expect_process("vfio-user", getpid(), NULL);
    expect_process("vfio-user", dead_process(), NULL);
}

TEST_MAIN()

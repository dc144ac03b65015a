/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gba_info with what a hostile process shows of itself: control characters for the terminal. A hang
 * ends by SIGALRM.
 */
#define _GNU_SOURCE /* mkstemp */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gba/base/mca_names.h"
#include "gba/base/site.h"
#include "gba/tools/info.h"
#include "tests/limit.h"
#include "tests/suite.h"

#define LIMIT 120 /* seconds, which only a hang reaches */

static char output[1 << 20];

/* Run a mode of gba_info, with its output in `output`. */
static void run(int (*mode)(void))
{
    FILE *file = tmpfile();
    const int saved = dup(STDOUT_FILENO);
    size_t len;

    assert_non_null(file);
    assert_true(saved >= 0);
    fflush(stdout);
    assert_true(dup2(fileno(file), STDOUT_FILENO) >= 0);
    (void)alarm(test_limit(LIMIT));
    (void)mode();
    (void)alarm(0);
    fflush(stdout);
    assert_true(dup2(saved, STDOUT_FILENO) >= 0);
    close(saved);
    rewind(file);
    len = fread(output, 1, sizeof output - 1, file);
    output[len] = '\0';
    fclose(file);
    for (size_t i = 0; i < len; i++)
        assert_true('\n' == output[i] || (output[i] >= 0x20 && output[i] < 0x7f));
}

/* gba_info --list does not show its own process, so a child has the device. Lines show "?" for
 * escape sequences and C1 controls, as bytes and in UTF-8; JSON shows escapes. */
TEST(controls_in_the_name_of_a_process)
{
    char path[64], byte;
    gba_device_t *device;
    int ready[2];
    pid_t child;

    snprintf(path, sizeof path, "sim:test-info-%d", (int)getpid());
    assert_int_equal(pipe(ready), 0);
    child = fork();
    assert_true(child >= 0);
    if (0 == child) {
        (void)alarm(test_limit(LIMIT));
        if (0 == prctl(PR_SET_NAME, "a\033[31m\233\302\233") &&
            GBA_OK == gba_device_init(path, NULL, &device) && 1 == write(ready[1], "", 1))
            for (;;)
                (void)pause();
        _exit(1);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    run(info_list);
    assert_non_null(strstr(output, path));
    assert_non_null(strstr(output, "(a?[31m?\?\?)"));
    report_json(); /* for good: no later test may look at lines */
    run(info_list);
    assert_non_null(strstr(output, "\"a\\u001b[31m\\u009b\\u009b\""));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* Comments and values that are longer than the buffers of all readers. */
#define TEN(text) text text text text text text text text text text
#define LONG      TEN(TEN("0123456789"))

static void name_seen(void *ctx, const char *line)
{
    (void)line;
    (*(unsigned *)ctx)++;
}

TEST(lines_of_any_length)
{
    static const char text[] =
        "# " LONG " gba = 1\nbtl = " LONG " gba = 2\ncoll_gba_barrier_wiat = 3\n";
    char path[] = "/tmp/gba-lines-XXXXXX";
    const int file = mkstemp(path);
    unsigned seen = 0;

    assert_true(file >= 0);
    assert_int_equal(write(file, text, sizeof text - 1), sizeof text - 1);
    close(file);
    gba_mca_names_check(path, name_seen, &seen);
    unlink(path);
    assert_int_equal(seen, 1);
}

/* gba-barrier.conf, and files that are not as it should be. */
TEST(the_choice_of_a_site)
{
    static const struct {
        const char *text;
        enum gba_site site;
        const char *why; /* behind the path */
    } files[] = {
        {"# comment\nactivate = yes\n", GBA_SITE_ACTIVE, NULL},
        {"activate = no\n", GBA_SITE_INACTIVE, ", line 1: activate is \"no\""},
        {" activate=no", GBA_SITE_INACTIVE, ", line 1: activate is \"no\""},
        {"\n activate = OFF \t# for now\n", GBA_SITE_INACTIVE, ", line 2: activate is \"OFF\""},
        {"# activate = no\n", GBA_SITE_ACTIVE, NULL},
        {"# " LONG "\nactivate = no\n", GBA_SITE_INACTIVE, ", line 2: activate is \"no\""},
        {"activate = no\nactivate = yes\n", GBA_SITE_ACTIVE, NULL},
        {"activate = maybe\n", GBA_SITE_INVALID,
         ", line 1: activate=maybe is invalid; allowed: yes, no"},
        {"# x\nactivte = no\n", GBA_SITE_INVALID,
         ", line 2: \"activte\" is no setting; \"activate = yes\" and \"activate = no\" are"},
        {"activate\n\n=", GBA_SITE_INVALID,
         ", line 1: \"activate\" is no setting; \"activate = yes\" and \"activate = no\" are"},
        {"= no\n", GBA_SITE_INVALID,
         ", line 1: \"\" is no setting; \"activate = yes\" and \"activate = no\" are"},
        {"", GBA_SITE_ACTIVE, NULL}};
    char why[GBA_SITE_WHY];

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[] = "/tmp/gba-site-XXXXXX";
        int file = mkstemp(path);

        assert_true(file >= 0);
        assert_int_equal(write(file, files[i].text, strlen(files[i].text)), strlen(files[i].text));
        close(file);
        assert_int_equal(gba_site_read(path, why), files[i].site);
        unlink(path);
        if (GBA_SITE_ACTIVE != files[i].site) {
            assert_memory_equal(why, path, strlen(path));
            assert_string_equal(why + strlen(path), files[i].why);
        }
    }
    assert_int_equal(gba_site_read("/no/such/file", why), GBA_SITE_ACTIVE);
    assert_int_equal(gba_site_read("/dev", why), GBA_SITE_INVALID);
    assert_string_equal(why, "cannot read /dev: Is a directory");
}

TEST_MAIN()

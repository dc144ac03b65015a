/* SPDX-License-Identifier: BSD-3-Clause */
/* Floor 1: status names and texts, the version, the log. */
#include <unistd.h>

#include "gba/base/log.h"
#include "tests/suite.h"
#include "tests/unit/log_catch.h"

TEST(every_status_has_a_name_and_a_text)
{
    for (int a = GBA_STATUS_LAST; a <= GBA_UNFINISHED; a++) {
        const char *name = gba_status_name((gba_status_t)a);

        if (-21 == a) /* not used any more */
            continue;
        assert_int_equal(strncmp(name, "GBA_", 4), 0);
        assert_true(strlen(gba_status_text((gba_status_t)a)) > 5);
        assert_string_not_equal(name, "GBA_ERR_UNKNOWN");
        for (int b = GBA_STATUS_LAST; b < a; b++) {
            assert_string_not_equal(name, gba_status_name((gba_status_t)b));
            assert_string_not_equal(gba_status_text((gba_status_t)a),
                                    gba_status_text((gba_status_t)b));
        }
    }
    assert_string_equal(gba_status_name(GBA_OK), "GBA_OK");
    assert_string_equal(gba_status_name(GBA_INPROGRESS), "GBA_INPROGRESS");
    assert_string_equal(gba_status_name(GBA_ERR_NO_GROUP), "GBA_ERR_NO_GROUP");
    assert_string_equal(gba_status_text(GBA_ERR_NO_GROUP), "no barrier group is free");
    assert_string_equal(gba_status_name(GBA_ERR_TIMEOUT), "GBA_ERR_TIMEOUT");
}

TEST(numbers_that_are_no_status)
{
    static const int numbers[] = {4, 1000, -21, GBA_STATUS_LAST - 1, INT32_MIN, INT32_MAX};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        assert_string_equal(gba_status_name((gba_status_t)numbers[i]), "GBA_ERR_UNKNOWN");
        assert_string_equal(gba_status_text((gba_status_t)numbers[i]), "unknown status");
    }
}

/* These numbers travel between processes that may have other versions of the library. */
TEST(statuses_are_never_renumbered)
{
    assert_int_equal(GBA_OK, 0);
    assert_int_equal(GBA_INPROGRESS, 1);
    assert_int_equal(GBA_UNFINISHED, 2);
    assert_int_equal(GBA_ERR_PARAM, -1);
    assert_int_equal(GBA_ERR_NO_GROUP, -7);
    assert_int_equal(GBA_ERR_DEAD, -13);
    assert_int_equal(GBA_ERR_TIMEOUT, -19);
    assert_int_equal(GBA_ERR_LIMIT, -20);
    assert_int_equal(GBA_ERR_DEFERRED, -22);
}

TEST(the_version)
{
    char text[32];

    snprintf(text, sizeof text, "%d.%d.%d", GBA_VERSION_MAJOR, GBA_VERSION_MINOR,
             GBA_VERSION_PATCH);
    assert_string_equal(gba_version(), text);
}

static int log_restore(void **state)
{
    (void)state;
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
    return 0;
}

static int evaluated;

static int evaluate(void)
{
    return ++evaluated;
}

TEST_WITH(lines_above_the_level_are_dropped, NULL, log_restore, NULL)
{
    gba_log_set(log_catch, NULL, GBA_LOG_WARN);
    log_forget();
    gba_log(GBA_LOG_WARN, "%s %d", "seven", 7);
    assert_logged("seven 7");
    evaluated = 0;
    gba_log(GBA_LOG_INFO, "%d", evaluate());
    assert_silent();
    assert_int_equal(evaluated, 0); /* the arguments of a dropped line are not evaluated */
    gba_log_set(log_catch, NULL, GBA_LOG_DEBUG);
    gba_log(GBA_LOG_DEBUG, "%d", evaluate());
    assert_logged("1");
    gba_log_set(log_catch, NULL, GBA_LOG_ERROR);
    gba_log(GBA_LOG_WARN, "x");
    assert_silent();
}

struct seen {
    gba_log_level_t level;
    char line[2048];
};

static void see(void *ctx, gba_log_level_t level, const char *line)
{
    struct seen *seen = ctx;

    seen->level = level;
    snprintf(seen->line, sizeof seen->line, "%s", line);
}

TEST_WITH(the_callback_gets_context_and_level, NULL, log_restore, NULL)
{
    static char text[1000];
    struct seen seen = {GBA_LOG_DEBUG, ""};

    memset(text, 'a', sizeof text - 1);
    gba_log_set(see, &seen, GBA_LOG_WARN);
    gba_log(GBA_LOG_ERROR, "no %s", "group");
    assert_int_equal(seen.level, GBA_LOG_ERROR);
    assert_string_equal(seen.line, "no group");
    gba_log(GBA_LOG_WARN, "%s", text); /* longer than a line: cut */
    assert_true(strlen(seen.line) > 400);
    assert_int_equal(strspn(seen.line, "a"), strlen(seen.line));
}

/* Without a callback: one line on standard error, with the name of the library. */
TEST_WITH(the_log_goes_to_stderr, NULL, log_restore, NULL)
{
    char text[100] = "";
    int ends[2], fallback = dup(STDERR_FILENO);
    ssize_t got;

    assert_true(fallback >= 0);
    assert_int_equal(pipe(ends), 0);
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
    dup2(ends[1], STDERR_FILENO);
    gba_log(GBA_LOG_ERROR, "%s", "as it is: %d");
    dup2(fallback, STDERR_FILENO);
    close(ends[1]);
    close(fallback);
    got = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    assert_true(got > 0);
    assert_string_equal(text, "gba: as it is: %d\n");
}

TEST_MAIN()

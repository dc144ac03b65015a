/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes that count as one host: children in their own namespaces report what they read. The
 * test process itself never reads its host, because each process reads it once.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gba/base/host.h"
#include "gba/agree/info.h"
#include "tests/suite.h"
#include "tests/unit/log_catch.h"

#define CALLS 100 /* as many communicators of one process call it */

struct answer {
    bool refused;              /* this system does not permit the child's namespaces */
    gba_status_t status, sent; /* sent: to the other members of a team */
    struct gba_host host;
    unsigned lines;
    char line[256];
};

static void ask(struct answer *answer)
{
    gba_params_t params;
    const gba_team_attr_t attr = {.params = &params};
    struct gba_own own = {.attr = &attr, .rank = 1};
    struct gba_info info = {.size = 2};
    uint64_t words[GBA_FACTS];

    gba_log_set(log_catch, NULL, GBA_LOG_WARN);
    log_forget();
    gba_params_default(&params);
    for (int i = 0; i < CALLS; i++)
        answer->status = gba_host_get(&answer->host);
    gba_info_fill(words, &own);
    gba_info_read(&info, words);
    answer->sent = info.memory.reason;
    answer->lines = log_lines;
    snprintf(answer->line, sizeof answer->line, "%.255s", log_last);
}

static void as_it_is(struct answer *answer)
{
    ask(answer);
}

/* The same user ID inside as outside, so nothing but the namespace differs. */
static bool user_map(uid_t user)
{
    FILE *map = fopen("/proc/self/uid_map", "w");
    bool written;

    if (map == NULL)
        return false;
    written = fprintf(map, "%u %u 1\n", (unsigned)user, (unsigned)user) > 0;
    return 0 == fclose(map) && written;
}

static void in_user_namespace(struct answer *answer)
{
    uid_t user = geteuid();

    answer->refused = 0 != unshare(CLONE_NEWUSER) || !user_map(user);
    if (!answer->refused)
        ask(answer);
}

/* /proc without a readable boot ID, as in some sandboxes. */
static void without_boot_id(struct answer *answer)
{
    answer->refused =
        0 != unshare(CLONE_NEWUSER | CLONE_NEWNS) ||
        0 != mount("/dev/null", "/proc/sys/kernel/random/boot_id", NULL, MS_BIND, NULL);
    if (!answer->refused)
        ask(answer);
}

/* The process may open no more files. */
static void without_files(struct answer *answer)
{
    const struct rlimit none = {0, 0};

    if (0 != setrlimit(RLIMIT_NOFILE, &none))
        abort();
    ask(answer);
}

static struct answer child_answer(void (*run)(struct answer *answer));

/* unshare moves only the next child into the new PID namespace. */
static void with_outer_proc(struct answer *answer)
{
    answer->refused = 0 != unshare(CLONE_NEWUSER | CLONE_NEWPID);
    if (!answer->refused)
        *answer = child_answer(as_it_is);
}

static struct answer child_answer(void (*run)(struct answer *answer))
{
    struct answer answer;
    int ends[2], status;
    pid_t child;

    memset(&answer, 0, sizeof answer);
    if (0 != pipe(ends))
        abort();
    child = fork();
    if (child < 0)
        abort();
    if (0 == child) {
        run(&answer);
        _exit(sizeof answer == write(ends[1], &answer, sizeof answer) ? 0 : 1);
    }
    if (sizeof answer != read(ends[0], &answer, sizeof answer) ||
        child != waitpid(child, &status, 0) || 0 != status)
        abort();
    close(ends[0]);
    close(ends[1]);
    return answer;
}

static bool same_host(const struct answer *a, const struct answer *b)
{
    return 0 == memcmp(&a->host, &b->host, sizeof a->host);
}

TEST(processes_of_one_user_are_one_host)
{
    struct answer a = child_answer(as_it_is), b = child_answer(as_it_is);

    assert_int_equal(a.status, GBA_OK);
    assert_int_equal(b.status, GBA_OK);
    assert_int_equal(a.lines, 0);
    assert_true(same_host(&a, &b));
}

TEST(a_user_namespace_is_another_host)
{
    struct answer outside = child_answer(as_it_is), a = child_answer(in_user_namespace),
                  b = child_answer(in_user_namespace);

    if (a.refused || b.refused)
        skip();
    assert_int_equal(a.status, GBA_OK);
    assert_int_equal(b.status, GBA_OK);
    assert_false(same_host(&outside, &a));
    /* The children live one after the other, so b may have the number of a's namespace. */
    assert_false(same_host(&outside, &b));
}

/* A failure is logged once, and is sent as the reason, so all members have it. */
TEST(failures)
{
    static const struct {
        void (*run)(struct answer *answer);
        gba_status_t status;
        const char *line; /* NULL: none */
    } rows[] = {{as_it_is, GBA_OK, NULL},
                {without_files, GBA_ERR_NO_FILES, ""},
                {without_boot_id, GBA_ERR_IO, "boot_id"},
                {with_outer_proc, GBA_ERR_IO, "another PID namespace"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct answer a = child_answer(rows[i].run);

        if (a.refused)
            continue;
        assert_int_equal(a.status, rows[i].status);
        assert_int_equal(a.sent, rows[i].status);
        assert_int_equal(a.lines, rows[i].line != NULL);
        assert_true(rows[i].line == NULL || strstr(a.line, rows[i].line) != NULL);
    }
}

TEST_MAIN()

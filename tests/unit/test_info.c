/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gba_info with what a hostile process shows of itself: files named like those of gba_info --why,
 * and control characters for the terminal. A hang ends by SIGALRM.
 */
#define _GNU_SOURCE /* memfd_create */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gba/base/site.h"
#include "gba/base/why.h"
#include "gba/tools/info.h"
#include "tests/limit.h"
#include "tests/suite.h"

#define LIMIT 120 /* seconds, which only a hang reaches */

static int disguised = -1; /* this descriptor appears as a file of texts */
static char output[1 << 20];

ssize_t __real_readlinkat(int dir, const char *path, char *link, size_t len);
ssize_t __wrap_readlinkat(int dir, const char *path, char *link, size_t len);

ssize_t __wrap_readlinkat(int dir, const char *path, char *link, size_t len)
{
    char number[16], name[GBA_WHY_NAME_MAX], own[64];
    const ssize_t done = __real_readlinkat(dir, path, link, len);
    struct stat ours, theirs;

    snprintf(number, sizeof number, "%d", disguised);
    if (disguised < 0 || 0 != strcmp(path, number) || 0 != fstat(disguised, &ours) ||
        0 != fstatat(dir, path, &theirs, 0) || ours.st_dev != theirs.st_dev ||
        ours.st_ino != theirs.st_ino)
        return done;
    gba_why_name((int32_t)getpid(), name);
    snprintf(own, sizeof own, "/memfd:%s (deleted)", name);
    assert_true(strlen(own) <= len);
    for (size_t i = 0; i < strlen(own); i++) /* not terminated */
        link[i] = own[i];
    return (ssize_t)strlen(own);
}

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

/* Whether the output has this text of this process, or any if it is "". */
static bool shows(const char *text)
{
    char line[GBA_WHY_BYTES + 64];

    snprintf(line, sizeof line, "process %d: %s", (int)getpid(), text);
    return strstr(output, line) != NULL;
}

static int file_make(void)
{
    char name[GBA_WHY_NAME_MAX];
    int file;

    gba_why_name((int32_t)getpid(), name);
    file = memfd_create(name, MFD_CLOEXEC);
    assert_true(file >= 0);
    return file;
}

static void text_put(int file, unsigned slot, const char *text)
{
    char bytes[GBA_WHY_BYTES] = "";

    snprintf(bytes, sizeof bytes, "%s", text);
    assert_int_equal(pwrite(file, bytes, sizeof bytes, (off_t)slot * GBA_WHY_BYTES), sizeof bytes);
}

TEST(texts)
{
    const int file = file_make();

    text_put(file, 0, "one");
    text_put(file, 2, "three");
    run(info_why);
    assert_true(shows("one\n"));
    assert_true(shows("three\n"));
    close(file);
    run(info_why);
    assert_false(shows(""));
}

/* A file whose size would take years to read. */
TEST(a_huge_file)
{
    const int file = file_make();

    text_put(file, GBA_WHY_SLOTS - 1, "the last one");
    text_put(file, GBA_WHY_SLOTS, "too far");
    assert_int_equal(ftruncate(file, (off_t)1 << (8 * sizeof(off_t) - 2)), 0);
    run(info_why);
    assert_true(shows("the last one\n"));
    assert_false(shows("too far"));
    close(file);
}

/* All files of a process together have that many slots. */
TEST(many_files)
{
    const int first = file_make(), second = dup(first);

    assert_int_equal(ftruncate(first, (off_t)GBA_WHY_SLOTS * GBA_WHY_BYTES), 0);
    text_put(first, GBA_WHY_SLOTS - 1, "once");
    run(info_why);
    assert_true(shows("once\n"));
    assert_null(strstr(strstr(output, "once\n") + 1, "once\n"));
    close(first);
    close(second);
}

/* Its open would wait for a writer. (That of a pipe without a name would not.) */
TEST(a_fifo)
{
    char dir[] = "/tmp/gba-test-info-XXXXXX", path[64];

    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/fifo", dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    disguised = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0);
    assert_true(disguised >= 0);
    run(info_why);
    assert_false(shows(""));
    close(disguised);
    disguised = -1;
}

TEST(the_file_of_another_user)
{
    const int file = file_make();

    text_put(file, 0, "not mine");
    if (0 != fchown(file, geteuid() + 1, (gid_t)-1)) { /* only root can */
        close(file);
        skip();
    }
    run(info_why);
    assert_false(shows(""));
    close(file);
}

/* Escape sequences, C1 controls as bytes and in UTF-8, and DEL. */
TEST(controls_in_a_text)
{
    const int file = file_make();

    text_put(file, 0, "a\033[31mb\233c\302\233d\177e");
    run(info_why);
    assert_true(shows("a?[31mb?c?\?d?e\n"));
    close(file);
}

/* gba_info --list does not show its own process, so a child has the device. */
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
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_non_null(strstr(output, path));
    assert_non_null(strstr(output, "(a?[31m?\?\?)"));
}

/* The last test, because JSON remains chosen. */
TEST(controls_in_json)
{
    const int file = file_make();

    text_put(file, 0, "a\033\233\"b");
    report_json();
    run(info_why);
    assert_non_null(strstr(output, "\"a\\u001b\\u009b\\\"b\""));
    close(file);
}

/* gba-barrier.conf, and files that are not as it should be. */
TEST(the_choice_of_a_site)
{
    static const struct {
        const char *text;
        bool disabled;
    } files[] = {{"# comment\nactivate = yes\n", false},
                 {"activate = no\n", true},
                 {" activate=no", true},
                 {"activate = no # for now\n", true},
                 {"# activate = no\n", false},
                 {"activate = nothing\n", false},
                 {"activate = no\nactivate = yes\n", false},
                 {"activate\n\n=", false},
                 {"", false}};

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[] = "/tmp/gba-site-XXXXXX";
        int file = mkstemp(path);

        assert_true(file >= 0);
        assert_int_equal(write(file, files[i].text, strlen(files[i].text)), strlen(files[i].text));
        close(file);
        assert_int_equal(gba_site_disabled(path), files[i].disabled);
        unlink(path);
    }
    assert_false(gba_site_disabled("/no/such/file"));
}

TEST_MAIN()

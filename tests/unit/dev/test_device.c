/* SPDX-License-Identifier: BSD-3-Clause */
/* The queries of a plugin about a device for its messages: advice, and whether the device is
 * usable. */
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gba/gba.h"
#include "tests/suite.h"
#include "tests/unit/base/file_limit.h"
#include "tests/unit/log_catch.h"

#define NOBODY 65534 /* root can read and write every file, so the child changes its user */

static char directory[] = "/tmp/gba-test-device-XXXXXX";
static char path[64];

static int setup(void **state)
{
    (void)state;
    gba_log_set(log_drop, NULL, GBA_LOG_WARN);
    if (mkdtemp(directory) == NULL || 0 != chmod(directory, 0755))
        return 1;
    snprintf(path, sizeof path, "%s/gba0", directory);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(directory);
}

static void file_make(mode_t mode)
{
    FILE *file;

    (void)unlink(path);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

/* As a user without privileges. */
static void assert_advice(gba_status_t status, const char *expected)
{
    char text[160] = "";
    int ends[2], result;
    ssize_t len;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (0 == child) {
        if (0 == geteuid() &&
            (0 != setgroups(0, NULL) || 0 != setgid(NOBODY) || 0 != setuid(NOBODY)))
            _exit(1);
        gba_device_advice(path, status, text, sizeof text);
        _exit(sizeof text == write(ends[1], text, sizeof text) ? 0 : 1);
    }
    len = read(ends[0], text, sizeof text);
    assert_int_equal(waitpid(child, &result, 0), child);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(result, 0);
    assert_int_equal(len, sizeof text);
    if (0 != strncmp(text, expected, strlen(expected)) || ('\0' == *expected && '\0' != *text))
        fail_msg("\"%s\" does not begin with \"%s\"", text, expected);
}

TEST(advice_about_permissions)
{
    const struct group *group;
    char expected[96];
    struct stat file;

    file_make(0600);
    if (0 != geteuid())
        assert_int_equal(chmod(path, 0), 0); /* a file of this user with mode 0600 is usable */
    assert_advice(GBA_ERR_PERM, "Set its group to gba and its mode (now 0");
    file_make(0666);
    assert_advice(GBA_ERR_PERM, "Allow the device in the rules of the container or cgroup");
    file_make(0060);
    if (0 == geteuid())
        assert_int_equal(chown(path, 0, 1), 0);
    assert_int_equal(stat(path, &file), 0);
    group = getgrgid(file.st_gid);
    if (group == NULL) {
        skip();
        return; /* the analyzer does not know that skip does not return */
    }
    snprintf(expected, sizeof expected, "Add the user to group %.32s, or see gba_info(1), \"Perm",
             group->gr_name);
    assert_advice(GBA_ERR_PERM, expected);
}

TEST(advice_about_files)
{
    file_make(0600);
    assert_advice(GBA_ERR_NOT_GBA, "Set device_path to the file of a GBA");
    assert_advice(GBA_ERR_VERSION, "Install the driver and libgba of the same release");
    assert_advice(GBA_ERR_NO_DEVICE, "Load the GBA driver, or remove the file");
    assert_advice(GBA_ERR_NOMEM, "");
    assert_int_equal(unlink(path), 0);
    assert_advice(GBA_ERR_NO_DEVICE, "");
}

TEST(no_advice_about_a_simulator)
{
    char text[8] = "before";

    gba_device_advice("sim", GBA_ERR_PERM, text, sizeof text);
    assert_string_equal(text, "");
}

TEST(a_device_is_usable_by_the_job_that_holds_a_group)
{
    const gba_device_attr_t attrs[] = {{.job = "one"}, {.job = "two"}};
    gba_group_handle_t handle;
    gba_device_t *devices[2];
    char name[64];

    snprintf(name, sizeof name, "sim:device%ld?groups=1", (long)getpid());
    for (int i = 0; i < 2; i++)
        assert_int_equal(gba_device_init(name, &attrs[i], &devices[i]), GBA_OK);
    assert_false(gba_device_served_here(devices[0]));
    assert_true(gba_device_usable(devices[0]));
    assert_true(gba_device_usable(devices[1]));
    assert_int_equal(gba_allocate_group(devices[0], 2, &handle),
                     GBA_OK); /* a query allocated no group */
    assert_true(gba_device_usable(devices[0]));
    assert_false(gba_device_usable(devices[1]));
    gba_free_handle(devices[0], &handle);
    assert_true(gba_device_usable(devices[1]));
    for (int i = 0; i < 2; i++)
        gba_device_fini(devices[i]);
}

static gba_status_t list_devices(void *list)
{
    size_t count;

    return gba_device_list(list, &count);
}

/* Each file that the list needs is refused in turn: a list that is not complete is no list. */
TEST(a_list_of_devices_without_files)
{
    gba_device_found_t *list;

    assert_true(files_until(list_devices, &list) > 2); /* /proc, and the files of a process */
    gba_log_set(log_drop, NULL, GBA_LOG_WARN);
    free(list);
}

int main(void)
{
    return SUITE_RUN(setup, teardown);
}

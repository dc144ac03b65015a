/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes that share a simulator, those that must not, and the end of the simulator.
 */
#define _GNU_SOURCE /* memfd_create, seals, unshare */
#include "tests/limit.h"
#include "tests/unit/file_limit.h"
#include "tests/unit/log_catch.h"
#include "tests/unit/sim_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

DIR *__real_opendir(const char *name);
DIR *__wrap_opendir(const char *name);

static unsigned searches; /* of /proc */

DIR *__wrap_opendir(const char *name)
{
    searches += 0 == strcmp(name, "/proc");
    return __real_opendir(name);
}

/* Many processes open a simulator that does not exist yet: all get the same one. */
TEST(test_open_at_once)
{
    enum { OPENERS = 12 };
    struct opened {
        gba_word_t go, ready;
        uint8_t uuid[OPENERS][GBA_UUID_SIZE];
    } *shared = sim_shared(sizeof *shared);

    for (int round = 0; round < 10; round++) {
        struct gba_dev_path path = sim_path();
        pid_t child[OPENERS];

        memset(shared, 0, sizeof *shared);
        for (int i = 0; i < OPENERS; i++) {
            child[i] = sim_fork();
            if (0 != child[i])
                continue;
            while (0 == gba_word_load_relaxed(&shared->go))
                sched_yield();
            struct gba_dev *dev = sim_open(&path);

            CHECK(dev != NULL);
            memcpy(shared->uuid[i], sim_info(dev).uuid, GBA_UUID_SIZE);
            gba_word_add_relaxed(&shared->ready, 1);
            while (OPENERS != gba_word_load_relaxed(&shared->ready))
                sched_yield(); /* so that it exists until the last process has found it */
            _exit(0);
        }
        gba_word_store_relaxed(&shared->go, 1);
        for (int i = 0; i < OPENERS; i++)
            assert_true(sim_child_ok(child[i]));
        for (int i = 1; i < OPENERS; i++)
            assert_memory_equal(shared->uuid[0], shared->uuid[i], GBA_UUID_SIZE);
    }
    munmap(shared, sizeof *shared);
}

static void uuid_get(const struct gba_dev_path *path, const char *job, uint8_t uuid[GBA_UUID_SIZE],
                     struct gba_dev **dev)
{
    const gba_device_attr_t attr = {.job = job};

    assert_int_equal(gba_dev_sim.open(path, &attr, dev), GBA_OK);
    memcpy(uuid, sim_info(*dev).uuid, GBA_UUID_SIZE);
}

/* Processes of the same job or with the same name share a simulator; all others do not. */
TEST(test_sharing)
{
    struct gba_dev_path job = {.kind = GBA_DEV_SIM}, name = sim_path();
    char longer[512], longer2[512];
    uint8_t uuid[8][GBA_UUID_SIZE];
    struct gba_dev *dev[8];

    memset(longer, '/', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    memcpy(longer2, longer, sizeof longer2);
    longer2[sizeof longer2 - 2] = '\n';
    uuid_get(&job, longer, uuid[0], &dev[0]);
    uuid_get(&job, longer, uuid[1], &dev[1]);
    uuid_get(&job, longer2, uuid[2], &dev[2]);
    uuid_get(&job, NULL, uuid[3], &dev[3]);
    uuid_get(&job, NULL, uuid[4], &dev[4]);
    uuid_get(&name, longer, uuid[5], &dev[5]);
    uuid_get(&name, NULL, uuid[6], &dev[6]);
    uuid_get(&job, name.name, uuid[7], &dev[7]);
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < i; j++) {
            bool same = (0 == j && 1 == i) || (5 == j && 6 == i);

            assert_int_equal(0 == memcmp(uuid[i], uuid[j], GBA_UUID_SIZE), same);
        }
    }
    for (int i = 0; i < 8; i++)
        gba_dev_sim.close(dev[i]);
}

/* A process that can open no more files cannot look for the simulator, and makes no second one. */
TEST(test_too_many_open_files)
{
    struct gba_dev_path path = sim_path();
    struct gba_dev *first, *second;
    unsigned files = 0;
    gba_status_t status;

    assert_int_equal(gba_dev_sim.open(&path, NULL, &first), GBA_OK);
    gba_log_set(log_catch, NULL, GBA_LOG_WARN);
    do {
        log_forget();
        files_limit(files++);
        status = gba_dev_sim.open(&path, NULL, &second);
        files_unlimit();
        if (GBA_OK == status)
            continue;
        assert_int_equal(status, GBA_ERR_NO_FILES);
        assert_logged("Too many open files");
    } while (GBA_OK != status);
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
    assert_true(files > 4); /* the lock, /proc, the files of a process, and that of the simulator */
    assert_false(sim_info(second).created);
    gba_dev_sim.close(second);
    gba_dev_sim.close(first);
}

static gba_status_t take_none(void *ctx, int file)
{
    (void)file;
    ++*(int *)ctx;
    return GBA_INPROGRESS;
}

static int files_of(const struct gba_dev_path *path)
{
    char id[GBA_SIM_ID_MAX];
    int found = 0;

    assert_int_equal(gba_sim_id(id, path->name, NULL), GBA_OK);
    assert_int_equal(gba_sim_find(id, GBA_SIM_ALL, take_none, &found), GBA_INPROGRESS);
    return found;
}

/* All processes are killed at once: no memfd and no file are left, and the next process gets a new
 * device. */
TEST(test_nothing_left)
{
    struct gba_dev_path path = sim_path();
    uint8_t *shared = sim_shared(4096), uuid[GBA_UUID_SIZE];
    gba_word_t *ready = (gba_word_t *)shared;
    struct gba_dev *dev;
    struct dirent *entry;
    pid_t child[4];
    DIR *shm;

    for (int i = 0; i < 4; i++) {
        child[i] = sim_fork();
        if (0 != child[i])
            continue;
        dev = sim_open(&path);
        CHECK(dev != NULL);
        memcpy(shared + 64, sim_info(dev).uuid, GBA_UUID_SIZE);
        gba_word_add_relaxed(ready, 1);
        for (;;)
            pause();
    }
    while (4 != gba_word_load_relaxed(ready))
        sched_yield();
    assert_int_equal(files_of(&path), 4);
    for (int i = 0; i < 4; i++)
        kill(child[i], SIGKILL);
    for (int i = 0; i < 4; i++)
        waitpid(child[i], NULL, 0);
    assert_int_equal(files_of(&path), 0);
    shm = opendir("/dev/shm");
    while (shm != NULL && (entry = readdir(shm)) != NULL)
        assert_null(strstr(entry->d_name, path.name));
    if (shm != NULL)
        closedir(shm);
    uuid_get(&path, NULL, uuid, &dev);
    assert_memory_not_equal(uuid, shared + 64, GBA_UUID_SIZE);
    gba_dev_sim.close(dev);
    assert_int_equal(files_of(&path), 0);
    munmap(shared, 4096);
}

/* One process at a time has the right to make a simulator, and the right is free as soon as that
 * process is dead. */
TEST(test_maker_lock)
{
    char id[GBA_SIM_ID_MAX];
    gba_word_t *ready = sim_shared(4096);
    struct gba_dev_path path = sim_path();
    pid_t child;
    int lock;

    assert_int_equal(gba_sim_id(id, path.name, NULL), GBA_OK);
    child = sim_fork();
    if (0 == child) {
        CHECK(gba_sim_maker_lock(id) >= 0);
        gba_word_store_release(ready, 1);
        for (;;)
            pause();
    }
    while (0 == gba_word_load_acquire(ready))
        sched_yield();
    assert_int_equal(gba_sim_maker_lock(id), -1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    lock = gba_sim_maker_lock(id);
    assert_true(lock >= 0);
    close(lock);
    munmap(ready, 4096);
}

/* Searches of all processes cost milliseconds: a process that makes a simulator searches once, and
 * so does one that attaches. */
TEST(test_one_search)
{
    struct gba_dev_path path = sim_path();
    struct gba_dev *first, *second;

    searches = 0;
    first = sim_open(&path);
    assert_non_null(first);
    assert_int_equal(searches, 1);
    second = sim_open(&path);
    assert_non_null(second);
    assert_int_equal(searches, 2);
    gba_dev_sim.close(second);
    gba_dev_sim.close(first);
}

/* The holder of the lock makes no simulator: the existing simulator is found nevertheless. */
TEST(test_held_lock)
{
    struct gba_dev_path path = sim_path();
    struct gba_dev *first = sim_open(&path), *second;
    char id[GBA_SIM_ID_MAX];
    int lock;

    assert_non_null(first);
    assert_int_equal(gba_sim_id(id, path.name, NULL), GBA_OK);
    lock = gba_sim_maker_lock(id);
    assert_true(lock >= 0);
    second = sim_open(&path);
    assert_non_null(second);
    assert_memory_equal(sim_info(first).uuid, sim_info(second).uuid, GBA_UUID_SIZE);
    close(lock);
    gba_dev_sim.close(second);
    gba_dev_sim.close(first);
}

/* Files with the right name that are not safe are skipped, or refused. */
TEST(test_foreign_file)
{
    static const struct {
        uid_t owner; /* another one: only root can make such a file */
        mode_t mode;
        int seals;
        gba_status_t status; /* of an open while such a file exists */
    } files[] = {
        {0, 0600, 0, GBA_OK},
        {0, 0666, F_SEAL_SHRINK | F_SEAL_GROW, GBA_OK},
        {0, 0600, F_SEAL_SHRINK | F_SEAL_GROW, GBA_ERR_VERSION},
        {65534, 0600, F_SEAL_SHRINK | F_SEAL_GROW, GBA_OK},
    };

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct gba_dev_path path = sim_path();
        struct gba_sim_header header = {.layout = GBA_SIM_LAYOUT + 1,
                                        .size = sizeof(struct gba_sim_segment)};
        char id[GBA_SIM_ID_MAX], name[GBA_SIM_ID_MAX + 16];
        struct gba_dev *dev;
        int file;

        gba_word_store_relaxed(&header.magic, GBA_SIM_MAGIC);
        if (0 != files[i].owner && 0 != geteuid())
            continue;
        assert_int_equal(gba_sim_id(id, path.name, NULL), GBA_OK);
        snprintf(name, sizeof name, GBA_SIM_FILE_NAME, id);
        file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
        assert_true(file >= 0);
        assert_int_equal(fchmod(file, files[i].mode), 0);
        if (0 != files[i].owner)
            assert_int_equal(fchown(file, files[i].owner, (gid_t)-1), 0);
        assert_int_equal(write(file, &header, sizeof header), sizeof header);
        assert_int_equal(ftruncate(file, sizeof(struct gba_sim_segment)), 0);
        assert_int_equal(fcntl(file, F_ADD_SEALS, files[i].seals), 0);
        assert_int_equal(gba_dev_sim.open(&path, NULL, &dev), files[i].status);
        if (GBA_OK == files[i].status)
            gba_dev_sim.close(dev);
        close(file);
    }
}

/* Another user does not find it, and gets a separate simulator of the same name. */
TEST(test_other_user)
{
    struct gba_dev_path path = sim_path();
    struct gba_dev *dev;
    pid_t child;

    if (0 != geteuid())
        skip();
    dev = sim_open(&path);
    assert_non_null(dev);
    child = sim_fork();
    if (0 == child) {
        struct gba_dev *own;
        uint8_t uuid[GBA_UUID_SIZE];

        memcpy(uuid, sim_info(dev).uuid, sizeof uuid);
        gba_dev_sim.close(dev);
        CHECK(0 == setgid(65534) && 0 == setuid(65534)); /* nobody */
        own = sim_open(&path);
        CHECK(own != NULL);
        CHECK(0 != memcmp(uuid, sim_info(own).uuid, sizeof uuid));
        gba_dev_sim.close(own);
        _exit(0);
    }
    assert_true(sim_child_ok(child));
    gba_dev_sim.close(dev);
}

/* Nor does a process in another IPC or network namespace: that is another host. */
TEST(test_other_host)
{
    static const int kinds[] = {CLONE_NEWIPC, CLONE_NEWNET};
    struct gba_dev_path path = sim_path();
    struct gba_dev *dev = sim_open(&path);

    assert_non_null(dev);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        pid_t child = sim_fork();
        int status;

        if (0 == child) {
            struct gba_dev *own;

            if (0 != unshare(kinds[i]))
                _exit(2); /* not permitted here */
            own = sim_open(&path);
            CHECK(own != NULL);
            CHECK(0 != memcmp(sim_info(dev).uuid, sim_info(own).uuid, GBA_UUID_SIZE));
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_true(0 == WEXITSTATUS(status) || 2 == WEXITSTATUS(status));
    }
    gba_dev_sim.close(dev);
}

#ifndef CLONE_NEWTIME /* not in the headers of older systems */
#define CLONE_NEWTIME 0x00000080
#endif

/* Children in another time namespace than this process. */
static bool change_time_namespace(void)
{
    static const char offset[] = "boottime 100000 0\n";
    bool written;
    int file;

    if (0 != unshare(CLONE_NEWTIME))
        return false;
    file = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
    written = file >= 0 && sizeof offset - 1 == write(file, offset, sizeof offset - 1);
    if (file >= 0)
        close(file);
    return written;
}

/* In the child: a simulator of that name exists, with the unit `ours`, and another one is made. */
static void open_in_other_time_namespace(const struct gba_dev_path *path, const uint8_t *ours)
{
    struct gba_dev *dev = sim_open(path), *again;
    uint8_t uuid[GBA_UUID_SIZE];
    pid_t child;

    CHECK(dev != NULL);
    memcpy(uuid, sim_info(dev).uuid, sizeof uuid);
    CHECK(0 != memcmp(ours, uuid, sizeof uuid));
    child = sim_fork(); /* a later process finds the right one of the two */
    if (0 == child) {
        again = sim_open(path);
        CHECK(again != NULL);
        CHECK(0 == memcmp(sim_info(again).uuid, uuid, sizeof uuid));
        _exit(0);
    }
    CHECK(sim_child_ok(child));
}

/* In another time namespace processes have other start times, so all of ours look dead. A process
 * that opens our simulator there gets another one, and takes nothing from us. */
TEST(test_other_time)
{
    struct gba_dev_path path = sim_path();
    struct gba_dev *dev = sim_open(&path);
    uint8_t uuid[GBA_UUID_SIZE];
    gba_group_handle_t handle;
    pid_t child;
    int status;

    assert_non_null(dev);
    memcpy(uuid, sim_info(dev).uuid, sizeof uuid);
    assert_int_equal(sim_alloc(dev, 1, &handle), GBA_OK);
    child = sim_fork();
    if (0 == child) {
        if (!change_time_namespace())
            _exit(2);
        child = sim_fork();
        if (0 == child) {
            open_in_other_time_namespace(&path, uuid);
            _exit(0);
        }
        _exit(sim_child_ok(child) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(sim_info(dev).groups_free, GBA_GROUPS - 1);
    gba_dev_sim.close(dev);
    if (2 == WEXITSTATUS(status)) {
        print_message("time namespaces are not permitted here\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Too small a limit of the file size is an error, and SIGXFSZ does not end the process. */
TEST(test_file_limit)
{
    struct gba_dev_path path = {.kind = GBA_DEV_SIM};
    pid_t child = sim_fork();

    if (0 == child) {
        const struct rlimit limit = {.rlim_cur = 65536, .rlim_max = 65536};
        struct gba_dev *dev;

        CHECK(0 == setrlimit(RLIMIT_FSIZE, &limit));
        CHECK(GBA_ERR_NOMEM == gba_dev_sim.open(&path, NULL, &dev));
        _exit(0);
    }
    assert_true(sim_child_ok(child));
}

TEST_MAIN(alarm(test_limit(SIM_TEST_TIMEOUT)))

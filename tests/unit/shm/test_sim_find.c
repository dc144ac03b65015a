/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes that share a simulator, those that must not, and the end of the simulator.
 */
#define _GNU_SOURCE /* memfd_create, seals, unshare */
#include "tests/limit.h"
#include "tests/unit/base/file_limit.h"
#include "tests/unit/log_catch.h"
#include "tests/unit/shm/sim_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
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

/* A simulator with the same parameters, which is another one or not. */
static bool is_another(void)
{
    struct gba_dev *own = sim_open(&path);
    bool another;

    CHECK(own != NULL);
    another = 0 != memcmp(unit, sim_info(own).uuid, sizeof unit);
    gba_dev_sim.close(own);
    return another;
}

/* Let a child run that. Returns its exit status: 0; 1: a check failed; 2: not permitted here. */
static int status_of(int (*run)(int what), int what)
{
    pid_t child = sim_fork();
    int status;

    if (0 == child)
        _exit(run(what));
    return child == waitpid(child, &status, 0) && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
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
        pid_t child[OPENERS];

        path = sim_path();
        memset(shared, 0, sizeof *shared);
        for (int i = 0; i < OPENERS; i++) {
            child[i] = sim_fork();
            if (0 != child[i])
                continue;
            while (0 == gba_word_load_relaxed(&shared->go))
                sched_yield();
            dev = sim_open(&path);
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

static void uuid_get(const struct gba_dev_path *of, const char *job, uint8_t uuid[GBA_UUID_SIZE],
                     struct gba_dev **own)
{
    const gba_device_attr_t attr = {.job = job};

    assert_int_equal(gba_dev_sim.open(of, &attr, own), GBA_OK);
    memcpy(uuid, sim_info(*own).uuid, GBA_UUID_SIZE);
}

/* Processes of the same job or with the same name share a simulator; all others do not. */
TEST(test_sharing)
{
    struct gba_dev_path job = {.kind = GBA_DEV_SIM}, name = sim_path();
    char longer[512], longer2[512];
    uint8_t uuid[8][GBA_UUID_SIZE];
    struct gba_dev *of[8];

    memset(longer, '/', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    memcpy(longer2, longer, sizeof longer2);
    longer2[sizeof longer2 - 2] = '\n';
    for (int i = 0; i < 8; i++) {
        const char *jobs[] = {longer, longer, longer2, NULL, NULL, longer, NULL, name.name};

        uuid_get(5 == i || 6 == i ? &name : &job, jobs[i], uuid[i], &of[i]);
        for (int j = 0; j < i; j++) {
            bool same = (0 == j && 1 == i) || (5 == j && 6 == i);

            assert_int_equal(0 == memcmp(uuid[i], uuid[j], GBA_UUID_SIZE), same);
        }
    }
    for (int i = 0; i < 8; i++)
        gba_dev_sim.close(of[i]);
}

static struct gba_dev_path common;

static gba_status_t open_common(void *opened)
{
    return gba_dev_sim.open(&common, NULL, opened);
}

/* A process that can open no more files cannot look for the simulator, and makes no second one. */
SIM_TEST(test_too_many_open_files)
{
    struct gba_dev *second;

    common = path;
    /* The lock, /proc, the files of a process, and that of the simulator. */
    assert_true(files_until(open_common, &second) > 4);
    assert_false(sim_info(second).created);
    gba_dev_sim.close(second);
}

static gba_status_t take_none(void *ctx, int file)
{
    (void)file;
    ++*(int *)ctx;
    return GBA_INPROGRESS;
}

static int files_of_it(void)
{
    char id[GBA_SIM_ID_MAX];
    int found = 0;

    assert_int_equal(gba_sim_id(id, path.name, NULL), GBA_OK);
    assert_int_equal(gba_sim_find(id, 0, take_none, &found), GBA_INPROGRESS);
    return found;
}

/* All processes are killed at once: no memfd and no file are left, and the next process gets a new
 * device. */
TEST(test_nothing_left)
{
    uint8_t *shared = sim_shared(4096), uuid[GBA_UUID_SIZE];
    gba_word_t *ready = (gba_word_t *)shared;
    struct dirent *entry;
    pid_t child[4];
    DIR *shm;

    path = sim_path();
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
    assert_int_equal(files_of_it(), 4);
    for (int i = 0; i < 4; i++)
        kill(child[i], SIGKILL);
    for (int i = 0; i < 4; i++)
        waitpid(child[i], NULL, 0);
    assert_int_equal(files_of_it(), 0);
    shm = opendir("/dev/shm");
    while (shm != NULL && (entry = readdir(shm)) != NULL)
        assert_null(strstr(entry->d_name, path.name));
    if (shm != NULL)
        closedir(shm);
    uuid_get(&path, NULL, uuid, &dev);
    assert_memory_not_equal(uuid, shared + 64, GBA_UUID_SIZE);
    gba_dev_sim.close(dev);
    assert_int_equal(files_of_it(), 0);
    munmap(shared, 4096);
}

/* Searches of all processes cost milliseconds: a process that makes a simulator searches once, and
 * so does one that attaches. */
TEST(test_one_search)
{
    searches = 0;
    sim_begin((struct gba_sim_options){0});
    assert_int_equal(searches, 1);
    assert_false(is_another());
    assert_int_equal(searches, 2);
    sim_end();
}

/* The holder of the lock makes no simulator: the existing simulator is found nevertheless. */
SIM_TEST(test_held_lock)
{
    char id[GBA_SIM_ID_MAX];
    int lock, holder;

    assert_int_equal(gba_sim_id(id, path.name, NULL), GBA_OK);
    lock = gba_sim_maker_lock(id, &holder);
    assert_true(lock >= 0);
    assert_false(is_another());
    close(lock);
}

/* A process that waits for the maker seldom reads /proc. The bound is the number of doublings of
 * the wait in its 10 s. */
TEST(test_wait_for_maker)
{
    char id[GBA_SIM_ID_MAX];
    int waiting[2], holder;
    pid_t maker;
    char byte;

    path = sim_path();
    assert_int_equal(gba_sim_id(id, path.name, NULL), GBA_OK);
    assert_int_equal(pipe(waiting), 0);
    maker = sim_fork();
    if (0 == maker) {
        if (gba_sim_maker_lock(id, &holder) < 0 || 1 != write(waiting[1], "", 1))
            _exit(1);
        usleep(1000000);
        _exit(0);
    }
    assert_int_equal(read(waiting[0], &byte, 1), 1);
    searches = 0;
    (void)is_another();
    assert_in_range(searches, 1, 9);
    assert_int_equal(waitpid(maker, NULL, 0), maker);
    close(waiting[0]);
    close(waiting[1]);
}

/* The maker tells when it has the lock, and needs some time. */
static int making = -1;

int __real_memfd_create(const char *name, unsigned flags);
int __wrap_memfd_create(const char *name, unsigned flags);

int __wrap_memfd_create(const char *name, unsigned flags)
{
    if (making >= 0) {
        CHECK(1 == write(making, "", 1));
        usleep(100000);
    }
    return __real_memfd_create(name, flags);
}

static bool patient;

int __real_poll(struct pollfd *fds, nfds_t count, int ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int ms);

int __wrap_poll(struct pollfd *fds, nfds_t count, int ms)
{
    return __real_poll(fds, count, patient ? -1 : ms);
}

/* A process that has waited for the maker finds what it has made without a search of /proc. */
TEST(test_find_with_maker)
{
    int ready[2];
    pid_t maker;
    char byte;

    path = sim_path();
    assert_int_equal(pipe(ready), 0);
    maker = sim_fork();
    if (0 == maker) {
        making = ready[1];
        CHECK(sim_open(&path) != NULL);
        pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    searches = 0;
    patient = true;
    dev = sim_open(&path);
    patient = false;
    assert_non_null(dev);
    assert_false(sim_info(dev).created);
    assert_int_equal(searches, 0);
    gba_dev_sim.close(dev);
    kill(maker, SIGKILL);
    assert_int_equal(waitpid(maker, NULL, 0), maker);
    close(ready[0]);
    close(ready[1]);
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
        struct gba_sim_header header = {.layout = GBA_SIM_LAYOUT + 1,
                                        .size = sizeof(struct gba_sim_segment)};
        char id[GBA_SIM_ID_MAX], name[GBA_SIM_ID_MAX + 16];
        int file;

        path = sim_path();
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

static int as_nobody(int unused)
{
    (void)unused;
    CHECK(0 == setgid(65534) && 0 == setuid(65534));
    return is_another() ? 0 : 1;
}

/* Another user does not find it, and gets a separate simulator of the same name. */
SIM_TEST(test_other_user)
{
    if (0 != geteuid())
        skip();
    assert_int_equal(status_of(as_nobody, 0), 0);
}

static int in_namespace(int kind)
{
    if (0 != unshare(kind))
        return 2;
    return is_another() ? 0 : 1;
}

/* Nor does a process in another IPC or network namespace: that is another host. */
SIM_TEST(test_other_host)
{
    assert_int_not_equal(status_of(in_namespace, CLONE_NEWIPC), 1);
    assert_int_not_equal(status_of(in_namespace, CLONE_NEWNET), 1);
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

/* A simulator of that name exists, and another one is made. */
static int open_in_other_time(int unused)
{
    struct gba_dev *own = sim_open(&path);
    pid_t child;

    (void)unused;
    CHECK(own != NULL);
    CHECK(0 != memcmp(unit, sim_info(own).uuid, sizeof unit));
    child = sim_fork(); /* a later process finds the right one of the two */
    if (0 == child) {
        memcpy(unit, sim_info(own).uuid, sizeof unit);
        _exit(is_another());
    }
    return sim_child_ok(child) ? 0 : 1;
}

static int in_other_time(int unused)
{
    if (!change_time_namespace())
        return 2;
    return status_of(open_in_other_time, unused);
}

/* In another time namespace processes have other start times, so all of ours look dead. A process
 * that opens our simulator there gets another one, and takes nothing from us. */
SIM_TEST(test_other_time)
{
    gba_group_handle_t handle;
    int status;

    assert_int_equal(sim_alloc(dev, 1, &handle), GBA_OK);
    status = status_of(in_other_time, 0);
    assert_int_equal(sim_info(dev).groups_free, GBA_GROUPS - 1);
    gba_dev_sim.cancel(dev, &handle);
    assert_int_not_equal(status, 1);
    if (2 == status)
        print_message("time namespaces are not permitted here\n");
}

static int with_file_limit(int limit)
{
    const struct rlimit limits = {.rlim_cur = (rlim_t)limit, .rlim_max = (rlim_t)limit};

    path = sim_path();
    CHECK(0 == setrlimit(RLIMIT_FSIZE, &limits));
    return GBA_ERR_NOMEM == gba_dev_sim.open(&path, NULL, &dev) ? 0 : 1;
}

/* Too small a limit of the file size is an error, and SIGXFSZ does not end the process. */
TEST(test_file_limit)
{
    assert_int_equal(status_of(with_file_limit, 65536), 0);
}

TEST_MAIN(alarm(test_limit(SIM_TEST_TIMEOUT)))

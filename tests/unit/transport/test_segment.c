/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared memory of a team: creation, attachment, refusals, and the end. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gba/base/host.h"
#include "gba/base/open_files.h"
#include "gba/base/process.h"
#include "gba/transport/node_barrier.h"
#include "gba/transport/shm.h"
#include "tests/suite.h"
#include "tests/unit/log_catch.h"
#include "tests/unit/own_file.h"

#define SEQ    41u
#define NOBODY 65534

static unsigned count_entries(const char *path)
{
    DIR *dir = opendir(path);
    unsigned count = 0;

    assert_non_null(dir);
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count;
}

/* The part of a test in another process: its status is the child's exit status, negated. */
static gba_status_t in_child(gba_status_t (*run)(const void *), const void *arg)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0)
        _exit(-(int)run(arg));
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return (gba_status_t)-WEXITSTATUS(status);
}

/* A refusal is logged once, leaves the output unchanged, and keeps no file open. */
static void expect_refusal(const struct gba_segment_handle *handle, gba_status_t expected)
{
    struct gba_segment segment = {.slots = 77};
    unsigned before = count_entries("/proc/self/fd");

    log_forget();
    assert_int_equal(gba_shm_segment_attach(handle, &segment), expected);
    assert_int_equal(log_lines, 1);
    assert_int_equal(segment.slots, 77);
    assert_null(segment.base);
    assert_int_equal(count_entries("/proc/self/fd"), before);
}

static gba_status_t attach_and_signal(const void *arg)
{
    struct gba_segment segment;
    struct gba_shm shm;
    struct gba_node_barrier node;

    if (gba_shm_segment_attach(arg, &segment) != GBA_OK)
        return GBA_ERR_IO;
    gba_shm_init(&shm, &segment, 1, 0);
    gba_node_barrier_init(&node, &segment, SEQ);
    if (gba_shm_ops.load(&shm.base, 2, 0) != SEQ || gba_shm_ops.peek(&shm.base, 0, 0, 1) != SEQ)
        return GBA_ERR_MISMATCH;
    if (gba_shm_ops.set(&shm.base, 0, 1, SEQ + 1) != GBA_OK ||
        gba_node_barrier_gather(&node, SEQ + 1))
        return GBA_ERR_MISMATCH;
    gba_shm_segment_close(&segment);
    return GBA_OK;
}

TEST(test_two_processes)
{
    unsigned fds = count_entries("/proc/self/fd");
    struct gba_segment segment;
    struct gba_segment_handle handle;
    struct gba_shm shm;
    struct gba_node_barrier node;

    assert_int_equal(gba_shm_segment_create(2, 3, SEQ, &segment, &handle), GBA_OK);
    gba_shm_init(&shm, &segment, 0, 0);
    gba_node_barrier_init(&node, &segment, SEQ);
    assert_int_equal(in_child(attach_and_signal, &handle), GBA_OK);
    assert_int_equal(gba_shm_ops.load(&shm.base, 0, 0), SEQ);
    assert_int_equal(gba_shm_ops.load(&shm.base, 1, 0), SEQ + 1);
    assert_int_equal(gba_shm_ops.peek(&shm.base, 1, 0, 0), SEQ);
    assert_int_equal(gba_node_barrier_test(&node), GBA_OK); /* of the round before the first */
    gba_node_barrier_start(&node, SEQ + 1);                 /* the last to arrive */
    assert_int_equal(gba_node_barrier_test(&node), GBA_OK);
    gba_shm_segment_close(&segment);
    assert_int_equal(count_entries("/proc/self/fd"), fds);
}

/* No two words share a line, and the sizes are those of segment.h. */
TEST(test_layout)
{
    struct gba_segment segment;
    struct gba_segment_handle handle;
    unsigned char *end;

    assert_int_equal(gba_shm_segment_create(16, gba_sched_slots(16, 2), SEQ, &segment, &handle),
                     GBA_OK);
    assert_true(segment.bytes <= 8192);
    end = (unsigned char *)(uintptr_t)gba_segment_slots(&segment, 15);
    assert_true(end + 4 * GBA_SLOT_SIZE <= segment.base + segment.bytes);
    assert_int_equal((uintptr_t)end % GBA_SEGMENT_STRIDE, 0);
    for (uint32_t member = 0; member < 16; member++) {
        for (uint32_t slot = 0; slot < 4; slot++)
            assert_int_equal(gba_word_load_relaxed(gba_segment_slots(&segment, member) + slot * 8),
                             SEQ);
    }
    gba_shm_segment_close(&segment);
    assert_int_equal(gba_shm_segment_create(16, 0, SEQ, &segment, &handle), GBA_OK);
    assert_true(segment.bytes <= 4096 || segment.bytes == (size_t)sysconf(_SC_PAGESIZE));
    gba_shm_segment_close(&segment);
}

/* MFD_NOEXEC_SEAL, from Linux 6.3 on. */
static bool kernel_seals_exec(void)
{
    int file = memfd_create("gba-test", MFD_CLOEXEC | 0x0008u);

    if (file < 0)
        return false;
    close(file);
    return true;
}

TEST(test_file_is_private)
{
    struct gba_segment segment;
    struct gba_segment_handle handle;
    struct stat st;

    assert_int_equal(gba_shm_segment_create(4, 2, SEQ, &segment, &handle), GBA_OK);
    assert_int_equal(fstat(segment.file.number, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(st.st_nlink, 0); /* it has no name, so nothing is left behind */
    assert_true(fcntl(segment.file.number, F_GETFD) & FD_CLOEXEC);
    /* Sealed against that where the kernel can: test_memory_file.c. */
    assert_true(fchmod(segment.file.number, 0700) != 0 || !kernel_seals_exec());
    assert_int_equal(ftruncate(segment.file.number, 0),
                     -1); /* sealed, so that no member gets SIGBUS */
    gba_shm_segment_close(&segment);
}

TEST(test_descriptor_of_the_program)
{
    struct gba_segment segment;
    struct gba_segment_handle handle;
    int own;

    assert_int_equal(gba_shm_segment_create(4, 2, SEQ, &segment, &handle), GBA_OK);
    own = own_file_put(&segment.file);
    expect_refusal(&handle, GBA_ERR_STALE);
    gba_shm_segment_shut(&segment);
    gba_shm_segment_close(&segment);
    own_file_check(own);
}

static gba_status_t attach_as_nobody(const void *arg)
{
    struct gba_segment segment;

    if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
        return GBA_ERR_IO;
    return gba_shm_segment_attach(arg, &segment);
}

TEST(test_other_user)
{
    struct gba_segment segment;
    struct gba_segment_handle handle;

    if (geteuid() != 0)
        skip();
    assert_int_equal(gba_shm_segment_create(4, 2, SEQ, &segment, &handle), GBA_OK);
    assert_int_equal(in_child(attach_as_nobody, &handle), GBA_ERR_PERM);
    /* The kernel lets root open the files of every user; the segment is refused nevertheless. */
    assert_int_equal(fchown(segment.file.number, NOBODY, NOBODY), 0);
    expect_refusal(&handle, GBA_ERR_PERM);
    gba_shm_segment_close(&segment);
}

TEST(test_not_the_file)
{
    struct gba_segment segment;
    struct gba_segment_handle handle, wrong;
    int pipes[2];
    FILE *file = tmpfile();

    assert_int_equal(gba_shm_segment_create(4, 2, SEQ, &segment, &handle), GBA_OK);
    wrong = handle;
    wrong.cookie[1]++;
    expect_refusal(&wrong, GBA_ERR_STALE);
    wrong = handle;
    wrong.slots = 2000; /* another size */
    expect_refusal(&wrong, GBA_ERR_STALE);
    wrong.slots = GBA_SEGMENT_SLOTS_MAX + 1;
    expect_refusal(&wrong, GBA_ERR_STALE);
    wrong = handle;
    wrong.pid = 0x7FFFFFFF; /* above any pid */
    expect_refusal(&wrong, GBA_ERR_STALE);

    /* The number refers to another file now: a pipe, of the right size. */
    wrong = handle;
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), (off_t)segment.bytes), 0);
    wrong.fd = (uint32_t)fileno(file);
    expect_refusal(&wrong, GBA_ERR_STALE);
    assert_int_equal(pipe(pipes), 0);
    wrong.fd = (uint32_t)pipes[0];
    expect_refusal(&wrong, GBA_ERR_STALE);
    close(pipes[0]);
    close(pipes[1]);
    fclose(file);

    gba_shm_segment_shut(&segment);
    expect_refusal(&handle, GBA_ERR_STALE);
    gba_shm_segment_shut(&segment); /* again: nothing */
    gba_shm_segment_close(&segment);
}

/* The creator, whose first thread ends: what it created, through a pipe. */
static void *create_alone(void *pipe_end)
{
    const int end = *(int *)pipe_end;
    struct gba_segment_handle handle;
    struct gba_segment segment;
    struct gba_process process;
    struct gba_host host;
    bool made = gba_shm_segment_create(2, 1, SEQ, &segment, &handle) == GBA_OK;

    while (gba_process_thread((uint32_t)getpid()) == (uint32_t)getpid())
        usleep(100);
    gba_process_read((uint32_t)getpid(), &process);
    made = made && gba_host_get(&host) == GBA_OK && process.state == GBA_PROCESS_RUNNING;
    if (!made || write(end, &handle, sizeof handle) != (ssize_t)sizeof handle)
        _exit(1);
    for (;;)
        pause();
}

static gba_status_t take_first(void *ctx, const struct gba_open_file *file)
{
    (void)ctx;
    (void)file;
    return GBA_OK;
}

/* /proc shows nothing under the number of a process whose first thread has ended. */
TEST(test_no_first_thread)
{
    int ends[2], status, proc = open("/proc", O_RDONLY | O_DIRECTORY);
    struct gba_segment_handle handle;
    struct gba_segment segment;
    pthread_t thread;
    char name[16];
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        if (pthread_create(&thread, NULL, create_alone, &ends[1]) != 0)
            _exit(1);
        pthread_exit(NULL);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &handle, sizeof handle), sizeof handle);
    assert_int_equal(gba_shm_segment_attach(&handle, &segment), GBA_OK);
    gba_shm_segment_close(&segment);
    snprintf(name, sizeof name, "%d", (int)child);
    assert_int_equal(gba_open_files(proc, name, take_first, NULL), GBA_OK);
    close(proc);
    close(ends[0]);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

TEST(test_other_version)
{
    struct gba_segment segment;
    struct gba_segment_handle handle;

    assert_int_equal(gba_shm_segment_create(4, 2, SEQ, &segment, &handle), GBA_OK);
    segment.base[sizeof handle.cookie]++; /* the first byte behind the cookie */
    expect_refusal(&handle, GBA_ERR_VERSION);
    gba_shm_segment_close(&segment);
}

static gba_status_t create_with_limit(const void *arg)
{
    const struct rlimit none = {0, 0};
    struct gba_segment_handle handle;
    struct gba_segment segment;
    const int *what = arg;
    gba_status_t status;

    /* No more address space, or no more files, than now. */
    if (setrlimit((__rlimit_resource_t)*what, &none) != 0)
        return GBA_ERR_IO;
    log_forget();
    status = gba_shm_segment_create(1000, 64, SEQ, &segment, &handle);
    return log_lines == 1 ? status : GBA_ERR_MISMATCH;
}

TEST(test_no_memory)
{
    const int address_space = RLIMIT_AS, files = RLIMIT_NOFILE;

    assert_int_equal(in_child(create_with_limit, &files), GBA_ERR_NO_FILES);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_int_equal(in_child(create_with_limit, &address_space), GBA_ERR_NOMEM);
#else
    (void)address_space;
#endif
}

int __real_fallocate(int file, int mode, off_t offset, off_t len);
int __wrap_fallocate(int file, int mode, off_t offset, off_t len);

static int interruptions; /* to be allocated later */

/* Some kernels interrupt it at every signal. */
int __wrap_fallocate(int file, int mode, off_t offset, off_t len)
{
    if (interruptions > 0) {
        interruptions--;
        errno = EINTR;
        return -1;
    }
    return __real_fallocate(file, mode, offset, len);
}

/* The timer of a profiler interrupts the allocation: not an error. */
TEST(test_interrupted)
{
    struct gba_segment_handle handle;
    struct gba_segment segment;

    log_forget();
    interruptions = 2;
    assert_int_equal(gba_shm_segment_create(2, 1, SEQ, &segment, &handle), GBA_OK);
    assert_int_equal(interruptions, 0);
    assert_int_equal(log_lines, 0);
    gba_shm_segment_close(&segment);
}

TEST(test_bad_parameters)
{
    struct gba_segment segment;
    struct gba_segment_handle handle;

    log_forget();
    assert_int_equal(gba_shm_segment_create(0, 1, SEQ, &segment, &handle), GBA_ERR_PARAM);
    assert_int_equal(gba_shm_segment_create(GBA_SEGMENT_MEMBERS_MAX + 1, 1, SEQ, &segment, &handle),
                     GBA_ERR_PARAM);
    assert_int_equal(gba_shm_segment_create(1, GBA_SEGMENT_SLOTS_MAX + 1, SEQ, &segment, &handle),
                     GBA_ERR_PARAM);
    assert_int_equal(log_lines, 3);
    /* Every schedule fits. */
    assert_true(gba_sched_slots(GBA_SEGMENT_MEMBERS_MAX, GBA_RADIX_MAX) <= GBA_SEGMENT_SLOTS_MAX);
}

TEST_MAIN(gba_log_set(log_catch, NULL, GBA_LOG_WARN))

/* SPDX-License-Identifier: BSD-3-Clause */
/* Anonymous files: their properties on this kernel and on an older one, each error, and a process
 * that has hardly a mapping left. */
#define _GNU_SOURCE /* memfd_create */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gba/base/memory_file.h"
#include "tests/suite.h"

#define NOEXEC_SEAL 0x0008u
#define SEAL_EXEC   0x0020

int __real_memfd_create(const char *name, unsigned flags);
int __wrap_memfd_create(const char *name, unsigned flags);
int __real_fchmod(int file, mode_t mode);
int __wrap_fchmod(int file, mode_t mode);

static bool old_kernel; /* does not know NOEXEC_SEAL */
static int create_error, chmod_error;
static unsigned creates;

int __wrap_memfd_create(const char *name, unsigned flags)
{
    creates++;
    errno = 0 != create_error ? create_error : EINVAL;
    if (0 != create_error || (old_kernel && 0 != (flags & NOEXEC_SEAL)))
        return -1;
    return __real_memfd_create(name, flags);
}

int __wrap_fchmod(int file, mode_t mode)
{
    errno = chmod_error;
    return 0 != chmod_error ? -1 : __real_fchmod(file, mode);
}

static int reset(void **state)
{
    (void)state;
    old_kernel = false;
    create_error = chmod_error = 0;
    creates = 0;
    return 0;
}

/* Private, closed on exec, seals allowed. Returns its seals. */
static int check(int file)
{
    struct stat st;
    int seals = fcntl(file, F_GET_SEALS);

    assert_true(file >= 0);
    assert_int_equal(fstat(file, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_true(fcntl(file, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    return seals;
}

TEST_WITH(test_never_executable, reset, NULL, NULL)
{
    int plain = __real_memfd_create("gba-test", MFD_CLOEXEC | NOEXEC_SEAL);
    int file = gba_memory_file("gba-test");

    if (plain >= 0) { /* this kernel has the seal */
        assert_true(check(file) & SEAL_EXEC);
        assert_int_equal(fchmod(file, 0700), -1);
        close(plain);
    } else {
        assert_int_equal(check(file), 0);
    }
    close(file);
}

TEST_WITH(test_older_kernel, reset, NULL, NULL)
{
    int file;

    old_kernel = true;
    file = gba_memory_file("gba-test");
    check(file);
    assert_int_equal(creates, 2);
    close(file);
}

TEST_WITH(test_errors, reset, NULL, NULL)
{
    int before = dup(STDIN_FILENO), after;

    close(before);
    create_error = EMFILE;
    assert_int_equal(gba_memory_file("gba-test"), -1);
    assert_int_equal(errno, EMFILE);
    assert_int_equal(creates, 1);
    create_error = 0;
    chmod_error = EPERM;
    assert_int_equal(gba_memory_file("gba-test"), -1);
    assert_int_equal(errno, EPERM);
    after = dup(STDIN_FILENO);
    assert_int_equal(after, before); /* nothing is left open */
    close(after);
}

/* Split pages into a mapping each until the kernel refuses; then return `left` mappings. Returns
 * whether it did. */
static bool maps_use(char *pages, size_t page, size_t count, size_t left)
{
    size_t at = 1;

    while (at < count && mprotect(pages + at * page, page, PROT_READ) == 0)
        at += 2;
    return at < count && munmap(pages, left * page) == 0;
}

/* Whether the process may map the file; unmaps it. */
static bool maps(int file, size_t page)
{
    char *map = gba_map_shared(page, PROT_READ, 0, file, 0);

    if (map == MAP_FAILED)
        assert_int_equal(errno, ENOMEM);
    else
        assert_int_equal(munmap(map, page), 0);
    return map != MAP_FAILED;
}

/* The first mapping looks at what is left, and GBA_MAPS_LOOK later ones again. */
TEST_WITH(test_no_mapping_left, reset, NULL, NULL)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), count = 4u << 20;
    int file = gba_memory_file("gba-test");
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char *pages = mmap(NULL, count * page, PROT_NONE, flags, -1, 0);
    char *more = mmap(NULL, count * page, PROT_NONE, flags, -1, 0);

    assert_int_equal(ftruncate(file, (off_t)page), 0);
    assert_true(pages != MAP_FAILED && more != MAP_FAILED);
    if (!maps_use(pages, page, count, GBA_MAPS_SPARE / 2))
        skip(); /* vm.max_map_count is higher */
    assert_false(maps(file, page));
    assert_int_equal(munmap(pages, 4 * GBA_MAPS_SPARE * page), 0);
    for (unsigned i = 0; i < GBA_MAPS_LOOK; i++) {
        assert_true(maps(file, page));
        if (0 == i)
            assert_true(maps_use(more, page, count, GBA_MAPS_SPARE / 2));
    }
    assert_false(maps(file, page));
    assert_int_equal(munmap(pages, count * page), 0);
    assert_int_equal(munmap(more, count * page), 0);
    close(file);
}

TEST_MAIN()

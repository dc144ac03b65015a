/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into a test program: in one rank one call for a resource fails, as it does if there is
 * no memory, no address space, no descriptor or no file, or if PMIx has an error. Only calls that
 * libgba or a plugin makes itself count, so Open MPI is not tested.
 *
 * GBA_TEST_LACK_RANK: the rank. GBA_TEST_LACK_CALL: the number of the call that fails, from the
 * start of the process; a program may set another one with lack_set.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>

#define SEEN __attribute__((visibility("default")))

SEEN void lack_set(unsigned long number);
SEEN unsigned long lack_calls(void);

/* Those of the C library, under which dlsym finds no function of this file. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

static unsigned long calls, fails; /* fails: 0: none */
static bool counts;
static _Thread_local bool inside; /* the functions that this file calls may allocate */

static void __attribute__((constructor)) begin(void)
{
    const char *mine = getenv(getenv("PMIX_RANK") != NULL ? "PMIX_RANK" : "OMPI_COMM_WORLD_RANK");
    const char *rank = getenv("GBA_TEST_LACK_RANK"), *call = getenv("GBA_TEST_LACK_CALL");

    counts = mine != NULL && rank != NULL && strcmp(mine, rank) == 0;
    fails = call != NULL ? strtoul(call, NULL, 10) : 0;
}

void lack_set(unsigned long number)
{
    __atomic_store_n(&calls, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&fails, number, __ATOMIC_RELAXED);
}

unsigned long lack_calls(void)
{
    return __atomic_load_n(&calls, __ATOMIC_RELAXED);
}

/* Whether a call fails. caller: its return address; NULL: it is a plugin's through Open MPI. */
static bool due(const char *name, const void *caller)
{
    unsigned long call;
    bool ours = false;
    Dl_info info = {.dli_fname = NULL};

    if (!counts || inside)
        return false;
    inside = true;
    ours = caller == NULL ||
           (dladdr(caller, &info) != 0 && info.dli_fname != NULL &&
            (strstr(info.dli_fname, "libgba") != NULL || strstr(info.dli_fname, "_gba") != NULL));
    call = ours ? __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) : 0;
    ours = ours && call == __atomic_load_n(&fails, __ATOMIC_RELAXED);
    if (ours)
        fprintf(stderr, "lack_preload: call %lu fails: %s in %s+0x%lx\n", call, name,
                caller == NULL ? "Open MPI" : strrchr(info.dli_fname, '/') + 1,
                caller == NULL
                    ? 0
                    : (unsigned long)((const char *)caller - (const char *)info.dli_fbase));
    inside = false;
    return ours;
}

static void *real(const char *name)
{
    const bool before = inside;
    void *function;

    inside = true;
    function = dlsym(RTLD_NEXT, name);
    inside = before;
    return function;
}

/* A function of the C library that fails when that is due. again: calls the one of the C library.
 */
#define LACK(type, name, failure, error, parameters, again) \
    SEEN type name parameters;                              \
    type name parameters                                    \
    {                                                       \
        if (!due(#name, __builtin_return_address(0)))       \
            return again;                                   \
        errno = error;                                      \
        return failure;                                     \
    }
#define NEXT(type, name, ...) ((type(*)(__VA_ARGS__))real(#name))

/* The names of the parameters in the C library are reserved. */
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */

LACK(void *, calloc, NULL, ENOMEM, (size_t count, size_t size), __libc_calloc(count, size))
LACK(void *, realloc, NULL, ENOMEM, (void *memory, size_t size), __libc_realloc(memory, size))
LACK(void *, mmap, MAP_FAILED, ENOMEM,
     (void *address, size_t size, int protection, int flags, int file, off_t offset),
     NEXT(void *, mmap, void *, size_t, int, int, int, off_t)(address, size, protection, flags,
                                                              file, offset))
LACK(int, memfd_create, -1, EMFILE, (const char *name, unsigned flags),
     NEXT(int, memfd_create, const char *, unsigned)(name, flags))
LACK(int, fallocate, -1, ENOSPC, (int file, int mode, off_t offset, off_t size),
     NEXT(int, fallocate, int, int, off_t, off_t)(file, mode, offset, size))
LACK(ssize_t, getrandom, -1, ENOSYS, (void *to, size_t size, unsigned flags),
     NEXT(ssize_t, getrandom, void *, size_t, unsigned)(to, size, flags))
LACK(int, socket, -1, EMFILE, (int domain, int type, int protocol),
     NEXT(int, socket, int, int, int)(domain, type, protocol))
LACK(int, connect, -1, ECONNREFUSED, (int file, const struct sockaddr *to, socklen_t size),
     NEXT(int, connect, int, const struct sockaddr *, socklen_t)(file, to, size))
LACK(FILE *, fopen, NULL, EMFILE, (const char *path, const char *mode),
     NEXT(FILE *, fopen, const char *, const char *)(path, mode))

/* A plugin looks up the words that it has published itself. PMIX_ERR_COMM_FAILURE is -49. */
SEEN int PMIx_Get(const void *process, const char *key, const void *how, size_t count,
                  void **value);
int PMIx_Get(const void *process, const char *key, const void *how, size_t count, void **value)
{
    if (key != NULL && strncmp(key, "gba.", 4) == 0 && due("PMIx_Get", NULL))
        return -49;
    return NEXT(int, PMIx_Get, const void *, const char *, const void *, size_t,
                void **)(process, key, how, count, value);
}

SEEN void *malloc(size_t size);
void *malloc(size_t size)
{
    if (!due("malloc", __builtin_return_address(0)))
        return __libc_malloc(size);
    errno = ENOMEM;
    return NULL;
}

SEEN int open(const char *path, int flags, ...);
int open(const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = va_arg(args, mode_t);
    va_end(args);
    if (!due("open", __builtin_return_address(0)))
        return NEXT(int, open, const char *, int, ...)(path, flags, mode);
    errno = EMFILE;
    return -1;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

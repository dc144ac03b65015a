/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into a test program: libgba sees the ranks on GBA_TEST_HOSTS hosts, of unequal size and
 * not in blocks. libgba reads the identity of the host from a file, and each pretended host reads
 * other digits there. Open MPI is not affected. A simulated device, which depends on namespaces,
 * serves all pretended hosts, as a switch does.
 *
 * GBA_TEST_DEVICES: several device paths with blanks between them, assigned to the pretended hosts
 * in turn: as many switches.
 *
 * GBA_TEST_WIRE: the version of libgba's wire that this rank has.
 *
 * GBA_TEST_NEAR: of several devices the first one is the nearest to the ranks below this number; to
 * the other ranks all are equally near.
 *
 * GBA_TEST_UNNOTIFIED: the rank in which the first registration of the plugins with Open MPI's
 * progress fails, that of failure notifications.
 *
 * GBA_TEST_ABI: the version of the driver's interface that any file reports.
 *
 * GBA_TEST_CLOCK: the clock of libgba is so many times as fast.
 *
 * GBA_TEST_STOPS: a child of each rank stops it again and again, for up to so many milliseconds.
 *
 * GBA_TEST_CORES: the processors that the process may use, as far as it can see.
 *
 * GBA_TEST_YIELDS: a line on stderr when libgba yields the processor for the first time.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "gba/gba.h"
#include "gba/spec/gba_ioctl.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

#define DEVICE       "OMPI_MCA_coll_gba_barrier_device_path"
#define SHMEM_DEVICE "OMPI_MCA_scoll_gba_device_path"

__attribute__((visibility("default"))) FILE *fopen(const char *path, const char *mode);
__attribute__((visibility("default"))) int opal_progress_register(int (*callback)(void));
__attribute__((visibility("default"))) int sched_yield(void);
__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *time);
__attribute__((visibility("default"))) int ioctl(int file, unsigned long request, ...);

/* `real` is the function that this file's replaces. */
#define REAL(function)                   \
    static __typeof__(&(function)) real; \
    if (real == NULL)                    \
    *(void **)&real = dlsym(RTLD_NEXT, #function)

static unsigned long number(const char *name)
{
    const char *text = getenv(name);

    return text == NULL ? 0 : strtoul(text, NULL, 10);
}

__attribute__((visibility("default"))) int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    const unsigned long cores = number("GBA_TEST_CORES");

    REAL(sched_getaffinity);
    if (0 == cores)
        return real(pid, size, set);
    memset(set, 0, size);
    for (unsigned long i = 0; i < cores; i++)
        CPU_SET_S(i, size, set);
    return 0;
}

static unsigned long pretended_host(void)
{
    unsigned long hosts = number("GBA_TEST_HOSTS");
    unsigned long rank = number(getenv("PMIX_RANK") != NULL ? "PMIX_RANK" : "OMPI_COMM_WORLD_RANK");

    if (0 == hosts)
        return 0;
    return rank < hosts ? rank : rank * rank % hosts;
}

/* Before MPI_Init reads it. */
static void __attribute__((constructor)) choose_device(void)
{
    const char *list = getenv("GBA_TEST_DEVICES");
    char *paths[8], *copy, *rest;
    unsigned long count = 0;

    if (list == NULL)
        return;
    rest = copy = strdup(list);
    while (count < sizeof paths / sizeof paths[0] && (paths[count] = strsep(&rest, " ")) != NULL)
        count++;
    if (count > 0) {
        setenv(DEVICE, paths[pretended_host() % count], 1);
        setenv(SHMEM_DEVICE, paths[pretended_host() % count], 1);
    }
    free(copy);
}

/* The rank runs about as long as it is stopped. */
static void __attribute__((noreturn)) stop_again_and_again(pid_t rank, unsigned most_us)
{
    unsigned seed = (unsigned)getpid();

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (most_us > 0 && getppid() == rank) {
        usleep((unsigned)rand_r(&seed) % most_us);
        kill(rank, SIGSTOP);
        usleep((unsigned)rand_r(&seed) % most_us);
        kill(rank, SIGCONT);
    }
    _exit(0);
}

static void __attribute__((constructor)) start_stops(void)
{
    const pid_t rank = getpid();

    if (0 != number("GBA_TEST_STOPS") && getenv("PMIX_RANK") != NULL && 0 == fork())
        stop_again_and_again(rank, (unsigned)number("GBA_TEST_STOPS") * 1000);
}

int clock_gettime(clockid_t id, struct timespec *time)
{
    static __typeof__(&clock_gettime) real;
    static unsigned long faster;
    uint64_t ns;
    Dl_info info;
    int rc;

    if (real == NULL) {
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
        faster = number("GBA_TEST_CLOCK");
    }
    rc = real(id, time);
    if (0 == faster || 0 != rc || CLOCK_MONOTONIC != id ||
        0 == dladdr(__builtin_return_address(0), &info) || strstr(info.dli_fname, "libgba") == NULL)
        return rc;
    ns = ((uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec) * faster;
    time->tv_sec = (time_t)(ns / 1000000000u);
    time->tv_nsec = (long)(ns % 1000000000u);
    return 0;
}

FILE *fopen(const char *path, const char *mode)
{
    static char id[48]; /* read after the return, and the same each time */

    REAL(fopen);
    if (0 != strcmp(path, BOOT_ID))
        return real(path, mode);
    snprintf(id, sizeof id, "%08lx-0000-4000-8000-000000000000\n", pretended_host());
    return fmemopen(id, strlen(id), "r");
}

void gba_device_choices_find(const char *list, gba_device_choices_t *choices)
{
    unsigned long rank = number(getenv("PMIX_RANK") != NULL ? "PMIX_RANK" : "OMPI_COMM_WORLD_RANK");

    REAL(gba_device_choices_find);
    real(list, choices);
    for (uint32_t i = 0; i < choices->count && 0 != number("GBA_TEST_NEAR"); i++)
        choices->list[i].distance =
            0 == i || rank >= number("GBA_TEST_NEAR") ? GBA_DISTANCE_PIX : GBA_DISTANCE_SYS;
}

int opal_progress_register(int (*callback)(void))
{
    static bool failed;
    const char *failing = getenv("GBA_TEST_UNNOTIFIED"), *rank = getenv("PMIX_RANK");
    Dl_info info;

    REAL(opal_progress_register);
    if (!failed && failing != NULL && 0 == strcmp(failing, rank != NULL ? rank : "") &&
        0 != dladdr(*(void **)&callback, &info) && strstr(info.dli_fname, "gba") != NULL)
        return failed = true, -2; /* out of resource */
    return real(callback);
}

uint32_t gba_wire_version(void)
{
    unsigned long version = number("GBA_TEST_WIRE");

    return 0 == version ? GBA_WIRE_VERSION : (uint32_t)version;
}

int sched_yield(void)
{
    static bool shown; /* a line of each thread does no harm */
    Dl_info info;

    REAL(sched_yield);
    if (!shown && 0 != number("GBA_TEST_YIELDS") &&
        0 != dladdr(__builtin_return_address(0), &info) &&
        strstr(info.dli_fname, "libgba") != NULL) {
        shown = true;
        fprintf(stderr, "hosts_preload: libgba yields\n");
    }
    return real();
}

int ioctl(int file, unsigned long request, ...)
{
    void *argument;
    va_list args;

    va_start(args, request);
    argument = va_arg(args, void *);
    va_end(args);
    if (GBA_IOC_QUERY == request && 0 != number("GBA_TEST_ABI")) {
        ((struct gba_ioc_query *)argument)->abi_version = (uint32_t)number("GBA_TEST_ABI");
        ((struct gba_ioc_query *)argument)->regs_version = GBA_REGS_MAJOR << 16;
        return 0;
    }
    REAL(ioctl);
    return real(file, request, argument);
}

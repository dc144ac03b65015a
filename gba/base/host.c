/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/base/host.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gba/base/log.h"
#include "gba/base/namespace.h"
#include "gba/base/system_status.h"

/* A random number that the kernel draws at each boot. Unlike host names, two machines never share
 * it. */
#define BOOT_ID "/proc/sys/kernel/random/boot_id"

static gba_status_t unreadable(const char *path)
{
    const int error = errno;

    gba_log(GBA_LOG_ERROR, "cannot read %s: %s; this process shares no memory with others", path,
            strerror(error));
    return gba_system_status(error);
}

static gba_status_t read_boot_id(uint64_t id[2])
{
    uint64_t part[5];
    int parts;
    FILE *file = fopen(BOOT_ID, "re");

    if (file == NULL)
        return unreadable(BOOT_ID);
    parts = fscanf(file, "%8" SCNx64 "-%4" SCNx64 "-%4" SCNx64 "-%4" SCNx64 "-%12" SCNx64, &part[0],
                   &part[1], &part[2], &part[3], &part[4]);
    fclose(file);
    if (5 != parts) {
        gba_log(GBA_LOG_ERROR, "%s contains no boot ID; this process shares no memory with others",
                BOOT_ID);
        return GBA_ERR_IO;
    }
    id[0] = part[0] << 32 | part[1] << 16 | part[2];
    id[1] = part[3] << 48 | part[4];
    return GBA_OK;
}

static gba_status_t read_namespace(const char *name, uint64_t *id)
{
    char path[40];

    *id = gba_namespace(name);
    if (0 != *id)
        return GBA_OK;
    snprintf(path, sizeof path, "/proc/thread-self/ns/%s", name);
    return unreadable(path);
}

static gba_status_t check_proc(void)
{
    if (gba_proc_is_own())
        return GBA_OK;
    /* Without numbers the line is the same in all processes, and one process prints it for all. */
    gba_log(GBA_LOG_ERROR,
            "/proc shows the processes of another PID namespace, or none; this process shares no "
            "memory with others. Mount /proc in the container");
    return GBA_ERR_IO;
}

static gba_status_t host_read(struct gba_host *host)
{
    uint64_t ipc = 0, pid = 0, user = 0;
    gba_status_t status = check_proc();

    if (GBA_OK == status)
        status = read_boot_id(host->word);
    if (GBA_OK == status)
        status = read_namespace("ipc", &ipc);
    if (GBA_OK == status)
        status = read_namespace("pid", &pid);
    if (GBA_OK == status)
        status = read_namespace("user", &user);
    host->word[2] = ipc << 32 | pid;
    host->word[3] = user << 32 | (uint32_t)geteuid();
    return status;
}

static pthread_once_t host_once = PTHREAD_ONCE_INIT;
static struct gba_host host_mine;
static gba_status_t host_status;

static void host_read_once(void)
{
    host_status = host_read(&host_mine);
}

gba_status_t gba_host_get(struct gba_host *host)
{
    /* Once per process: every communicator calls this, and a failure is logged in one line. */
    (void)pthread_once(&host_once, host_read_once);
    if (GBA_OK == host_status)
        *host = host_mine;
    return host_status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/base/host.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
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
    char text[40] = "";
    uint64_t half[2] = {0, 0};
    unsigned digits = 0;
    FILE *file = fopen(BOOT_ID, "re");

    if (file == NULL)
        return unreadable(BOOT_ID);
    if (fgets(text, sizeof text, file) == NULL)
        text[0] = '\0';
    fclose(file);
    for (const char *c = text; '\0' != *c && digits < 32; c++) {
        const char digit[2] = {*c, '\0'};
        char *end;
        unsigned long value = strtoul(digit, &end, 16);

        if ('\0' == *end && end != digit) {
            half[digits / 16] = half[digits / 16] << 4 | value;
            digits++;
        }
    }
    if (32 != digits) {
        gba_log(GBA_LOG_ERROR, "%s contains no boot ID; this process shares no memory with others",
                BOOT_ID);
        return GBA_ERR_IO;
    }
    memcpy(id, half, sizeof half);
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

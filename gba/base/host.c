/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/base/host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gba/base/log.h"

/* The kernel makes a random one at each boot: unlike host names, two machines never share it. */
#define BOOT_ID "/proc/sys/kernel/random/boot_id"

static bool read_boot_id(uint64_t id[2])
{
    char text[40] = "";
    uint64_t half[2] = {0, 0};
    unsigned digits = 0;
    FILE *file = fopen(BOOT_ID, "re");

    if (NULL == file)
        return false;
    if (NULL == fgets(text, sizeof text, file))
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
    if (32 != digits)
        return false;
    memcpy(id, half, sizeof half);
    return true;
}

static bool read_namespace(const char *path, uint64_t *id)
{
    struct stat st;

    if (0 != stat(path, &st))
        return false;
    *id = (uint64_t)st.st_ino;
    return true;
}

gba_status_t gba_host_get(struct gba_host *host)
{
    struct gba_host h;
    uint64_t ipc, pid;

    if (!read_boot_id(h.word) || !read_namespace("/proc/self/ns/ipc", &ipc) ||
        !read_namespace("/proc/self/ns/pid", &pid)) {
        gba_log(GBA_LOG_ERROR, "cannot read the identity of this host from /proc: %s",
                strerror(errno));
        return GBA_ERR_IO;
    }
    /* Numbers of namespaces have 32 bits. */
    h.word[2] = ipc << 32 | pid;
    h.word[3] = (uint64_t)geteuid();
    *host = h;
    return GBA_OK;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* secure_getenv */
#include "gba/bootstrap/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#define TIMEOUT_DEFAULT 300u
#define TIMEOUT_MAX     2592000u

const char *gba_boot_env(const char *name)
{
    const char *value = secure_getenv(name);

    return value == NULL || '\0' == *value ? NULL : value;
}

gba_status_t gba_boot_env_number(const char *name, uint32_t max, uint32_t *value, char *message,
                                 size_t len)
{
    const char *text = gba_boot_env(name);
    unsigned long long number;
    char *end;

    if (text == NULL)
        return GBA_OK;
    errno = 0;
    number = strtoull(text, &end, 10);
    /* strtoull takes "-1" and leading spaces. */
    if (*text < '0' || *text > '9' || '\0' != *end || 0 != errno || number > max) {
        snprintf(message, len, "%s=%.32s is out of range; allowed: 0 to %u", name, text,
                 (unsigned)max);
        return GBA_ERR_PARAM;
    }
    *value = (uint32_t)number;
    return GBA_OK;
}

gba_status_t gba_boot_env_timeout(uint64_t *ns, char *message, size_t len)
{
    uint32_t seconds = TIMEOUT_DEFAULT;
    gba_status_t status =
        gba_boot_env_number("GBA_BOOTSTRAP_TIMEOUT", TIMEOUT_MAX, &seconds, message, len);

    *ns = (uint64_t)seconds * 1000000000u;
    return status;
}

gba_status_t gba_boot_random(void *buffer, size_t bytes)
{
    ssize_t got;

    /* Up to 256 bytes are never delivered in part; a signal can interrupt only the wait for the
     * system's first random numbers. */
    do {
        got = getrandom(buffer, bytes, 0);
    } while (got < 0 && EINTR == errno);
    return (ssize_t)bytes == got ? GBA_OK : GBA_ERR_IO;
}

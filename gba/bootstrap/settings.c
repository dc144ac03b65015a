/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* secure_getenv */
#include "gba/bootstrap/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "gba/params.h"

#define TIMEOUT_DEFAULT 300u
#define TIMEOUT_MAX     2592000u
#define SECOND          UINT64_C(1000000000)

const char *gba_boot_env(const char *name)
{
    const char *value = secure_getenv(name);

    return value == NULL || '\0' == *value ? NULL : value;
}

gba_status_t gba_boot_env_number(const char *name, uint32_t max, uint64_t unit, uint32_t *value,
                                 char *message, size_t len)
{
    const gba_param_t row = {.type = GBA_PARAM_UINT, .max = max, .unit = unit};
    const char *text = gba_boot_env(name);

    if (text == NULL || gba_param_set(&row, value, text))
        return GBA_OK;
    gba_param_refuse(&row, name, text, message, len);
    return GBA_ERR_PARAM;
}

gba_status_t gba_boot_env_timeout(uint64_t *ns, char *message, size_t len)
{
    uint32_t seconds = TIMEOUT_DEFAULT;
    gba_status_t status =
        gba_boot_env_number("GBA_BOOTSTRAP_TIMEOUT", TIMEOUT_MAX, SECOND, &seconds, message, len);

    *ns = seconds * SECOND;
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

/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/switch/key_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(char *reason, size_t len, const char *cause)
{
    snprintf(reason, len, "%s", cause);
    return false;
}

static bool is_private(int fd, char *reason, size_t len)
{
    struct stat status;

    if (fstat(fd, &status) != 0)
        return fail(reason, len, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return fail(reason, len, "not a regular file");
    if (status.st_uid != geteuid() && status.st_uid != 0)
        return fail(reason, len, "belongs to another user");
    if ((status.st_mode & 077) != 0)
        return fail(reason, len, "readable or writable by other users; use chmod 600");
    return true;
}

bool gba_switch_key_read(const char *path, uint8_t secret[GBA_SWITCH_SECRET_BYTES], char *reason,
                         size_t len)
{
    char text[2 * GBA_SWITCH_SECRET_BYTES + 3] = ""; /* a longer file has no key */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool found = false;
    ssize_t count;

    if (fd < 0)
        return fail(reason, len, strerror(errno));
    if (!is_private(fd, reason, len))
        goto close_file;
    count = read(fd, text, sizeof(text) - 1);
    if (count < 0)
        fail(reason, len, strerror(errno));
    else if (memchr(text, '\0', (size_t)count) != NULL || !gba_switch_secret_parse(text, secret))
        fail(reason, len, "not 32 hexadecimal digits");
    else
        found = true;
    explicit_bzero(text, sizeof(text));
close_file:
    close(fd);
    return found;
}

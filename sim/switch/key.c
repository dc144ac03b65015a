/* SPDX-License-Identifier: BSD-3-Clause */
/* The key file. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/switch/listen.h"

static bool complain(const char *path, const char *what)
{
    gba_switchd_log(GBA_SWITCHD_ERROR, "--key-file %s: %s", path, what);
    return false;
}

static bool is_safe(int fd, const char *path)
{
    struct stat status;

    if (fstat(fd, &status) != 0)
        return complain(path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return complain(path, "not a regular file");
    if (status.st_uid != geteuid() && status.st_uid != 0)
        return complain(path, "belongs to another user");
    if ((status.st_mode & 077) != 0)
        return complain(path, "readable or writable by other users; use chmod 600");
    return true;
}

bool gba_switchd_read_key(const char *path, uint8_t secret[GBA_SWITCH_SECRET_BYTES])
{
    char text[2 * GBA_SWITCH_SECRET_BYTES + 3] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool found = false;
    ssize_t count;

    if (fd < 0)
        return complain(path, strerror(errno));
    if (!is_safe(fd, path))
        goto close_file;
    count = read(fd, text, sizeof(text) - 1);
    if (count < 0)
        complain(path, strerror(errno));
    else if (memchr(text, '\0', (size_t)count) != NULL || !gba_switch_secret_parse(text, secret))
        complain(path, "not 32 hexadecimal digits");
    else
        found = true;
    explicit_bzero(text, sizeof(text));
close_file:
    close(fd);
    return found;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/switch/socket_file.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "sim/switch/log.h"

int gba_socket_file_clear(const struct sockaddr_un *address)
{
    const char *path = address->sun_path;
    struct stat status;
    int fd, error;

    if (lstat(path, &status) != 0)
        return errno == ENOENT ? 0 : errno;
    if (!S_ISSOCK(status.st_mode))
        return ENOTSOCK;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return errno;
    error = connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ? 0 : errno;
    close(fd);
    if (error != ECONNREFUSED)
        return EADDRINUSE;
    gba_switchd_log(GBA_SWITCHD_INFO, "replacing the socket %s of a process that is gone", path);
    return unlink(path) == 0 ? 0 : errno;
}

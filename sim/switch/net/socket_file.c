/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/switch/net/socket_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "sim/switch/core/log.h"

/* Attempts to lock the directory: half a second. */
#define LOCK_TRIES    50u
#define LOCK_PAUSE_NS 10000000

int gba_socket_directory_lock(const char *directory)
{
    const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return -1;
    for (unsigned i = 0; i < LOCK_TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return fd;
        nanosleep(&pause, NULL);
    }
    gba_switchd_log(GBA_SWITCHD_WARNING, "another process has locked %s; continuing", directory);
    return fd;
}

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

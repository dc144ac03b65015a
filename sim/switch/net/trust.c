/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* secure_getenv, struct ucred */
#include "sim/switch/net/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

const char *gba_switch_key_file(const char *name)
{
    if (name == NULL || name[0] == '\0' || strcmp(name, "none") == 0)
        name = secure_getenv(GBA_SWITCH_KEY_VARIABLE);
    return name == NULL || name[0] == '\0' ? NULL : name;
}

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
    /* A credential of systemd: an ACL lets the user of the service read it, and shows as the
     * permission of its group. The members of the group root are root's anyway. */
    if (status.st_uid == 0 && status.st_gid == 0 && (status.st_mode & 0777) == 0440)
        return true;
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
    int error;

    if (fd < 0) {
        error = errno;
        fail(reason, len, strerror(error));
        errno = error;
        return false;
    }
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
    errno = 0;
    return found;
}

/* Whether that is the name or the number of the user. */
static bool is_user(const char *name, uid_t user)
{
    struct passwd entry, *found = NULL;
    char text[16], buffer[4096];

    snprintf(text, sizeof(text), "%u", (unsigned)user);
    if (strcmp(name, text) == 0)
        return true;
    return getpwnam_r(name, &entry, buffer, sizeof(buffer), &found) == 0 && found != NULL &&
           found->pw_uid == user;
}

bool gba_switch_listener_trusted(int fd, const char *owner, char *reason, size_t len)
{
    socklen_t size = sizeof(struct ucred);
    struct ucred peer;

    if (owner[0] == '\0')
        owner = GBA_SWITCH_USER;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return fail(reason, len, strerror(errno));
    if (peer.uid == 0 || peer.uid == geteuid() || is_user(owner, peer.uid))
        return true;
    snprintf(reason, len,
             "user %u listens there, not root, %s or this user (%u); if you trust user %u, append "
             "?owner=%u to the path",
             (unsigned)peer.uid, owner, (unsigned)geteuid(), (unsigned)peer.uid,
             (unsigned)peer.uid);
    return false;
}

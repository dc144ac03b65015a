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

#ifdef GBA_HAVE_MUNGE
#include <munge.h>
#endif

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

/* --- Munge --- */

bool gba_switch_auth_valid(const char *auth)
{
#ifdef GBA_HAVE_MUNGE
    if (strcmp(auth, "munge") == 0 || strncmp(auth, "munge:/", strlen("munge:/")) == 0)
        return true;
#endif
    return strcmp(auth, "key") == 0;
}

#ifdef GBA_HAVE_MUNGE
/* What a credential is for: no other service of munge takes it for one of its own. */
static const char purpose[] = "gba-switchd";

static munge_ctx_t context_new(const char *auth)
{
    const char *socket = strchr(auth, ':');
    munge_ctx_t context = munge_ctx_create();

    if (context != NULL && socket != NULL &&
        munge_ctx_set(context, MUNGE_OPT_SOCKET, socket + 1) != EMUNGE_SUCCESS) {
        munge_ctx_destroy(context);
        context = NULL;
    }
    return context;
}

bool gba_switch_credential_make(const char *auth, char text[GBA_SWITCH_CREDENTIAL_MAX + 1],
                                char *reason, size_t len)
{
    munge_ctx_t context = context_new(auth);
    char *made = NULL;
    munge_err_t error;
    bool good;

    if (context == NULL)
        return fail(reason, len, "out of memory");
    error = munge_encode(&made, context, purpose, sizeof(purpose));
    good = error == EMUNGE_SUCCESS && strlen(made) <= GBA_SWITCH_CREDENTIAL_MAX;
    if (good)
        strcpy(text, made);
    else
        snprintf(reason, len, "munge: %s",
                 error == EMUNGE_SUCCESS ? "the credential is too long" : munge_strerror(error));
    free(made);
    munge_ctx_destroy(context);
    return good;
}

bool gba_switch_credential_check(const char *auth, const char *text, uint32_t *user, bool *down,
                                 char *reason, size_t len)
{
    munge_ctx_t context = context_new(auth);
    void *payload = NULL;
    int size = 0;
    munge_err_t error;
    uid_t uid;
    gid_t gid;
    bool good;

    *down = false;
    if (context == NULL)
        return fail(reason, len, "out of memory");
    error = munge_decode(text, context, &payload, &size, &uid, &gid);
    good = error == EMUNGE_SUCCESS && size == sizeof(purpose) &&
           memcmp(payload, purpose, sizeof(purpose)) == 0;
    if (good)
        *user = uid;
    else
        snprintf(reason, len, "munge: %s",
                 error == EMUNGE_SUCCESS ? "a credential for something else"
                                         : munge_strerror(error));
    *down = error == EMUNGE_SOCKET || error == EMUNGE_TIMEOUT || error == EMUNGE_SNAFU;
    free(payload);
    munge_ctx_destroy(context);
    return good;
}
#else
bool gba_switch_credential_make(const char *auth, char text[GBA_SWITCH_CREDENTIAL_MAX + 1],
                                char *reason, size_t len)
{
    (void)auth;
    (void)text;
    return fail(reason, len, "built without libmunge");
}

bool gba_switch_credential_check(const char *auth, const char *text, uint32_t *user, bool *down,
                                 char *reason, size_t len)
{
    (void)auth;
    (void)text;
    (void)user;
    *down = false;
    return fail(reason, len, "built without libmunge");
}
#endif

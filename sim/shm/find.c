/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How processes of one user find a simulator that has no name in any file system.
 *
 * The segment is a memfd. It disappears with the last process that has it open, even if that
 * process is killed. A later process finds it in /proc, among the open files of the user's
 * processes. An abstract socket ensures that the first two processes make one segment and not two:
 * the maker binds it, and the kernel drops it when its holder dies.
 *
 * Both names contain the IPC, PID and network namespaces, because shared memory, process numbers
 * and abstract sockets are valid only inside them. Two containers therefore count as two hosts. The
 * name of the socket has no room for the time namespace. Across time namespaces all processes look
 * dead to each other, because their start times differ. The time namespace is therefore in the
 * segment's header. Processes of two time namespaces that make a simulator of the same name do so
 * one after the other, and each skips the other's segment.
 */
#define _GNU_SOURCE /* O_PATH, ucred */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "gba/base/log.h"
#include "gba/base/namespace.h"
#include "gba/base/open_files.h"
#include "gba/base/system_status.h"
#include "sim/shm/find.h"

#define LOCK_PREFIX "gba-sim-lock:"

_Static_assert(1 + sizeof LOCK_PREFIX + GBA_SIM_ID_MAX <= sizeof((struct sockaddr_un *)0)->sun_path,
               "the name of the lock fits an abstract socket");
_Static_assert(2 + 9 * 4 + GBA_SIM_NAME_MAX + 1 <= GBA_SIM_ID_MAX, "the longest name fits an id");

gba_status_t gba_sim_id(char id[GBA_SIM_ID_MAX], const char *name, const char *job)
{
    char host[40];

    if (!gba_proc_is_own()) {
        gba_log(GBA_LOG_ERROR,
                "sim: /proc does not show the processes of this PID namespace. Mount /proc in the "
                "container");
        return GBA_ERR_IO;
    }
    snprintf(host, sizeof host, "%x:%x:%x:%x", (unsigned int)geteuid(), gba_namespace("ipc"),
             gba_namespace("pid"), gba_namespace("net"));
    if (name != NULL && '@' == name[0])
        snprintf(id, GBA_SIM_ID_MAX, "%c:%s:%.*s", GBA_SIM_KEY_JOB == strlen(name + 1) ? 'j' : 'p',
                 host, GBA_SIM_KEY_JOB, name + 1);
    else if (name != NULL)
        snprintf(id, GBA_SIM_ID_MAX, "n:%s:%.*s", host, GBA_SIM_NAME_MAX, name);
    else if (job != NULL)
        snprintf(id, GBA_SIM_ID_MAX, "j:%s:%016llx", host, (unsigned long long)gba_dev_job(job));
    else
        snprintf(id, GBA_SIM_ID_MAX, "p:%s:%ld", host, (long)getpid());
    return GBA_OK;
}

uint32_t gba_sim_clock_id(void)
{
    return gba_namespace("time");
}

/* A search for the files with that link. */
struct search {
    const char *link;
    gba_status_t (*take)(void *ctx, int file);
    void *ctx;
};

/* Pass a matching file to `take`. A file that this process cannot open may be the simulator, so the
 * caller must not make another one. */
static gba_status_t file_take(void *ctx, const struct gba_open_file *found)
{
    const struct search *search = ctx;
    gba_status_t status;
    int file, error;

    if (0 != strcmp(found->target, search->link))
        return GBA_INPROGRESS;
    file = openat(found->directory, found->name, O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (file < 0) {
        error = errno;
        if (ENOENT == error || ESRCH == error)
            return GBA_INPROGRESS;
        gba_log(GBA_LOG_ERROR, "sim: cannot open the running simulated device: %s",
                strerror(error));
        return gba_system_status(error);
    }
    status = search->take(search->ctx, file);
    if (GBA_OK != status)
        close(file);
    return status;
}

/* The same for the files of one process of this user. */
static gba_status_t find_in_process(int proc, const char *pid, struct search *search)
{
    struct stat st;

    if (0 != fstatat(proc, pid, &st, 0) || st.st_uid != geteuid())
        return GBA_INPROGRESS;
    return gba_open_files(proc, pid, file_take, search);
}

static gba_status_t proc_unreadable(void)
{
    const int error = errno;

    gba_log(GBA_LOG_ERROR, "sim: cannot read /proc: %s", strerror(error));
    return gba_system_status(error);
}

static gba_status_t find_in_all(struct search *search)
{
    gba_status_t status = GBA_INPROGRESS;
    DIR *proc = opendir("/proc");
    const struct dirent *entry;

    if (proc == NULL)
        return proc_unreadable();
    while (GBA_INPROGRESS == status && (entry = readdir(proc)) != NULL)
        if (isdigit((unsigned char)entry->d_name[0]))
            status = find_in_process(dirfd(proc), entry->d_name, search);
    closedir(proc);
    return status;
}

gba_status_t gba_sim_find(const char *id, pid_t pid, gba_status_t (*take)(void *ctx, int file),
                          void *ctx)
{
    char link[GBA_SIM_ID_MAX + 40], only[16];
    struct search search = {.link = link, .take = take, .ctx = ctx};
    gba_status_t status;
    int proc;

    snprintf(link, sizeof link, "/memfd:" GBA_SIM_FILE_NAME " (deleted)", id);
    if (0 == pid)
        return find_in_all(&search);
    proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (proc < 0)
        return proc_unreadable();
    snprintf(only, sizeof only, "%ld", (long)pid);
    status = find_in_process(proc, only, &search);
    close(proc);
    return status;
}

bool gba_sim_identify(const char *link, char *path, size_t len)
{
    static const char prefix[] = "/memfd:gba-sim:", suffix[] = " (deleted)";
    char id[GBA_SIM_ID_MAX] = "", host[GBA_SIM_ID_MAX];
    size_t owner, length = strlen(link);

    if (0 != strncmp(link, prefix, sizeof prefix - 1) || length < sizeof prefix + sizeof suffix ||
        0 != strcmp(link + length - (sizeof suffix - 1), suffix))
        return false;
    snprintf(id, sizeof id, "%.*s", (int)(length - (sizeof prefix - 1) - (sizeof suffix - 1)),
             link + sizeof prefix - 1);
    /* An id of this process has the same user and namespaces: the text between the kind and the
     * last colon. */
    if (GBA_OK != gba_sim_id(host, NULL, NULL))
        return false;
    owner = (size_t)(strrchr(host, ':') + 1 - host);
    if (('n' != id[0] && 'j' != id[0] && 'p' != id[0]) || 0 != memcmp(id + 1, host + 1, owner - 1))
        return false;
    snprintf(path, len, "sim:%s%s", 'n' == id[0] ? "" : "@", id + owner);
    return true;
}

int gba_sim_maker_lock(const char *id, int *holder)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int err, made = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    socklen_t len;

    *holder = -1;
    if (made < 0)
        return -1;
    /* An abstract name begins with a zero byte. The address length ends it. */
    len = (socklen_t)snprintf(address.sun_path + 1, sizeof address.sun_path - 1, LOCK_PREFIX "%s",
                              id);
    len += (socklen_t)offsetof(struct sockaddr_un, sun_path) + 1;
    if (0 == bind(made, (const struct sockaddr *)&address, len) && 0 == listen(made, SOMAXCONN))
        return made;
    err = errno;
    /* Who waits is connected, and never accepted: the end of the lock ends the connection. */
    if (EADDRINUSE == err && 0 == connect(made, (const struct sockaddr *)&address, len))
        *holder = made;
    else
        close(made);
    errno = err;
    return -1;
}

pid_t gba_sim_maker_wait(int holder, int ms)
{
    struct pollfd end = {.fd = holder}; /* POLLHUP */
    struct ucred maker = {.pid = 0};
    socklen_t len = sizeof maker;

    if (poll(&end, 1, ms) <= 0 || 0 != getsockopt(holder, SOL_SOCKET, SO_PEERCRED, &maker, &len))
        return 0;
    return maker.pid;
}

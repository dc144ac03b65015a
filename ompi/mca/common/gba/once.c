/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that one process of a job prints for all processes on its host. The first process to
 * report a topic binds an abstract Unix socket whose name is derived from user, job and topic, and
 * keeps it until its component closes. All other processes find the name in use. The kernel
 * releases the name when its holder ends, so no file is left behind. Any process may be the first:
 * a message reports what that process itself has found.
 *
 * Abstract sockets belong to a network namespace, so a container with its own network is a separate
 * host here. If the system offers no socket, the first process on the node reports.
 */
#include "ompi/mca/common/gba/compat.h"
#include "ompi/mca/common/gba/report.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Each reported topic costs a file descriptor. Beyond this limit the first process on the node
 * reports. */
#define TOPICS_MAX 32u

static opal_mutex_t once_lock = OPAL_MUTEX_STATIC_INIT;
static int once_sockets[TOPICS_MAX];
/* Hash of each topic that this process reported; topics may be longer than a socket's name. */
static uint64_t once_topics[TOPICS_MAX];
static unsigned once_count;

/* Bind the name. Returns the socket; -1: another process has it; -2: there is no socket. */
static int name_bind(uint64_t job, uint64_t topic)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int len, fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -2;
    /* An abstract name begins with a zero byte; the length gives its end. */
    len = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "gba-report:%u:%llx:%llx",
                   (unsigned)geteuid(), (unsigned long long)job, (unsigned long long)topic);
    if (0 == bind(fd, (const struct sockaddr *)&address,
                  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len)))
        return fd;
    len = EADDRINUSE == errno ? -1 : -2;
    close(fd);
    return len;
}

/* Under the lock. */
static bool topic_known(uint64_t topic)
{
    for (unsigned i = 0; i < once_count; i++)
        if (once_topics[i] == topic)
            return true;
    return false;
}

bool gba_common_first_on_host(const char *topic)
{
    uint64_t hash = gba_common_hash(GBA_COMMON_HASH_START, topic);
    bool first = 0 == opal_process_info.my_local_rank;
    /* The name of a job is unique among the jobs of one mpirun; its daemon's address is unique on
     * the host. */
    const char *daemon = getenv("PMIX_SERVER_URI2");
    char job[256];
    int fd = -2;

    gba_compat_job_name(job, sizeof job);
    opal_mutex_lock(&once_lock);
    if (topic_known(hash)) {
        first = false;
    } else if (once_count < TOPICS_MAX) {
        fd = name_bind(gba_common_hash(gba_common_hash(GBA_COMMON_HASH_START, job),
                                       daemon == NULL ? "" : daemon),
                       hash);
        first = fd >= 0 || (-2 == fd && first);
        once_sockets[once_count] = fd;
        once_topics[once_count++] = hash; /* tried once, whichever process is first */
    }
    opal_mutex_unlock(&once_lock);
    return first;
}

void gba_common_first_close(void)
{
    opal_mutex_lock(&once_lock);
    for (unsigned i = 0; i < once_count; i++)
        if (once_sockets[i] >= 0)
            close(once_sockets[i]);
    once_count = 0;
    opal_mutex_unlock(&once_lock);
}

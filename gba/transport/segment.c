/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fallocate, F_ADD_SEALS */
#endif
#include "gba/transport/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gba/base/log.h"
#include "gba/base/memory_file.h"
#include "gba/base/process.h"
#include "gba/base/system_status.h"

#define SEGMENT_VERSION 2u
#define SEGMENT_SEALS   (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* The first line of a segment. */
struct header {
    uint64_t cookie[2];
    uint32_t version;
    uint32_t members, slots, reserved;
};
_Static_assert(sizeof(struct header) <= GBA_SEGMENT_SLEEPERS, "the header fits before the words");
_Static_assert(sizeof(gba_word_t) == 8, "one store writes one word");

static uint32_t row_bytes(uint32_t slots)
{
    return (slots * GBA_SLOT_SIZE + GBA_SEGMENT_STRIDE - 1) / GBA_SEGMENT_STRIDE *
           GBA_SEGMENT_STRIDE;
}

static size_t segment_bytes(uint32_t members, uint32_t slots)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes = GBA_SEGMENT_SLOTS + (size_t)members * row_bytes(slots);

    return (bytes + page - 1) / page * page;
}

/* The status for an errno. */
static gba_status_t status_of(int error)
{
    switch (error) {
    case ENOENT:
    case ESRCH:
    case ENXIO:
    case ENOTDIR:
        return GBA_ERR_STALE;
    case ENOSYS:
        return GBA_ERR_UNSUPPORTED;
    default:
        return gba_system_status(error);
    }
}

static gba_status_t report(const char *what, int error)
{
    gba_log(GBA_LOG_WARN, "shared memory of a team: %s: %s", what, strerror(error));
    return status_of(error);
}

/* An anonymous file of that size, fully allocated, which no process can shrink. */
static gba_status_t make_file(size_t bytes, int *result)
{
    struct rlimit limit;
    gba_status_t status;
    bool failed;
    int fd;

    /* Beyond this limit fallocate would kill the process with SIGXFSZ. */
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < (rlim_t)bytes)
        return report("limit of the file size (ulimit -f)", EFBIG);
    fd = gba_memory_file("gba-team");
    if (fd < 0)
        return report("anonymous file", errno);
    /* Not ftruncate: a missing page must be an error here, not SIGBUS in a barrier. */
    do /* repeat after a signal, for example of a profiler's timer */
        failed = fallocate(fd, 0, 0, (off_t)bytes) != 0;
    while (failed && errno == EINTR);
    if (failed) {
        status = report("fallocate", errno);
        goto close_file;
    }
    /* If a member could shrink the file, the other members would die of SIGBUS. */
    if (fcntl(fd, F_ADD_SEALS, SEGMENT_SEALS) != 0) {
        status = report("F_ADD_SEALS", errno);
        goto close_file;
    }
    *result = fd;
    return GBA_OK;

close_file:
    close(fd);
    return status;
}

static gba_status_t map_file(int fd, uint32_t members, uint32_t slots, struct gba_segment *segment)
{
    size_t bytes = segment_bytes(members, slots);
    /* Populated, so that the first barrier takes no page faults. */
    void *base = gba_map_shared(bytes, PROT_READ | PROT_WRITE, MAP_POPULATE, fd, 0);

    if (base == MAP_FAILED)
        return report("mmap (limits: ulimit -v, vm.max_map_count)", errno);
    *segment = (struct gba_segment){.base = base,
                                    .bytes = bytes,
                                    .members = members,
                                    .slots = slots,
                                    .row = row_bytes(slots),
                                    .file = {.number = -1}};
    return GBA_OK;
}

/* No other process has the segment yet. The message that announces it orders these stores. */
static void fill(const struct gba_segment *segment, const uint64_t cookie[2], uint32_t sequence)
{
    struct header *header = (struct header *)(void *)segment->base;

    *header = (struct header){.cookie = {cookie[0], cookie[1]},
                              .version = SEGMENT_VERSION,
                              .members = segment->members,
                              .slots = segment->slots};
    gba_word_store_relaxed(gba_segment_word(segment, GBA_SEGMENT_SLEEPERS), 0);
    gba_word_store_relaxed(gba_segment_word(segment, GBA_SEGMENT_FAILED), 0);
    gba_word_store_relaxed(gba_segment_word(segment, GBA_SEGMENT_ARRIVED), 0);
    gba_word_store_relaxed(gba_segment_word(segment, GBA_SEGMENT_RELEASE), sequence);
    for (uint32_t member = 0; member < segment->members; member++) {
        for (uint32_t slot = 0; slot < segment->slots; slot++) {
            gba_word_t *word = gba_segment_slots(segment, member);

            gba_word_store_relaxed(word + slot * (GBA_SLOT_SIZE / sizeof *word), sequence);
        }
    }
}

gba_status_t gba_shm_segment_create(uint32_t members, uint32_t slots, uint32_t sequence,
                                    struct gba_segment *segment, struct gba_segment_handle *handle)
{
    gba_status_t status;
    uint64_t cookie[2];
    int fd = -1;

    if (members == 0 || members > GBA_SEGMENT_MEMBERS_MAX || slots > GBA_SEGMENT_SLOTS_MAX) {
        gba_log(GBA_LOG_ERROR,
                "shared memory of a team: %u members with %u slots; at most %u with %u are allowed",
                members, slots, GBA_SEGMENT_MEMBERS_MAX, GBA_SEGMENT_SLOTS_MAX);
        return GBA_ERR_PARAM;
    }
    if (getrandom(cookie, sizeof cookie, 0) != (ssize_t)sizeof cookie)
        return report("getrandom", errno);
    status = make_file(segment_bytes(members, slots), &fd);
    if (status != GBA_OK)
        return status;
    status = map_file(fd, members, slots, segment);
    if (status != GBA_OK)
        goto close_file;
    if (!gba_descriptor_keep(&segment->file, fd)) {
        status = report("fstat", errno);
        gba_shm_segment_close(segment);
        goto close_file;
    }
    fill(segment, cookie, sequence);
    *handle = (struct gba_segment_handle){.cookie = {cookie[0], cookie[1]},
                                          .pid = (uint32_t)getpid(),
                                          .fd = (uint32_t)fd,
                                          .members = members,
                                          .slots = slots};
    return GBA_OK;

close_file:
    close(fd);
    return status;
}

/* Open a file of another process under the number of one of its threads. path: at least 64 bytes.
 */
static int open_file(uint32_t thread, uint32_t number, char *path)
{
    snprintf(path, 64, "/proc/%u/fd/%u", thread, number);
    /* The number may refer to another file by now: do not block on a FIFO, do not acquire a
     * controlling terminal. */
    return open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* Whether the file can be the segment, judged without reading it. */
static gba_status_t check_file(int fd, size_t bytes)
{
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);

    if (fstat(fd, &st) != 0)
        return report("fstat", errno);
    if (st.st_uid != geteuid()) {
        gba_log(GBA_LOG_WARN,
                "shared memory of a team: the file belongs to user %u, not to user %u",
                (unsigned)st.st_uid, (unsigned)geteuid());
        return GBA_ERR_PERM;
    }
    /* Only a memfd has seals. These seals prevent shrinking. */
    if (seals < 0 || (seals & SEGMENT_SEALS) != SEGMENT_SEALS || st.st_size != (off_t)bytes) {
        gba_log(GBA_LOG_WARN,
                "shared memory of a team: not the leader's file (seals or size differ)");
        return GBA_ERR_STALE;
    }
    return GBA_OK;
}

static gba_status_t check_header(const struct gba_segment *segment,
                                 const struct gba_segment_handle *handle)
{
    const struct header *header = (const struct header *)(void *)segment->base;

    if (memcmp(header->cookie, handle->cookie, sizeof header->cookie) != 0) {
        gba_log(GBA_LOG_WARN, "shared memory of a team: the segment belongs to another team");
        return GBA_ERR_STALE;
    }
    if (header->version != SEGMENT_VERSION) {
        gba_log(GBA_LOG_WARN,
                "shared memory of a team: the segment has layout %u, this library has layout %u",
                header->version, SEGMENT_VERSION);
        return GBA_ERR_VERSION;
    }
    return GBA_OK;
}

gba_status_t gba_shm_segment_attach(const struct gba_segment_handle *handle,
                                    struct gba_segment *segment)
{
    struct gba_segment mapped;
    gba_status_t status;
    char path[64];
    int fd;

    if (handle->members == 0 || handle->members > GBA_SEGMENT_MEMBERS_MAX ||
        handle->slots > GBA_SEGMENT_SLOTS_MAX) {
        gba_log(GBA_LOG_ERROR, "shared memory of a team: invalid handle");
        return GBA_ERR_STALE;
    }
    fd = open_file(handle->pid, handle->fd, path);
    if (fd < 0) /* the first thread may have ended */
        fd = open_file(gba_process_thread(handle->pid), handle->fd, path);
    if (fd < 0)
        return report(path, errno);
    status = check_file(fd, segment_bytes(handle->members, handle->slots));
    if (status != GBA_OK)
        goto close_file;
    status = map_file(fd, handle->members, handle->slots, &mapped);
    if (status != GBA_OK)
        goto close_file;
    status = check_header(&mapped, handle);
    if (status == GBA_OK)
        *segment = mapped;
    else
        gba_shm_segment_close(&mapped);

close_file: /* the mapping does not need the descriptor */
    close(fd);
    return status;
}

void gba_shm_segment_shut(struct gba_segment *segment)
{
    gba_descriptor_close(&segment->file);
}

void gba_shm_segment_close(struct gba_segment *segment)
{
    gba_shm_segment_shut(segment);
    munmap(segment->base, segment->bytes);
    segment->base = NULL;
}

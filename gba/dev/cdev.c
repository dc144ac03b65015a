/* SPDX-License-Identifier: BSD-3-Clause */
/* The backend for real hardware: /dev/gbaN, as gba_ioctl.h has it. */
#define _GNU_SOURCE
#include "gba/dev/cdev.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gba/base/log.h"
#include "gba/dev/dev_ops.h"
#include "gba/spec/gba_ioctl.h"

#define FLAGS GBA_GROUPS /* a process is in each group of a device once at most */

struct cdev {
    struct gba_dev dev;
    int file;
    pid_t owner;          /* a fork()ed child has the file, but not the memberships */
    pthread_mutex_t lock; /* of what follows */
    unsigned char *flags; /* FLAGS slots, GBA_FLAG_STRIDE apart; NULL until one is needed */
    bool flag_used[FLAGS];
    void *bar; /* the whole BAR, for diagnosis; NULL until it is needed */
};

struct cdev_seat {
    struct gba_seat seat;
    size_t doorbell_size;
    int flag; /* slot, or -1 */
};

_Static_assert(offsetof(struct cdev, dev) == 0 && offsetof(struct cdev_seat, seat) == 0,
               "a pointer to one is a pointer to the other");

static int sys_open(const char *path, int flags)
{
    return open(path, flags);
}

static int sys_ioctl(int file, unsigned long request, void *arg)
{
    return ioctl(file, request, arg);
}

static void *sys_mmap(size_t len, int prot, int file, off_t offset)
{
    return mmap(NULL, len, prot, MAP_SHARED, file, offset);
}

static const struct gba_cdev_sys kernel = {sys_open, close, fstat, sys_ioctl, sys_mmap, munmap};
const struct gba_cdev_sys *gba_cdev_sys = &kernel;

static struct cdev *cdev_of(struct gba_dev *dev)
{
    return (struct cdev *)dev;
}

/* One ioctl; 0 or an error number. The driver may be interrupted while it waits for the device. */
static int cdev_call(const struct cdev *cdev, unsigned long request, void *arg)
{
    int rc;

    do
        rc = gba_cdev_sys->ioctl(cdev->file, request, arg);
    while (rc < 0 && EINTR == errno);
    return rc < 0 ? errno : 0;
}

/* What an error number of the driver means, and a line for those that nobody expects. */
static gba_status_t cdev_status(const char *call, int error)
{
    static const struct {
        int error;
        gba_status_t status;
    } expected[] = {
        {0, GBA_OK},
        {ENOSPC, GBA_ERR_NO_GROUP},
        {ESTALE, GBA_ERR_STALE},
        {EBUSY, GBA_ERR_BUSY},
        {EAGAIN, GBA_ERR_BUSY}, /* CONFIGURE: a member is missing */
        {EPERM, GBA_ERR_REFUSED},
        {ENOMEM, GBA_ERR_NOMEM},
        {ENODEV, GBA_ERR_DEAD},
    };

    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        if (expected[i].error == error)
            return expected[i].status;
    gba_log(GBA_LOG_ERROR, "cdev: %s: %s", call, strerror(error));
    return GBA_ERR_IO;
}

static gba_status_t open_failed(const char *path, int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ENODEV:
    case ENXIO:
        return GBA_ERR_NO_DEVICE; /* common, and the caller knows whether it matters */
    case EACCES:
    case EPERM:
        gba_log(GBA_LOG_ERROR, "%s: permission denied; reading and writing it must be allowed",
                path);
        return GBA_ERR_PERM;
    case EISDIR:
        gba_log(GBA_LOG_ERROR, "%s is not a GBA device: it is a directory", path);
        return GBA_ERR_NOT_GBA;
    default:
        gba_log(GBA_LOG_ERROR, "%s: %s", path, strerror(error));
        return GBA_ERR_IO;
    }
}

/* Whether the open file is a GBA that speaks our language. */
static gba_status_t cdev_probe(const struct cdev *cdev, const char *path)
{
    struct gba_ioc_query query = {.size = sizeof query};
    struct stat st;
    int error;

    if (0 != gba_cdev_sys->fstat(cdev->file, &st) || !S_ISCHR(st.st_mode)) {
        gba_log(GBA_LOG_ERROR, "%s is not a GBA device: it is not a character device", path);
        return GBA_ERR_NOT_GBA;
    }
    error = cdev_call(cdev, GBA_IOC_QUERY, &query);
    if (ENOTTY == error || ENOSYS == error || EOPNOTSUPP == error) {
        gba_log(GBA_LOG_ERROR, "%s is not a GBA device: it does not know the query", path);
        return GBA_ERR_NOT_GBA;
    }
    if (EINVAL == error || (0 == error && (GBA_ABI_VERSION != query.abi_version ||
                                           GBA_REGS_MAJOR != query.regs_version >> 16))) {
        gba_log(GBA_LOG_ERROR,
                "%s has interface version %u, registers %u.%u; this library has interface %u, "
                "registers %u.%u",
                path, query.abi_version, query.regs_version >> 16, query.regs_version & 0xFFFFu,
                GBA_ABI_VERSION, GBA_REGS_MAJOR, GBA_REGS_MINOR);
        return GBA_ERR_VERSION;
    }
    return cdev_status("query", error);
}

static gba_status_t cdev_open(const struct gba_dev_path *path, const gba_device_attr_t *attr,
                              struct gba_dev **dev)
{
    struct cdev *cdev = calloc(1, sizeof *cdev);
    gba_status_t status;

    (void)attr; /* one device serves all jobs */
    if (NULL == cdev)
        return GBA_ERR_NOMEM;
    cdev->dev.ops = &gba_dev_cdev;
    cdev->owner = getpid();
    /* Nonblocking and no terminal: it may be some other device that the user named by mistake. */
    cdev->file = gba_cdev_sys->open(path->file, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (cdev->file < 0) {
        status = open_failed(path->file, errno);
        goto free_cdev;
    }
    status = cdev_probe(cdev, path->file);
    if (GBA_OK != status)
        goto close_file;
    pthread_mutex_init(&cdev->lock, NULL);
    *dev = &cdev->dev;
    return GBA_OK;

close_file:
    gba_cdev_sys->close(cdev->file);
free_cdev:
    free(cdev);
    return status;
}

static void cdev_close(struct gba_dev *dev)
{
    struct cdev *cdev = cdev_of(dev);

    if (NULL != cdev->bar)
        gba_cdev_sys->munmap(cdev->bar, GBA_BAR_SIZE);
    gba_cdev_sys->close(cdev->file);
    /* After the file: until it is closed the device may still write to a flag. */
    if (NULL != cdev->flags)
        munmap(cdev->flags, FLAGS * GBA_FLAG_STRIDE);
    pthread_mutex_destroy(&cdev->lock);
    free(cdev);
}

static gba_status_t cdev_query(struct gba_dev *dev, gba_device_info_t *info)
{
    struct gba_ioc_query query = {.size = sizeof query};
    int error = cdev_call(cdev_of(dev), GBA_IOC_QUERY, &query);

    if (0 != error)
        return cdev_status("query", error);
    memset(info, 0, sizeof *info);
    memcpy(info->uuid, query.uuid, sizeof info->uuid);
    info->regs_version = query.regs_version;
    info->groups = query.groups;
    info->groups_free = query.groups_free;
    info->members_max = query.members_max;
    info->dead = GBA_DEV_STATE_UP != query.state;
    info->bad_access = query.bad_access;
    memcpy(info->counters, query.counters, sizeof info->counters);
    return GBA_OK;
}

static gba_status_t cdev_alloc(struct gba_dev *dev, uint32_t members, gba_ticket_t *ticket)
{
    struct gba_ioc_alloc alloc = {.size = sizeof alloc, .members = members};
    int error = cdev_call(cdev_of(dev), GBA_IOC_ALLOC, &alloc);

    if (0 != error)
        return cdev_status("alloc", error);
    ticket->group = alloc.group;
    ticket->generation = alloc.generation;
    ticket->key = alloc.key;
    return GBA_OK;
}

static void cdev_free(struct cdev *cdev, uint32_t group, uint32_t generation, uint32_t member)
{
    struct gba_ioc_free request = {
        .size = sizeof request, .group = group, .generation = generation, .member = member};
    int error = cdev_call(cdev, GBA_IOC_FREE, &request);

    /* Stale, dead: it is gone already, which is what was wanted. */
    if (0 != error && ESTALE != error && ENODEV != error)
        cdev_status("free", error);
}

static void cdev_cancel(struct gba_dev *dev, const gba_ticket_t *ticket)
{
    cdev_free(cdev_of(dev), ticket->group, ticket->generation, GBA_MEMBER_NONE);
}

static gba_status_t cdev_join(struct gba_dev *dev, const gba_ticket_t *ticket, uint32_t member,
                              struct gba_seat **seat)
{
    struct gba_ioc_join join = {.size = sizeof join,
                                .group = ticket->group,
                                .generation = ticket->generation,
                                .key = ticket->key,
                                .member = member};
    struct cdev_seat *s = calloc(1, sizeof *s);
    gba_status_t status;
    void *page;
    int error;

    if (NULL == s)
        return GBA_ERR_NOMEM;
    error = cdev_call(cdev_of(dev), GBA_IOC_JOIN, &join);
    if (0 != error) {
        status = cdev_status("join", error);
        goto free_seat;
    }
    /* Beyond the doorbell page there is nothing that we want to be able to write to. */
    if (join.doorbell_size < sizeof(uint64_t) || join.doorbell_size > GBA_DOORBELL_STRIDE) {
        gba_log(GBA_LOG_ERROR, "cdev: join: the driver offers a doorbell of %llu bytes",
                (unsigned long long)join.doorbell_size);
        status = GBA_ERR_IO;
        goto leave_group;
    }
    s->doorbell_size = (size_t)join.doorbell_size;
    page = gba_cdev_sys->mmap(s->doorbell_size, PROT_WRITE, cdev_of(dev)->file,
                              (off_t)join.doorbell_offset);
    if (MAP_FAILED == page) {
        status = cdev_status("mapping of the doorbell", errno);
        goto leave_group;
    }
    s->seat.doorbell = page;
    s->seat.dev = dev;
    s->seat.group = ticket->group;
    s->seat.generation = ticket->generation;
    s->seat.member = member;
    s->seat.members = ticket->members;
    s->flag = -1;
    *seat = &s->seat;
    return GBA_OK;

leave_group:
    cdev_free(cdev_of(dev), ticket->group, ticket->generation, member);
free_seat:
    free(s);
    return status;
}

/* A slot in the page of flags, or -1: no memory. */
static int flag_take(struct cdev *cdev)
{
    int slot = -1;
    void *page;

    pthread_mutex_lock(&cdev->lock);
    if (NULL == cdev->flags) {
        page = mmap(NULL, FLAGS * GBA_FLAG_STRIDE, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (MAP_FAILED != page) {
            /* After a fork, a write of the parent would give it a copy of the page, while the
             * device goes on writing to the one that it has pinned. */
            madvise(page, FLAGS * GBA_FLAG_STRIDE, MADV_DONTFORK);
            cdev->flags = page;
        }
    }
    for (int i = 0; NULL != cdev->flags && i < (int)FLAGS && slot < 0; i++)
        if (!cdev->flag_used[i]) {
            cdev->flag_used[i] = true;
            slot = i;
        }
    pthread_mutex_unlock(&cdev->lock);
    return slot;
}

static void flag_give(struct cdev *cdev, int slot)
{
    pthread_mutex_lock(&cdev->lock);
    cdev->flag_used[slot] = false;
    pthread_mutex_unlock(&cdev->lock);
}

static gba_status_t cdev_map_flag(struct gba_seat *seat)
{
    struct cdev *cdev = cdev_of(seat->dev);
    struct gba_ioc_map_flag map = {.size = sizeof map,
                                   .group = seat->group,
                                   .generation = seat->generation,
                                   .member = seat->member};
    int slot = flag_take(cdev), error;
    gba_word_t *flag;

    if (slot < 0)
        return GBA_ERR_NOMEM;
    flag = (gba_word_t *)(void *)(cdev->flags + (size_t)slot * GBA_FLAG_STRIDE);
    map.addr = (uint64_t)(uintptr_t)flag;
    error = cdev_call(cdev, GBA_IOC_MAP_FLAG, &map);
    if (0 != error) {
        flag_give(cdev, slot);
        return cdev_status("map_flag", error);
    }
    ((struct cdev_seat *)seat)->flag = slot;
    seat->flag = flag;
    return GBA_OK;
}

static gba_status_t cdev_configure(struct gba_seat *seat, uint32_t sequence)
{
    struct gba_ioc_configure configure = {.size = sizeof configure,
                                          .group = seat->group,
                                          .generation = seat->generation,
                                          .sequence = sequence};

    return cdev_status("configure", cdev_call(cdev_of(seat->dev), GBA_IOC_CONFIGURE, &configure));
}

static void cdev_leave(struct gba_seat *seat)
{
    struct cdev *cdev = cdev_of(seat->dev);
    struct cdev_seat *s = (struct cdev_seat *)seat;

    gba_cdev_sys->munmap((void *)(uintptr_t)seat->doorbell, s->doorbell_size);
    /* A child that was forked holds copies; the membership is its parent's. */
    if (getpid() == cdev->owner)
        cdev_free(cdev, seat->group, seat->generation, seat->member);
    /* Not before: until FREE has returned the device may write to the flag. */
    if (s->flag >= 0)
        flag_give(cdev, s->flag);
    free(s);
}

static gba_status_t cdev_inspect(struct gba_seat *seat, gba_group_state_t *state)
{
    struct gba_ioc_inspect inspect = {
        .size = sizeof inspect, .group = seat->group, .generation = seat->generation};
    int error = cdev_call(cdev_of(seat->dev), GBA_IOC_INSPECT, &inspect);

    if (0 != error)
        return cdev_status("inspect", error);
    state->sequence = inspect.sequence;
    state->arrived_count = inspect.arrived_count;
    state->status = inspect.status;
    state->last_error = inspect.last_error;
    state->members = inspect.members;
    memcpy(state->arrived_mask, inspect.arrived_mask, sizeof state->arrived_mask);
    return GBA_OK;
}

/* The BAR, mapped at the first use. */
static gba_status_t bar_get(struct cdev *cdev, void **bar)
{
    gba_status_t status = GBA_OK;
    void *map;

    pthread_mutex_lock(&cdev->lock);
    if (NULL == cdev->bar) {
        map = gba_cdev_sys->mmap(GBA_BAR_SIZE, PROT_READ | PROT_WRITE, cdev->file,
                                 (off_t)GBA_MMAP_BAR);
        if (MAP_FAILED != map)
            cdev->bar = map;
        else if (EPERM == errno || EACCES == errno)
            status = GBA_ERR_PERM;
        else
            status = cdev_status("mapping of the registers", errno);
    }
    *bar = cdev->bar;
    pthread_mutex_unlock(&cdev->lock);
    return status;
}

static gba_status_t cdev_reg_read(struct gba_dev *dev, uint32_t address, unsigned width,
                                  uint64_t *value)
{
    void *bar;
    gba_status_t status = bar_get(cdev_of(dev), &bar);

    if (GBA_OK == status)
        *value = gba_mmio_read(bar, address, width);
    return status;
}

static gba_status_t cdev_reg_write(struct gba_dev *dev, uint32_t address, unsigned width,
                                   uint64_t value)
{
    void *bar;
    gba_status_t status = bar_get(cdev_of(dev), &bar);

    if (GBA_OK == status)
        gba_mmio_write(bar, address, width, value);
    return status;
}

const struct gba_dev_ops gba_dev_cdev = {
    .name = "cdev",
    .open = cdev_open,
    .close = cdev_close,
    .query = cdev_query,
    .alloc = cdev_alloc,
    .cancel = cdev_cancel,
    .join = cdev_join,
    .map_flag = cdev_map_flag,
    .configure = cdev_configure,
    .leave = cdev_leave,
    .inspect = cdev_inspect,
    .arrive = NULL, /* every seat has a mapped doorbell */
    .poll = NULL,
    .reg_read = cdev_reg_read,
    .reg_write = cdev_reg_write,
};

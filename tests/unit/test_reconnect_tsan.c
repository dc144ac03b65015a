/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Agreements of several threads on one device whose connection is lost again and again, for
 * ThreadSanitizer, on a device that this test makes. Each snapshot is of one connection, a group
 * stays with the connection that allocated it, and each connection is closed once, by its last
 * user.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/dev/member.h"

#define THREADS 3
#define ROUNDS  2000

struct link {
    struct gba_dev dev;
    gba_word_t lost;
    unsigned looks; /* while it is made */
};

static gba_word_t links, links_open;

static struct link *link_new(void)
{
    struct link *link = calloc(1, sizeof *link);
    extern const struct gba_dev_ops link_ops;

    if (link == NULL)
        abort();
    link->dev.ops = &link_ops;
    gba_word_add_relaxed(&links_open, 1);
    return link;
}

static void link_close(struct gba_dev *dev)
{
    gba_word_add_relaxed(&links_open, UINT64_MAX);
    free(dev);
}

static bool link_lost(const struct gba_dev *dev)
{
    return 0 != gba_word_load_relaxed(&((const struct link *)dev)->lost);
}

static gba_status_t link_reopen(struct gba_dev *lost, const struct gba_dev_path *path,
                                struct gba_dev **next)
{
    (void)lost;
    (void)path;
    *next = &link_new()->dev;
    return GBA_OK;
}

/* The second look finds the answer. */
static gba_status_t link_reopened(struct gba_dev *next, const gba_device_attr_t *attr,
                                  uint64_t timeout, gba_device_info_t *info)
{
    const uint64_t number = gba_word_add_relaxed(&links, 1);

    (void)attr;
    (void)timeout;
    if (0 == ((struct link *)next)->looks++)
        return GBA_INPROGRESS;
    memset(info->uuid, 0, sizeof info->uuid);
    memcpy(info->uuid, &number, sizeof number);
    info->groups = 1;
    return GBA_OK;
}

static gba_status_t link_alloc(struct gba_dev *dev, const gba_group_request_t *request,
                               gba_group_handle_t *handle)
{
    *handle = gba_dev_handle(0, 1, 0, request->members, dev->uuid);
    return GBA_OK;
}

static gba_status_t link_join(struct gba_dev *dev, const gba_group_handle_t *handle,
                              uint32_t member, struct gba_membership **membership)
{
    (void)handle;
    *membership = calloc(1, sizeof **membership);
    if (*membership == NULL)
        abort();
    **membership = (struct gba_membership){.dev = dev, .member = member, .members = 1};
    return GBA_OK;
}

/* Reads the connection, which a membership keeps. */
static void link_leave(struct gba_membership *membership)
{
    (void)link_lost(membership->dev);
    free(membership);
}

static const struct gba_dev_returns link_returns = {
    .lost = link_lost, .reopen = link_reopen, .reopened = link_reopened};

const struct gba_dev_ops link_ops = {.name = "test",
                                     .close = link_close,
                                     .alloc = link_alloc,
                                     .join = link_join,
                                     .leave = link_leave,
                                     .returns = &link_returns};

/* What an agreement does, and at its end the connection is lost. Returns false if it failed. */
static bool agree(gba_device_t *device)
{
    gba_group_handle_t handle;
    struct gba_device snapshot;
    gba_group_t *group;
    bool right;

    gba_device_snapshot(device, &snapshot);
    right = GBA_OK == gba_allocate_group(&snapshot, 1, &handle) &&
            0 == memcmp(handle.uuid, snapshot.dev->uuid, sizeof handle.uuid) &&
            GBA_OK == gba_join_group(&snapshot, &handle, 0, &group);
    gba_word_store_relaxed(&((struct link *)snapshot.dev)->lost, 1);
    gba_dev_put(snapshot.dev);
    if (right)
        gba_free_group(group);
    return right;
}

static void *work(void *device)
{
    for (int i = 0; i < ROUNDS; i++)
        if (!agree(device))
            return device;
    return NULL;
}

int main(void)
{
    char path[] = "switch:/nonexistent";
    struct gba_device device = {
        .dev = &link_new()->dev, .path = path, .members_max = 1, .kind = GBA_PATH_SWITCH};
    pthread_t thread[THREADS];
    bool right = true;
    void *wrong;

    device.dev->groups = 1;
    gba_word_store_relaxed(&device.dev->references, 1);
    for (int i = 0; i < THREADS; i++)
        if (0 != pthread_create(&thread[i], NULL, work, &device))
            abort();
    for (int i = 0; i < THREADS; i++)
        right = 0 == pthread_join(thread[i], &wrong) && wrong == NULL && right;
    gba_reconnection_end(&device);
    gba_dev_put(device.dev);
    printf("%u connections, %u of them still open; groups of their connections: %s\n",
           (unsigned)gba_word_load_relaxed(&links), (unsigned)gba_word_load_relaxed(&links_open),
           right ? "yes" : "no");
    return right && gba_word_load_relaxed(&links) > 2 && 0 == gba_word_load_relaxed(&links_open)
               ? 0
               : 1;
}

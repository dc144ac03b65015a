/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PMIx: each call puts its data under a key of its own, makes a fence, and gets the data of the
 * other members. Keys are never removed, so a call costs memory of the launcher's servers until the
 * job ends; programs make few calls.
 */
#include <errno.h>
#include <pmix.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gba/base/clock.h"
#include "gba/bootstrap/backend.h"
#include "gba/bootstrap/settings.h"
#include "gba/stall.h"

#define LOOK_NS 100000000u /* between two looks at a stall */

struct launched {
    struct gba_boot_backend base;
    pmix_proc_t self;
    unsigned instance; /* of this process's bootstraps, the same on all members */
    uint64_t calls;
    uint64_t timeout; /* ns; 0: none */
};

/* A fence in progress. PMIx cannot cancel a fence, so after a timeout the callback frees it. */
struct fence {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done, abandoned;
    pmix_status_t status;
};

static pthread_mutex_t instances_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned instances;

static gba_status_t failed(const char *what, pmix_status_t status, char *message)
{
    snprintf(message, GBA_BOOT_MESSAGE, "%s failed: %s", what, PMIx_Error_string(status));
    return GBA_ERR_OOB;
}

static void fence_free(struct fence *fence)
{
    pthread_cond_destroy(&fence->changed);
    pthread_mutex_destroy(&fence->lock);
    free(fence);
}

/* Called by PMIx's thread. */
static void fence_done(pmix_status_t status, void *arg)
{
    struct fence *fence = arg;
    bool abandoned;

    pthread_mutex_lock(&fence->lock);
    fence->status = status;
    fence->done = true;
    abandoned = fence->abandoned;
    pthread_cond_signal(&fence->changed);
    pthread_mutex_unlock(&fence->lock);
    if (abandoned)
        fence_free(fence);
}

static struct fence *fence_new(void)
{
    struct fence *fence = calloc(1, sizeof *fence);
    pthread_condattr_t monotonic;

    if (fence == NULL)
        return NULL;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&fence->lock, NULL);
    pthread_cond_init(&fence->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return fence;
}

/* Wait for LOOK_NS at most, with the lock held. */
static void fence_nap(struct fence *fence)
{
    const uint64_t until = gba_clock_ns() + LOOK_NS;
    const struct timespec end = {.tv_sec = (time_t)(until / 1000000000u),
                                 .tv_nsec = (long)(until % 1000000000u)};

    while (!fence->done && ETIMEDOUT != pthread_cond_timedwait(&fence->changed, &fence->lock, &end))
        ;
}

/* Wait until the fence is done. Returns false on a timeout; the callback then frees the fence. */
static bool fence_wait(const struct launched *l, struct fence *fence)
{
    const uint64_t end = gba_clock_ns() + l->timeout;
    bool done;

    pthread_mutex_lock(&fence->lock);
    for (;;) {
        fence_nap(fence);
        done = fence->done;
        if (done || (0 != l->timeout && gba_clock_ns() >= end))
            break;
        pthread_mutex_unlock(&fence->lock);
        if (l->base.look != NULL)
            l->base.look(l->base.look_ctx);
        pthread_mutex_lock(&fence->lock);
    }
    fence->abandoned = !done;
    pthread_mutex_unlock(&fence->lock);
    return done;
}

/* A fence of all members. Afterwards the data that they have put can be read. */
static gba_status_t fence(const struct launched *l, char *message)
{
    struct fence *fence = fence_new();
    pmix_status_t status;
    pmix_info_t info;
    pmix_proc_t all;
    bool collect = true;

    if (fence == NULL) {
        snprintf(message, GBA_BOOT_MESSAGE, "out of memory");
        return GBA_ERR_NOMEM;
    }
    PMIX_PROC_CONSTRUCT(&all);
    memcpy(all.nspace, l->self.nspace, sizeof all.nspace);
    all.rank = PMIX_RANK_WILDCARD;
    PMIX_INFO_CONSTRUCT(&info);
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    status = PMIx_Fence_nb(&all, 1, &info, 1, fence_done, fence);
    PMIX_INFO_DESTRUCT(&info);
    if (PMIX_SUCCESS != status) {
        fence_free(fence);
        /* It may be complete already. */
        return PMIX_OPERATION_SUCCEEDED == status ? GBA_OK
                                                  : failed("PMIx_Fence_nb", status, message);
    }
    if (!fence_wait(l, fence)) {
        snprintf(message, GBA_BOOT_MESSAGE,
                 "timeout: some of the %u members did not come within %u seconds "
                 "(GBA_BOOTSTRAP_TIMEOUT)",
                 (unsigned)l->base.size, (unsigned)(l->timeout / 1000000000u));
        return GBA_ERR_TIMEOUT;
    }
    status = fence->status;
    fence_free(fence);
    return PMIX_SUCCESS == status ? GBA_OK : failed("the fence of PMIx", status, message);
}

static void key_of(const struct launched *l, char key[64])
{
    snprintf(key, 64, "gba.bootstrap.%u.%llu", l->instance, (unsigned long long)l->calls);
}

static gba_status_t put(const struct launched *l, const void *data, size_t bytes, char *message)
{
    /* PMIx copies the data and does not change them, but its structure has no const. */
    pmix_value_t value = {.type = PMIX_BYTE_OBJECT};
    pmix_status_t status;
    char key[64];

    key_of(l, key);
    memcpy(&value.data.bo.bytes, &data, sizeof value.data.bo.bytes);
    value.data.bo.size = bytes;
    status = PMIx_Put(PMIX_GLOBAL, key, &value);
    if (PMIX_SUCCESS != status)
        return failed("PMIx_Put", status, message);
    status = PMIx_Commit();
    return PMIX_SUCCESS == status ? GBA_OK : failed("PMIx_Commit", status, message);
}

static gba_status_t get(const struct launched *l, uint32_t rank, void *data, size_t bytes,
                        char *message)
{
    pmix_proc_t from = l->self;
    pmix_value_t *value = NULL;
    pmix_status_t status;
    char key[64];
    bool right;

    key_of(l, key);
    from.rank = rank;
    status = PMIx_Get(&from, key, NULL, 0, &value);
    if (PMIX_SUCCESS != status)
        return failed("PMIx_Get", status, message);
    right = PMIX_BYTE_OBJECT == value->type && bytes == value->data.bo.size;
    if (right)
        memcpy(data, value->data.bo.bytes, bytes);
    PMIX_VALUE_RELEASE(value);
    if (right)
        return GBA_OK;
    snprintf(message, GBA_BOOT_MESSAGE, "rank %u makes a different call: members are not in step",
             (unsigned)rank);
    return GBA_ERR_MISMATCH;
}

static gba_status_t launched_gather(struct gba_boot_backend *self, const void *in, void *out,
                                    size_t bytes, char *message)
{
    struct launched *l = (struct launched *)self;
    gba_status_t status = bytes > 0 ? put(l, in, bytes, message) : GBA_OK;

    if (GBA_OK == status)
        status = fence(l, message);
    for (uint32_t rank = 0; rank < self->size && bytes > 0 && GBA_OK == status; rank++) {
        uint8_t *part = (uint8_t *)out + rank * bytes;

        if (rank == self->rank)
            memmove(part, in, bytes);
        else
            status = get(l, rank, part, bytes, message);
    }
    l->calls++;
    return status;
}

static gba_status_t launched_bcast(struct gba_boot_backend *self, void *buffer, size_t bytes,
                                   uint32_t root, char *message)
{
    struct launched *l = (struct launched *)self;
    gba_status_t status = GBA_OK;

    if (bytes > 0 && self->rank == root)
        status = put(l, buffer, bytes, message);
    if (GBA_OK == status)
        status = fence(l, message);
    if (bytes > 0 && self->rank != root && GBA_OK == status)
        status = get(l, root, buffer, bytes, message);
    l->calls++;
    return status;
}

static void launched_close(struct gba_boot_backend *self)
{
    (void)PMIx_Finalize(NULL, 0);
    free(self);
}

static const struct gba_boot_ops launched_ops = {
    .gather = launched_gather, .bcast = launched_bcast, .close = launched_close};

static gba_status_t job_size(const pmix_proc_t *self, uint32_t *size, char *message)
{
    pmix_proc_t all = *self;
    pmix_value_t *value = NULL;
    pmix_status_t status;
    bool right;

    all.rank = PMIX_RANK_WILDCARD;
    status = PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &value);
    if (PMIX_SUCCESS != status)
        return failed("PMIx_Get of the job's size", status, message);
    right = PMIX_UINT32 == value->type && value->data.uint32 > self->rank;
    if (right)
        *size = value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    if (right)
        return GBA_OK;
    snprintf(message, GBA_BOOT_MESSAGE, "PMIx reports an invalid size of the job");
    return GBA_ERR_OOB;
}

bool gba_boot_has_pmix(void)
{
    return true;
}

gba_status_t gba_boot_pmix_open(struct gba_boot_backend **backend, char *message)
{
    struct launched *l;
    gba_status_t status;
    pmix_status_t begun;

    /* Without a launcher PMIx would make a job of one process. */
    if (getenv("PMIX_NAMESPACE") == NULL) {
        snprintf(message, GBA_BOOT_MESSAGE,
                 "The program was not started by a launcher with PMIx, such as mpirun, prterun or "
                 "srun --mpi=pmix");
        return GBA_ERR_UNSUPPORTED;
    }
    l = calloc(1, sizeof *l);
    if (l == NULL) {
        snprintf(message, GBA_BOOT_MESSAGE, "out of memory");
        return GBA_ERR_NOMEM;
    }
    status = gba_boot_env_timeout(&l->timeout, message, GBA_BOOT_MESSAGE);
    if (GBA_OK != status)
        goto discard;
    begun = PMIx_Init(&l->self, NULL, 0);
    if (PMIX_SUCCESS != begun) {
        status = failed("PMIx_Init", begun, message);
        goto discard;
    }
    status = job_size(&l->self, &l->base.size, message);
    if (GBA_OK != status)
        goto finalize;
    l->base.ops = &launched_ops;
    l->base.rank = l->self.rank;
    gba_where_join(l->self.nspace, l->self.rank); /* as the plugins would, which may come later */
    pthread_mutex_lock(&instances_lock);
    l->instance = instances++;
    pthread_mutex_unlock(&instances_lock);
    *backend = &l->base;
    return GBA_OK;

finalize:
    (void)PMIx_Finalize(NULL, 0);
discard:
    free(l);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice of a bootstrap, and the exchange (gba_oob_t) made of its two operations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gba/bootstrap/backend.h"
#include "gba/bootstrap/settings.h"

/* The first data that members exchange. */
struct member_info {
    uint32_t wire_version;
    char host[60];
    uint64_t job; /* rank 0's is used */
};

struct gba_bootstrap {
    struct gba_boot_backend *backend;
    gba_oob_t oob;
    bool failed;
    char message[GBA_BOOT_MESSAGE];
    char job[32];
    uint32_t host_members;
    struct member_info *members; /* by rank */
};

/* The end of an operation. After a failure the bootstrap stays failed, because its members may be
 * in different calls. */
static gba_status_t outcome(gba_bootstrap_t *b, gba_status_t status)
{
    b->failed = GBA_OK != status;
    return b->failed ? GBA_ERR_OOB : GBA_OK;
}

static bool too_long(gba_bootstrap_t *b, size_t bytes)
{
    if (bytes <= GBA_BOOT_BYTES_MAX && bytes * (uint64_t)b->oob.size <= GBA_BOOT_TOTAL_MAX)
        return false;
    snprintf(b->message, sizeof b->message, "%zu bytes of each of %u members are too many", bytes,
             (unsigned)b->oob.size);
    return true;
}

static gba_status_t oob_allgather(void *ctx, const void *in, void *out, size_t bytes)
{
    gba_bootstrap_t *b = ctx;

    if (b->failed || too_long(b, bytes))
        return GBA_ERR_OOB;
    return outcome(b, b->backend->ops->gather(b->backend, in, out, bytes, b->message));
}

static gba_status_t oob_bcast(void *ctx, void *buffer, size_t bytes, uint32_t root)
{
    gba_bootstrap_t *b = ctx;

    if (b->failed || root >= b->oob.size || too_long(b, bytes))
        return GBA_ERR_OOB;
    return outcome(b, b->backend->ops->bcast(b->backend, buffer, bytes, root, b->message));
}

static gba_status_t oob_barrier(void *ctx)
{
    return oob_allgather(ctx, NULL, NULL, 0);
}

static gba_status_t oob_allreduce_min(void *ctx, int64_t mine, int64_t *least)
{
    gba_bootstrap_t *b = ctx;
    int64_t *all = calloc(b->oob.size, sizeof *all);
    gba_status_t status;

    if (NULL == all) {
        /* The other members wait for this one in a call that it cannot make. */
        b->failed = true;
        snprintf(b->message, sizeof b->message, "out of memory");
        return GBA_ERR_OOB;
    }
    status = oob_allgather(b, &mine, all, sizeof mine);
    if (GBA_OK == status) {
        *least = mine;
        for (uint32_t i = 0; i < b->oob.size; i++)
            if (all[i] < *least)
                *least = all[i];
    }
    free(all);
    return status;
}

static void oob_name_member(void *ctx, uint32_t rank, char *text, size_t len)
{
    const gba_bootstrap_t *b = ctx;

    snprintf(text, len, "rank %u on %s", (unsigned)rank,
             rank < b->oob.size ? b->members[rank].host : "?");
}

/* Exchange host names and versions. */
static gba_status_t exchange_members(gba_bootstrap_t *b)
{
    struct member_info mine = {.wire_version = gba_wire_version(), .job = gba_bootstrap_team_id()};

    if (0 != gethostname(mine.host, sizeof mine.host - 1))
        snprintf(mine.host, sizeof mine.host, "?");
    b->members = calloc(b->oob.size, sizeof *b->members);
    if (NULL == b->members) {
        snprintf(b->message, sizeof b->message, "out of memory");
        return GBA_ERR_NOMEM;
    }
    if (GBA_OK != oob_allgather(b, &mine, b->members, sizeof mine))
        return GBA_ERR_OOB;
    for (uint32_t i = 0; i < b->oob.size; i++) {
        b->members[i].host[sizeof mine.host - 1] = '\0';
        b->host_members += 0 == strcmp(b->members[i].host, mine.host);
    }
    for (uint32_t i = 1; i < b->oob.size; i++)
        if (b->members[i].wire_version != b->members[0].wire_version) {
            snprintf(b->message, sizeof b->message,
                     "members have different versions of libgba: wire version %u (rank 0 on %s) "
                     "and %u (rank %u on %s)",
                     (unsigned)b->members[0].wire_version, b->members[0].host,
                     (unsigned)b->members[i].wire_version, (unsigned)i, b->members[i].host);
            return GBA_ERR_VERSION;
        }
    snprintf(b->job, sizeof b->job, "bootstrap-%016llx", (unsigned long long)b->members[0].job);
    return GBA_OK;
}

static gba_status_t choose(gba_bootstrap_kind_t *kind, const gba_bootstrap_uid_t *uid,
                           char *message)
{
    const char *text = gba_boot_env("GBA_BOOTSTRAP");

    if (GBA_BOOTSTRAP_AUTO != *kind)
        return GBA_OK;
    if (NULL == text)
        *kind = NULL != uid || NULL != gba_boot_env("GBA_BOOTSTRAP_UID") ? GBA_BOOTSTRAP_UID
                                                                         : GBA_BOOTSTRAP_PMIX;
    else if (0 == strcmp(text, "pmix"))
        *kind = GBA_BOOTSTRAP_PMIX;
    else if (0 == strcmp(text, "uid"))
        *kind = GBA_BOOTSTRAP_UID;
    else {
        snprintf(message, GBA_BOOT_MESSAGE, "GBA_BOOTSTRAP=%.32s is invalid; allowed: pmix, uid",
                 text);
        return GBA_ERR_PARAM;
    }
    return GBA_OK;
}

/* Take the id, the rank and the size from the caller or the environment, and join. */
static gba_status_t open_uid(const gba_bootstrap_attr_t *attr, struct gba_boot_backend **backend,
                             char *message)
{
    uint32_t rank = attr->rank, size = attr->size;
    const char *text = NULL != attr->uid ? attr->uid->text : gba_boot_env("GBA_BOOTSTRAP_UID");
    gba_bootstrap_uid_t uid;

    if (0 == size) {
        rank = UINT32_MAX;
        if (GBA_OK != gba_boot_env_number("GBA_BOOTSTRAP_SIZE", GBA_BOOT_SIZE_MAX, &size, message,
                                          GBA_BOOT_MESSAGE) ||
            GBA_OK != gba_boot_env_number("GBA_BOOTSTRAP_RANK", GBA_BOOT_SIZE_MAX, &rank, message,
                                          GBA_BOOT_MESSAGE))
            return GBA_ERR_PARAM;
        if (0 == size || UINT32_MAX == rank) {
            snprintf(message, GBA_BOOT_MESSAGE,
                     "the unique id needs GBA_BOOTSTRAP_RANK and GBA_BOOTSTRAP_SIZE, or a rank and "
                     "a size of the program");
            return GBA_ERR_PARAM;
        }
    }
    if (size > GBA_BOOT_SIZE_MAX || rank >= size) {
        snprintf(
            message, GBA_BOOT_MESSAGE,
            "rank %u of %u members is out of range; a bootstrap has 1 to %u members, and ranks "
            "from 0",
            (unsigned)rank, (unsigned)size, GBA_BOOT_SIZE_MAX);
        return GBA_ERR_PARAM;
    }
    if (NULL == text || GBA_OK != gba_bootstrap_uid_parse(text, &uid)) {
        snprintf(message, GBA_BOOT_MESSAGE,
                 NULL == text
                     ? "no unique id: set GBA_BOOTSTRAP_UID to that of gba_bootstrap_uid_get"
                     : "the unique id is not one of gba_bootstrap_uid_get");
        return GBA_ERR_PARAM;
    }
    return gba_boot_uid_open(&uid, rank, size, backend, message);
}

static gba_status_t open_backend(const gba_bootstrap_attr_t *attr,
                                 struct gba_boot_backend **backend, char *message)
{
    gba_bootstrap_kind_t kind = attr->kind;
    gba_status_t status = choose(&kind, attr->uid, message);

    if (GBA_OK != status)
        return status;
    switch (kind) {
    case GBA_BOOTSTRAP_PMIX:
        return gba_boot_pmix_open(backend, message);
    case GBA_BOOTSTRAP_UID:
        return open_uid(attr, backend, message);
    default:
        snprintf(message, GBA_BOOT_MESSAGE, "there is no bootstrap of kind %d", (int)kind);
        return GBA_ERR_PARAM;
    }
}

gba_status_t gba_bootstrap_init(const gba_bootstrap_attr_t *attr, gba_bootstrap_t **bootstrap,
                                char *message, size_t len)
{
    const gba_bootstrap_attr_t defaults = {.kind = GBA_BOOTSTRAP_AUTO};
    gba_bootstrap_t *b = calloc(1, sizeof *b);
    gba_status_t status;

    if (NULL == b) {
        snprintf(message, len, "out of memory");
        return GBA_ERR_NOMEM;
    }
    status = open_backend(NULL == attr ? &defaults : attr, &b->backend, b->message);
    if (GBA_OK != status)
        goto discard;
    b->oob = (gba_oob_t){.ctx = b,
                         .rank = b->backend->rank,
                         .size = b->backend->size,
                         .bcast = oob_bcast,
                         .allreduce_min = oob_allreduce_min,
                         .allgather = oob_allgather,
                         .barrier = oob_barrier,
                         .name_member = oob_name_member};
    status = exchange_members(b);
    if (GBA_OK != status)
        goto discard;
    *bootstrap = b;
    return GBA_OK;

discard:
    snprintf(message, len, "%s", b->message);
    gba_bootstrap_destroy(b);
    return status;
}

const gba_oob_t *gba_bootstrap_oob(const gba_bootstrap_t *bootstrap)
{
    return &bootstrap->oob;
}

const char *gba_bootstrap_message(const gba_bootstrap_t *bootstrap)
{
    return bootstrap->message;
}

const char *gba_bootstrap_job(const gba_bootstrap_t *bootstrap)
{
    return bootstrap->job;
}

uint32_t gba_bootstrap_host_members(const gba_bootstrap_t *bootstrap)
{
    return bootstrap->host_members;
}

uint64_t gba_bootstrap_team_id(void)
{
    uint64_t id = 0;

    if (GBA_OK != gba_boot_random(&id, sizeof id))
        return 0;
    return 0 == id ? 1 : id;
}

void gba_bootstrap_destroy(gba_bootstrap_t *bootstrap)
{
    if (NULL == bootstrap)
        return;
    if (NULL != bootstrap->backend)
        bootstrap->backend->ops->close(bootstrap->backend);
    free(bootstrap->members);
    free(bootstrap);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A bootstrap: the exchange (gba_oob_t) made of the two operations of its backend. */
#define _GNU_SOURCE /* explicit_bzero */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gba/base/namespace.h"
#include "gba/bootstrap/backend.h"
#include "gba/bootstrap/settings.h"
#include "gba/stall.h"

/* The first data that members exchange. */
struct member_info {
    uint32_t wire_version;
    char host[60];
    uint64_t job;        /* rank 0's is used */
    uint32_t memory[4];  /* the same: these members can share memory, if they are on one host */
    uint32_t processors; /* gba_processors_count */
    uint32_t words;      /* of its map, up to the last one that is not 0 */
    uint64_t gpu;        /* 1: it takes part by a GPU */
    char place[64];      /* the job on its status page; empty: it had none */
    uint64_t process;    /* its rank in that job */
};

struct gba_bootstrap {
    struct gba_boot_backend *backend;
    gba_oob_t oob;
    bool failed;
    char message[GBA_BOOT_MESSAGE];
    char job[32];
    uint32_t host_members;
    uint64_t teams;
    bool apart; /* not all members can share memory */
    bool oversubscribed;
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

gba_status_t gba_bootstrap_bcast(gba_bootstrap_t *bootstrap, void *buffer, size_t bytes,
                                 uint32_t root)
{
    gba_bootstrap_t *b = bootstrap;

    if (b->failed || root >= b->oob.size || too_long(b, bytes))
        return GBA_ERR_OOB;
    return outcome(b, b->backend->ops->bcast(b->backend, buffer, bytes, root, b->message));
}

gba_status_t gba_bootstrap_barrier(gba_bootstrap_t *bootstrap)
{
    return oob_allgather(bootstrap, NULL, NULL, 0);
}

static gba_status_t oob_min(void *ctx, uint64_t *words, uint32_t count)
{
    gba_bootstrap_t *b = ctx;
    gba_status_t status;
    uint64_t *all;

    if (b->failed)
        return GBA_ERR_OOB;
    if (b->backend->ops->min != NULL)
        return outcome(b, b->backend->ops->min(b->backend, words, count, b->message));
    all = calloc((size_t)b->oob.size * count, sizeof *all);
    if (all == NULL) {
        /* The other members wait for this one in a call that it cannot make. */
        b->failed = true;
        snprintf(b->message, sizeof b->message, "out of memory");
        return GBA_ERR_OOB;
    }
    status = oob_allgather(b, words, all, count * sizeof *words);
    for (size_t i = 0; GBA_OK == status && i < (size_t)b->oob.size * count; i++)
        if (all[i] < words[i % count])
            words[i % count] = all[i];
    free(all);
    return status;
}

/* The operations are complete when they return. */
static gba_status_t oob_test(void *ctx)
{
    (void)ctx;
    return GBA_OK;
}

static void oob_name_member(void *ctx, uint32_t rank, char *text, size_t len)
{
    const gba_bootstrap_t *b = ctx;

    snprintf(text, len, "rank %u on %s%s", (unsigned)rank,
             rank < b->oob.size ? b->members[rank].host : "?",
             rank < b->oob.size && 0 != b->members[rank].gpu ? " (gpu)" : "");
}

static uint32_t map_words(const gba_processors_t *processors)
{
    uint32_t words = GBA_PROCESSOR_WORDS;

    while (words > 0 && 0 == processors->map[words - 1])
        words--;
    return words;
}

bool gba_boot_same_host(const gba_bootstrap_t *bootstrap, uint32_t rank)
{
    const struct member_info *members = bootstrap->members;

    return 0 == strcmp(members[rank].host, members[bootstrap->oob.rank].host);
}

/* Whether the members of this host share processors. Members that are bound to few ones exchange
 * which: they may be the same, or other ones. Collective. */
static gba_status_t exchange_processors(gba_bootstrap_t *b, const gba_processors_t *mine)
{
    const uint32_t size = b->oob.size;
    gba_processors_t all = *mine;
    uint32_t least = UINT32_MAX, words = 0;
    gba_status_t status;
    uint32_t *maps;

    for (uint32_t i = 0; i < size; i++) {
        least = b->members[i].processors < least ? b->members[i].processors : least;
        words = b->members[i].words > words ? b->members[i].words : words;
    }
    if (least >= size || 0 == words || words > GBA_PROCESSOR_WORDS)
        return GBA_OK;
    maps = calloc(size, words * sizeof *maps);
    if (maps == NULL) {
        snprintf(b->message, sizeof b->message, "out of memory");
        return GBA_ERR_NOMEM;
    }
    status = oob_allgather(b, mine->map, maps, words * sizeof *maps);
    for (uint32_t i = 0; i < size && GBA_OK == status; i++)
        for (uint32_t w = 0; w < words && gba_boot_same_host(b, i); w++)
            all.map[w] |= maps[(size_t)i * words + w];
    b->oversubscribed = b->host_members > gba_processors_count(&all);
    free(maps);
    return status;
}

/* The namespaces and the user within which libgba shares memory, as in gba/base/host.h. A container
 * with the network of its host has its name, too. */
static void get_memory(uint32_t memory[4])
{
    static const char *const names[] = {"ipc", "pid", "user"};

    for (int i = 0; i < 3; i++)
        memory[i] = gba_namespace(names[i]);
    memory[3] = geteuid();
}

/* The status page that the process has before the exchange, of MPI for example. */
static void get_place(struct member_info *mine)
{
    uint32_t rank = 0;
    const char *job = gba_where_own(&rank);

    mine->process = rank;
    snprintf(mine->place, sizeof mine->place, "%s", job != NULL ? job : "");
}

/* Exchange host names, versions and processors. */
static gba_status_t exchange_members(gba_bootstrap_t *b, bool gpu)
{
    struct member_info mine = {
        .wire_version = gba_wire_version(), .job = gba_bootstrap_team_id(), .gpu = gpu};
    gba_processors_t processors;

    gba_processors_get(&processors);
    get_place(&mine);
    mine.processors = gba_processors_count(&processors);
    mine.words = map_words(&processors);
    get_memory(mine.memory);
    if (0 != gethostname(mine.host, sizeof mine.host - 1))
        snprintf(mine.host, sizeof mine.host, "?");
    b->members = calloc(b->oob.size, sizeof *b->members);
    if (b->members == NULL) {
        snprintf(b->message, sizeof b->message, "out of memory");
        return GBA_ERR_NOMEM;
    }
    if (GBA_OK != oob_allgather(b, &mine, b->members, sizeof mine))
        return GBA_ERR_OOB;
    for (uint32_t i = 0; i < b->oob.size; i++) {
        b->members[i].host[sizeof mine.host - 1] = '\0';
        b->host_members += gba_boot_same_host(b, i);
        b->apart |= !gba_boot_same_host(b, i) ||
                    0 != memcmp(b->members[i].memory, mine.memory, sizeof mine.memory);
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
    gba_where_join(b->job, b->oob.rank);
    return exchange_processors(b, &processors);
}

gba_status_t gba_bootstrap_init(const gba_bootstrap_attr_t *attr, gba_bootstrap_t **bootstrap,
                                char *message, size_t len)
{
    const gba_bootstrap_attr_t defaults = {.kind = GBA_BOOTSTRAP_AUTO};
    gba_bootstrap_t *b = calloc(1, sizeof *b);
    gba_status_t status;

    if (b == NULL) {
        snprintf(message, len, "out of memory");
        return GBA_ERR_NOMEM;
    }
    status = gba_boot_open(attr == NULL ? &defaults : attr, &b->backend, b->message);
    if (GBA_OK != status)
        goto discard;
    gba_boot_look(b, NULL, NULL); /* the plug-in need not know of it */
    b->oob = (gba_oob_t){.ctx = b,
                         .rank = b->backend->rank,
                         .size = b->backend->size,
                         .min = oob_min,
                         .allgather = oob_allgather,
                         .test = oob_test,
                         .name_member = oob_name_member};
    status = exchange_members(b, attr != NULL && attr->gpu);
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

const struct gba_boot_backend *gba_boot_backend_of(const gba_bootstrap_t *bootstrap)
{
    return bootstrap->backend;
}

uint64_t gba_boot_team_number(gba_bootstrap_t *bootstrap)
{
    return ++bootstrap->teams;
}

uint64_t gba_boot_number(const gba_bootstrap_t *bootstrap)
{
    return bootstrap->members[0].job;
}

char *gba_boot_message(gba_bootstrap_t *bootstrap)
{
    return bootstrap->message;
}

uint32_t gba_boot_process(const gba_bootstrap_t *bootstrap, uint32_t rank)
{
    const struct member_info *mine = &bootstrap->members[bootstrap->oob.rank];
    const struct member_info *member = &bootstrap->members[rank];

    if (0 != strncmp(member->place, mine->place, sizeof mine->place))
        return UINT32_MAX;
    return '\0' == mine->place[0] ? rank : (uint32_t)member->process;
}

const char *gba_boot_place(const gba_bootstrap_t *bootstrap)
{
    const char *mine = bootstrap->members[bootstrap->oob.rank].place, *job;
    uint32_t unused;

    mine = '\0' == mine[0] ? bootstrap->job : mine;
    job = gba_where_own(&unused);
    return job != NULL && 0 == strcmp(job, mine) ? job : NULL;
}

void gba_boot_look(gba_bootstrap_t *bootstrap, void (*look)(void *ctx), void *ctx)
{
    bootstrap->backend->look_ctx = ctx;
    bootstrap->backend->look = look;
}

bool gba_boot_apart(const gba_bootstrap_t *bootstrap)
{
    return bootstrap->apart;
}

int gba_bootstrap_progress(void *bootstrap)
{
    struct gba_boot_backend *backend = ((gba_bootstrap_t *)bootstrap)->backend;

    if (backend->ops->progress == NULL)
        return 0;
    backend->ops->progress(backend);
    return -1;
}

const char *gba_bootstrap_message(const gba_bootstrap_t *bootstrap)
{
    return bootstrap->message;
}

const char *gba_bootstrap_job(const gba_bootstrap_t *bootstrap)
{
    return bootstrap->job;
}

bool gba_bootstrap_oversubscribed(const gba_bootstrap_t *bootstrap)
{
    return bootstrap->oversubscribed;
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
    if (bootstrap == NULL)
        return;
    if (bootstrap->backend != NULL)
        bootstrap->backend->ops->close(bootstrap->backend);
    free(bootstrap->members);
    free(bootstrap);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plug-in shmem, of all PEs. A member puts its part of the data, and then the number of the
 * round, into the symmetric memory of each member, and waits for the parts of all.
 *
 * Two sets of parts, used alternately, are enough: a member that puts its part of round n has seen
 * the parts of round n - 1 of all members. A member puts its part of round n - 1 when it has copied
 * all parts of round n - 2.
 */
#include "oshmem_config.h"

#include <pthread.h>
#include <sched.h>
#include <shmem.h>
#include <stdlib.h>
#include <string.h>

#include "opal/runtime/opal_progress.h"
#include "oshmem/runtime/runtime.h"

#include "gba/base/clock.h"
#include "gba/base/order.h"
#include "gba/bootstrap/plugin.h"

#define PART 1024u /* bytes of one member in a round */

/* The symmetric memory of one member: what the member `rank` has put there is at [rank]. */
struct set {
    uint64_t *rounds; /* [size] */
    uint8_t *parts;   /* [size][PART] */
};

struct over_shmem {
    struct gba_boot_backend base;
    uint64_t timeout, round;
    struct set sets[2];
    struct gba_boot_call *calls; /* [size] */
};

/* OpenSHMEM is finalized by the last bootstrap if a bootstrap has initialised it. */
static pthread_mutex_t users_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned users;
static bool ours;

static bool has_come(uint64_t *round, uint64_t expected)
{
    if (!shmem_uint64_test(round, SHMEM_CMP_EQ, expected))
        return false;
    gba_fence_acquire(); /* the part was put before its round */
    return true;
}

/* A round: all members have the parts of all members afterwards, in the set that is returned in
 * `set`. */
static gba_status_t exchange(struct over_shmem *s, const void *part, size_t bytes,
                             const struct set **set, char *message)
{
    const struct set *now = &s->sets[++s->round % 2];
    uint64_t end = gba_clock_ns() + s->timeout;
    int size = (int)s->base.size;

    for (int pe = 0; pe < size && bytes > 0; pe++)
        shmem_putmem(now->parts + (size_t)s->base.rank * PART, part, bytes, pe);
    shmem_fence();
    for (int pe = 0; pe < size; pe++)
        shmem_uint64_p(&now->rounds[s->base.rank], s->round, pe);
    /* The puts complete here, because this member may not call OpenSHMEM again for long. */
    shmem_quiet();
    for (int pe = 0; pe < size; pe++)
        while (!has_come(&now->rounds[pe], s->round)) {
            if (0 != s->timeout && gba_clock_ns() > end)
                return gba_boot_call_timeout(s->base.size, s->timeout, message);
            opal_progress(); /* shmem_uint64_test need not */
            sched_yield();
        }
    *set = now;
    return GBA_OK;
}

/* Wait until all members are in this call, and compare their calls. */
static gba_status_t enter_call(struct over_shmem *s, const struct gba_boot_call *call,
                               char *message)
{
    const struct set *set;
    gba_status_t status = exchange(s, call, sizeof *call, &set, message);

    if (GBA_OK != status)
        return status;
    for (uint32_t rank = 0; rank < s->base.size; rank++)
        memcpy(&s->calls[rank], set->parts + (size_t)rank * PART, sizeof *s->calls);
    return gba_boot_calls_match(s->calls, s->base.size, message);
}

static gba_status_t shmem_gather(struct gba_boot_backend *self, const void *in, void *out,
                                 size_t bytes, char *message)
{
    struct over_shmem *s = (struct over_shmem *)self;
    gba_status_t status =
        enter_call(s, &(struct gba_boot_call){.kind = 1, .bytes = bytes}, message);

    for (size_t done = 0; done < bytes && GBA_OK == status; done += PART) {
        size_t part = bytes - done < PART ? bytes - done : PART;
        const struct set *set;

        status = exchange(s, (const uint8_t *)in + done, part, &set, message);
        for (uint32_t rank = 0; rank < self->size && GBA_OK == status; rank++)
            memcpy((uint8_t *)out + rank * bytes + done, set->parts + (size_t)rank * PART, part);
    }
    return status;
}

static gba_status_t shmem_bcast(struct gba_boot_backend *self, void *buffer, size_t bytes,
                                uint32_t root, char *message)
{
    struct over_shmem *s = (struct over_shmem *)self;
    gba_status_t status =
        enter_call(s, &(struct gba_boot_call){.kind = 2, .bytes = bytes, .root = root}, message);

    for (size_t done = 0; done < bytes && GBA_OK == status; done += PART) {
        size_t part = bytes - done < PART ? bytes - done : PART;
        uint8_t *place = (uint8_t *)buffer + done;
        const struct set *set;

        status = exchange(s, place, self->rank == root ? part : 0, &set, message);
        if (GBA_OK == status && self->rank != root)
            memcpy(place, set->parts + (size_t)root * PART, part);
    }
    return status;
}

static void shmem_close(struct gba_boot_backend *self)
{
    struct over_shmem *s = (struct over_shmem *)self;

    /* The symmetric memory stays until the end: shmem_free would wait for all members. */
    pthread_mutex_lock(&users_lock);
    users--;
    if (0 == users && ours && oshmem_shmem_initialized) {
        ours = false;
        shmem_finalize();
    }
    pthread_mutex_unlock(&users_lock);
    free(s->calls);
    free(s);
}

/* On some networks a put is complete only when its target makes progress. */
static void shmem_progress(struct gba_boot_backend *self)
{
    (void)self;
    opal_progress();
}

static const struct gba_boot_ops shmem_ops = {
    .gather = shmem_gather, .bcast = shmem_bcast, .close = shmem_close, .progress = shmem_progress};

/* Symbols of another OpenSHMEM in the program would take the place of Open MPI's. */
static gba_status_t check_library(char *message)
{
    char vendor[SHMEM_MAX_NAME_LEN + 1] = "";

    shmem_info_get_name(vendor);
    if (0 == strcmp(vendor, SHMEM_VENDOR_STRING))
        return GBA_OK;
    snprintf(message, GBA_BOOT_MESSAGE,
             "the plug-in was built for Open MPI, and the program uses the OpenSHMEM of %.80s",
             vendor);
    return GBA_ERR_UNSUPPORTED;
}

/* Initialise OpenSHMEM if the program has not. The caller is one of its users afterwards. */
static gba_status_t enter_shmem(char *message)
{
    gba_status_t status = check_library(message);
    int provided;

    if (GBA_OK != status)
        return status;
    pthread_mutex_lock(&users_lock);
    if (!oshmem_shmem_initialized) {
        ours = 0 == shmem_init_thread(SHMEM_THREAD_SERIALIZED, &provided);
        if (!ours) {
            snprintf(message, GBA_BOOT_MESSAGE, "shmem_init_thread failed");
            status = GBA_ERR_OOB;
        }
    }
    users += GBA_OK == status;
    pthread_mutex_unlock(&users_lock);
    return status;
}

static gba_status_t shmem_open(const void *comm, uint64_t timeout,
                               struct gba_boot_backend **backend, char *message)
{
    struct over_shmem *s = calloc(1, sizeof *s);
    gba_status_t status = s == NULL ? GBA_ERR_NOMEM : enter_shmem(message);
    uint64_t *rounds;
    uint8_t *parts;
    size_t size;

    (void)comm;
    if (GBA_OK != status) {
        free(s);
        if (GBA_ERR_NOMEM == status)
            snprintf(message, GBA_BOOT_MESSAGE, "out of memory");
        return status;
    }
    s->base = (struct gba_boot_backend){
        .ops = &shmem_ops, .rank = (uint32_t)shmem_my_pe(), .size = (uint32_t)shmem_n_pes()};
    s->timeout = timeout;
    size = s->base.size;
    rounds = shmem_malloc(2 * size * sizeof *rounds);
    parts = shmem_malloc(2 * size * PART);
    s->calls = calloc(size, sizeof *s->calls);
    if (rounds == NULL || parts == NULL || s->calls == NULL) {
        snprintf(message, GBA_BOOT_MESSAGE,
                 "out of symmetric memory: the bootstrap shmem needs %zu bytes on each PE",
                 2 * size * (PART + sizeof *rounds));
        shmem_close(&s->base);
        return GBA_ERR_NOMEM;
    }
    memset(rounds, 0, 2 * size * sizeof *rounds);
    for (size_t i = 0; i < 2; i++)
        s->sets[i] = (struct set){.rounds = rounds + i * size, .parts = parts + i * size * PART};
    shmem_barrier_all(); /* no put before the zeros */
    *backend = &s->base;
    return GBA_OK;
}

GBA_EXPORT extern const struct gba_boot_plugin gba_boot_plugin;
const struct gba_boot_plugin gba_boot_plugin = {.version = GBA_BOOT_PLUGIN_VERSION,
                                                .open = shmem_open};

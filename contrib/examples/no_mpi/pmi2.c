/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plug-in of libgba_bootstrap over PMI-2, for srun --mpi=pmi2; see README.md. PMI-2 stores texts
 * of 1023 characters under keys of the job, and cannot remove them. A fence has no timeout.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <gba/bootstrap_plugin.h>
#include <slurm/pmi2.h>

#define PART 500 /* bytes in a text, as hexadecimal digits */

struct over_pmi2 {
    struct gba_boot_backend base; /* first */
    char job[256], key[PMI2_MAX_KEYLEN];
    unsigned long call;
};

/* The key of a part of one member's data. A member in another call does not find it. */
static char *key_of(struct over_pmi2 *p, size_t bytes, uint32_t root, uint32_t rank, size_t part)
{
    snprintf(p->key, sizeof p->key, "gba-%lu-%zu-%u-%u-%zu", p->call, bytes, root, rank, part);
    return p->key;
}

/* Copy the data of the member `root` to all others, or, if it is the size, of all to all. */
static gba_status_t exchange(struct gba_boot_backend *self, const uint8_t *in, uint8_t *out,
                             size_t bytes, uint32_t root, char *message)
{
    struct over_pmi2 *p = (struct over_pmi2 *)self;
    const bool all = root == self->size, sends = all || root == self->rank;
    char text[1024] = ":";
    int error = PMI2_SUCCESS, put, len;

    p->call++;
    for (size_t part = 0; PMI2_SUCCESS == error && part <= bytes && sends; part += PART) {
        for (size_t i = part; i < bytes && i < part + PART; i++)
            snprintf(text + 1 + 2 * (i - part), 3, "%02x", in[i]);
        error = PMI2_KVS_Put(key_of(p, bytes, root, self->rank, part), text);
    }
    put = error = PMI2_SUCCESS == error ? PMI2_KVS_Fence() : error;
    for (uint32_t rank = all ? 0 : root; rank < self->size && (all || !sends); rank++) {
        for (size_t part = 0; PMI2_SUCCESS == error && part <= bytes; part += PART) {
            error = PMI2_KVS_Get(p->job, PMI2_ID_NULL, key_of(p, bytes, root, rank, part), text,
                                 sizeof text, &len);
            for (size_t i = part; i < bytes && i < part + PART && PMI2_SUCCESS == error; i++)
                error =
                    1 == sscanf(text + 1 + 2 * (i - part), "%2hhx", &out[i]) ? error : PMI2_FAIL;
        }
        out += bytes;
        rank += all ? 0 : self->size; /* only the root */
    }
    if (PMI2_SUCCESS != error)
        snprintf(message, GBA_BOOT_MESSAGE, "key %s: PMI-2 error %d; no such key: not in step",
                 p->key, error);
    return PMI2_SUCCESS == error ? GBA_OK : PMI2_SUCCESS == put ? GBA_ERR_MISMATCH : GBA_ERR_OOB;
}

static gba_status_t gather(struct gba_boot_backend *self, const void *in, void *out, size_t bytes,
                           char *message)
{
    return exchange(self, in, out, bytes, self->size, message);
}

static gba_status_t bcast(struct gba_boot_backend *self, void *buffer, size_t bytes, uint32_t root,
                          char *message)
{
    return exchange(self, buffer, buffer, bytes, root, message);
}

static void leave(struct gba_boot_backend *self)
{
    (void)PMI2_Finalize();
    free(self);
}

static gba_status_t join(const void *comm, uint64_t timeout, struct gba_boot_backend **backend,
                         char *message)
{
    static const struct gba_boot_ops ops = {.gather = gather, .bcast = bcast, .close = leave};
    struct over_pmi2 *p = calloc(1, sizeof *p);
    int spawned, size, rank, app;

    (void)comm, (void)timeout;
    if (p == NULL || getenv("PMI_FD") == NULL ||
        PMI2_SUCCESS != PMI2_Init(&spawned, &size, &rank, &app) ||
        PMI2_SUCCESS != PMI2_Job_GetId(p->job, sizeof p->job)) {
        free(p);
        snprintf(message, GBA_BOOT_MESSAGE, "PMI-2 did not start this process (srun --mpi=pmi2)");
        return GBA_ERR_UNSUPPORTED;
    }
    p->base = (struct gba_boot_backend){&ops, (uint32_t)rank, (uint32_t)size};
    *backend = &p->base;
    return GBA_OK;
}

GBA_EXPORT extern const gba_boot_plugin_t gba_boot_plugin;
const gba_boot_plugin_t gba_boot_plugin = {.version = GBA_BOOT_PLUGIN_VERSION, .open = join};

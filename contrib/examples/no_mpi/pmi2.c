/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plug-in of libgba_bootstrap over PMI-2, for launchers without PMIx (srun --mpi=pmi2). See
 * README.md. PMI-2 stores texts of 1023 characters under keys of the job: a call puts those of each
 * member, in parts, and a fence makes them visible. It has no way to remove them, so it suits the
 * few calls of a bootstrap.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gba/bootstrap_plugin.h>
#include <slurm/pmi2.h>

#define PART 448 /* bytes in a text, as hexadecimal digits after the description of the call */
#define TEXT 1024

struct over_pmi2 {
    struct gba_boot_backend base; /* first */
    char job[256];
    unsigned long call;
};

static gba_status_t failed(const char *what, int error, char *message)
{
    snprintf(message, GBA_BOOT_MESSAGE, "%s failed: PMI-2 error %d", what, error);
    return GBA_ERR_OOB;
}

/* The key of a part of one member's data in this call. */
static void key_of(const struct over_pmi2 *p, uint32_t rank, size_t part, char key[PMI2_MAX_KEYLEN])
{
    snprintf(key, PMI2_MAX_KEYLEN, "gba-%lu-%u-%zu", p->call, (unsigned)rank, part);
}

/* call: the same text on all members, if they are in step. */
static gba_status_t put(struct over_pmi2 *p, const char *call, const void *data, size_t bytes,
                        char *message)
{
    char key[PMI2_MAX_KEYLEN], text[TEXT];
    int error = PMI2_SUCCESS;

    p->call++;
    for (size_t done = 0; PMI2_SUCCESS == error && (0 == done || done < bytes); done += PART) {
        size_t used = (size_t)snprintf(text, sizeof text, "%s", call);

        for (size_t i = done; i < bytes && i < done + PART; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%02x",
                                     ((const uint8_t *)data)[i]);
        key_of(p, p->base.rank, done / PART, key);
        error = PMI2_KVS_Put(key, text);
    }
    if (PMI2_SUCCESS == error)
        error = PMI2_KVS_Fence();
    return PMI2_SUCCESS == error ? GBA_OK
                                 : failed("PMI2_KVS_Put or PMI2_KVS_Fence", error, message);
}

static gba_status_t get(struct over_pmi2 *p, const char *call, uint32_t rank, void *data,
                        size_t bytes, char *message)
{
    char key[PMI2_MAX_KEYLEN], text[TEXT];
    int error, len;

    for (size_t done = 0; 0 == done || done < bytes; done += PART) {
        const char *digits = text + strlen(call);

        key_of(p, rank, done / PART, key);
        error = PMI2_KVS_Get(p->job, PMI2_ID_NULL, key, text, sizeof text, &len);
        if (PMI2_SUCCESS != error)
            return failed("PMI2_KVS_Get", error, message);
        if (0 != strncmp(text, call, strlen(call))) {
            snprintf(message, GBA_BOOT_MESSAGE,
                     "rank %u and rank %u make different calls: they are not in step",
                     (unsigned)p->base.rank, (unsigned)rank);
            return GBA_ERR_MISMATCH;
        }
        for (size_t i = done; i < bytes && i < done + PART; i++, digits += 2) {
            unsigned byte = 0;

            if (1 != sscanf(digits, "%2x", &byte))
                return failed("the reading of a text", 0, message);
            ((uint8_t *)data)[i] = (uint8_t)byte;
        }
    }
    return GBA_OK;
}

static gba_status_t pmi2_gather(struct gba_boot_backend *self, const void *in, void *out,
                                size_t bytes, char *message)
{
    struct over_pmi2 *p = (struct over_pmi2 *)self;
    gba_status_t status;
    char call[64];

    snprintf(call, sizeof call, "gather-%zu-", bytes);
    status = put(p, call, in, bytes, message);
    for (uint32_t rank = 0; rank < self->size && GBA_OK == status; rank++)
        status = get(p, call, rank, (uint8_t *)out + rank * bytes, bytes, message);
    return status;
}

static gba_status_t pmi2_bcast(struct gba_boot_backend *self, void *buffer, size_t bytes,
                               uint32_t root, char *message)
{
    struct over_pmi2 *p = (struct over_pmi2 *)self;
    gba_status_t status;
    char call[64];

    snprintf(call, sizeof call, "bcast-%u-%zu-", (unsigned)root, bytes);
    status = put(p, call, buffer, self->rank == root ? bytes : 0, message);
    if (GBA_OK == status && self->rank != root)
        status = get(p, call, root, buffer, bytes, message);
    return status;
}

static void pmi2_close(struct gba_boot_backend *self)
{
    (void)PMI2_Finalize();
    free(self);
}

static const struct gba_boot_ops ops = {
    .gather = pmi2_gather, .bcast = pmi2_bcast, .close = pmi2_close};

static gba_status_t pmi2_open(const void *comm, uint64_t timeout, struct gba_boot_backend **backend,
                              char *message)
{
    struct over_pmi2 *p = calloc(1, sizeof *p);
    int error, spawned, size, rank, app;

    (void)comm;
    (void)timeout; /* a fence of PMI-2 waits for ever */
    if (p == NULL) {
        snprintf(message, GBA_BOOT_MESSAGE, "out of memory");
        return GBA_ERR_NOMEM;
    }
    error = getenv("PMI_FD") == NULL ? PMI2_ERR_INIT : PMI2_Init(&spawned, &size, &rank, &app);
    if (PMI2_SUCCESS == error)
        error = PMI2_Job_GetId(p->job, sizeof p->job);
    if (PMI2_SUCCESS != error) {
        free(p);
        snprintf(message, GBA_BOOT_MESSAGE,
                 "no launcher with PMI-2 has started this process (srun --mpi=pmi2)");
        return GBA_ERR_UNSUPPORTED;
    }
    p->base =
        (struct gba_boot_backend){.ops = &ops, .rank = (uint32_t)rank, .size = (uint32_t)size};
    *backend = &p->base;
    return GBA_OK;
}

GBA_EXPORT extern const gba_boot_plugin_t gba_boot_plugin;
const gba_boot_plugin_t gba_boot_plugin = {.version = GBA_BOOT_PLUGIN_VERSION, .open = pmi2_open};

/* SPDX-License-Identifier: BSD-3-Clause */
/* The backend of a bootstrap: two collective operations, from which bootstrap.c makes the exchange.
 */
#ifndef GBA_BOOTSTRAP_BACKEND_H
#define GBA_BOOTSTRAP_BACKEND_H

#include "gba/bootstrap.h"

#define GBA_BOOT_MESSAGE   320u
#define GBA_BOOT_BYTES_MAX ((size_t)16 << 20) /* of one member, in one call */
#define GBA_BOOT_TOTAL_MAX ((uint64_t)1 << 30)
#define GBA_BOOT_SIZE_MAX  65536u /* members */

struct gba_boot_address;
struct gba_boot_backend;

/* Each returns GBA_OK or an error, and on error sets message, one line of GBA_BOOT_MESSAGE bytes.
 */
struct gba_boot_ops {
    /* in: bytes of this member; out: size * bytes, by rank; bytes may be 0 */
    gba_status_t (*gather)(struct gba_boot_backend *self, const void *in, void *out, size_t bytes,
                           char *message);
    gba_status_t (*bcast)(struct gba_boot_backend *self, void *buffer, size_t bytes, uint32_t root,
                          char *message);
    void (*close)(struct gba_boot_backend *self); /* also frees self */
    /* Complete what other members have begun towards this one; NULL: nothing to do. */
    void (*progress)(struct gba_boot_backend *self);
    /* The address of this host at which other members reach it, with port 0. Returns GBA_OK or
     * GBA_ERR_IO. NULL: unknown. */
    gba_status_t (*address)(const struct gba_boot_backend *self, struct gba_boot_address *address);
};

/* The common part of all backends; the structure of each begins with it. */
struct gba_boot_backend {
    const struct gba_boot_ops *ops;
    uint32_t rank, size;
};

/* Join. backend: set on GBA_OK. Returns as gba_bootstrap_init, and sets message on error.
 * Collective. Blocks. The first: as attr and the environment choose. The second: as member of a
 * valid id. The last: by a plug-in (gba/bootstrap/plugin.h). */
gba_status_t gba_boot_open(const gba_bootstrap_attr_t *attr, struct gba_boot_backend **backend,
                           char *message);
gba_status_t gba_boot_uid_open(const gba_bootstrap_uid_t *uid, uint32_t rank, uint32_t size,
                               struct gba_boot_backend **backend, char *message);
gba_status_t gba_boot_pmix_open(struct gba_boot_backend **backend, char *message);
gba_status_t gba_boot_plugin_open(const char *name, const void *comm, uint64_t timeout,
                                  struct gba_boot_backend **backend, char *message);

/* The backend of a bootstrap, for the address of this member. */
const struct gba_boot_backend *gba_boot_backend_of(const gba_bootstrap_t *bootstrap);

/* Whether this build has PMIx, and whether the plug-in is installed. */
bool gba_boot_has_pmix(void);
bool gba_boot_plugin_installed(const char *name);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The backend of a bootstrap: two collective operations, from which bootstrap.c makes the exchange.
 */
#ifndef GBA_BOOTSTRAP_BACKEND_H
#define GBA_BOOTSTRAP_BACKEND_H

#include "gba/bootstrap.h"
#include "gba/bootstrap_plugin.h"

#define GBA_BOOT_BYTES_MAX ((size_t)16 << 20) /* of one member, in one call */
#define GBA_BOOT_TOTAL_MAX ((uint64_t)1 << 30)
#define GBA_BOOT_SIZE_MAX  65536u /* members */

/*
 * Join, by the backend that attr and the environment choose (open), as the member `rank` of a valid
 * unique id (uid_open), by PMIx (pmix_open), or by a plug-in (plugin_open). name: a path with a
 * slash, or the name of an installed plug-in. backend: set on GBA_OK. Returns as
 * gba_bootstrap_init, and sets message on error. Collective. Blocks.
 */
gba_status_t gba_boot_open(const gba_bootstrap_attr_t *attr, struct gba_boot_backend **backend,
                           char *message);
gba_status_t gba_boot_uid_open(const gba_bootstrap_uid_t *uid, uint32_t rank, uint32_t size,
                               struct gba_boot_backend **backend, char *message);
gba_status_t gba_boot_pmix_open(struct gba_boot_backend **backend, char *message);
gba_status_t gba_boot_plugin_open(const char *name, const void *comm, uint64_t timeout,
                                  struct gba_boot_backend **backend, char *message);

/* The backend of a bootstrap, for the address of this member. */
const struct gba_boot_backend *gba_boot_backend_of(const gba_bootstrap_t *bootstrap);

/* Count a team that all members make. Returns its number, the same on all. */
uint64_t gba_boot_team_number(gba_bootstrap_t *bootstrap);

/* A random number, the same on all members. */
uint64_t gba_boot_number(const gba_bootstrap_t *bootstrap);

/* Where gba_bootstrap_message is written: GBA_BOOT_MESSAGE bytes. */
char *gba_boot_message(gba_bootstrap_t *bootstrap);

/* Whether that member is on this host, by its name. */
bool gba_boot_same_host(const gba_bootstrap_t *bootstrap, uint32_t rank);

/* The job on this member's status page [gba/stall.h], as long as the process lives; NULL: it has
 * none, or of another bootstrap. And the rank of a member in it, which may be another one;
 * UINT32_MAX: that is in another job. */
const char *gba_boot_place(const gba_bootstrap_t *bootstrap);
uint32_t gba_boot_process(const gba_bootstrap_t *bootstrap, uint32_t rank);

/* Call look(ctx) while an operation of the exchange waits; NULL: nothing. By the thread that makes
 * the operations. */
void gba_boot_look(gba_bootstrap_t *bootstrap, void (*look)(void *ctx), void *ctx);

/* Whether members are on different hosts, or in containers without common memory. The same on all.
 */
bool gba_boot_apart(const gba_bootstrap_t *bootstrap);

/* Whether this build has PMIx, and whether the plug-in can be read. */
bool gba_boot_has_pmix(void);
bool gba_boot_plugin_installed(const char *name);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plug-ins of libgba_bootstrap: further ways by which the processes of a job find each other. A
 * plug-in is a shared object with the symbol `gba_boot_plugin`. GBA_BOOTSTRAP names it: by a path
 * with a slash, or as NAME, which is bootstrap_NAME.so in the directory of the library's own
 * plug-ins, $libdir/gba-barrier. contrib/examples/no_mpi/pmi2.c is one.
 */
#ifndef GBA_BOOTSTRAP_PLUGIN_API_H
#define GBA_BOOTSTRAP_PLUGIN_API_H

#include "gba/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of this header: libgba_bootstrap refuses a plug-in of another version. */
#define GBA_BOOT_PLUGIN_VERSION 4u
#define GBA_BOOT_PLUGIN_SYMBOL  "gba_boot_plugin"

/* The length of a message, with its end. */
#define GBA_BOOT_MESSAGE 320u

struct gba_boot_address; /* for libgba_bootstrap */
struct gba_boot_backend;

/*
 * The operations of a joined member. gather, bcast and min are collective, block, and are called by
 * one thread at a time, on all members in the same order. Each returns GBA_OK, or an error, usually
 * GBA_ERR_OOB; GBA_ERR_MISMATCH: members make different calls; GBA_ERR_TIMEOUT. On an error it sets
 * message, GBA_BOOT_MESSAGE bytes, to one line with the cause. No call follows but that of close.
 */
typedef struct gba_boot_ops {
    /* Gather from all to all. in: bytes of this member. out: size * bytes, by rank. bytes: 0 to
     * 16 MiB, the same on all members; with 0 it is a barrier. */
    gba_status_t (*gather)(struct gba_boot_backend *self, const void *in, void *out, size_t bytes,
                           char *message);
    /* Copy the buffer of the member `root` to all others. bytes: as for gather. */
    gba_status_t (*bcast)(struct gba_boot_backend *self, void *buffer, size_t bytes, uint32_t root,
                          char *message);
    /* Leave, and free self. Not collective: other members may have left before. */
    void (*close)(struct gba_boot_backend *self);
    /* Complete what other members have begun towards this one, without blocking; NULL: nothing to
     * do. Called while a barrier waits, by any thread. */
    void (*progress)(struct gba_boot_backend *self);
    /* For libgba_bootstrap; NULL in a plug-in. */
    gba_status_t (*address)(const struct gba_boot_backend *self, struct gba_boot_address *address);
    /* Set each word to the least one of all members. count: the same on all members. NULL: by
     * gather, so each member receives the words of all. */
    gba_status_t (*min)(struct gba_boot_backend *self, uint64_t *words, uint32_t count,
                        char *message);
} gba_boot_ops_t;

/* A joined member. The structure of a plug-in begins with it. */
typedef struct gba_boot_backend {
    const struct gba_boot_ops *ops;
    uint32_t rank, size; /* of this member; number of members, 1 to 65536 */
    /* To be called ten times a second or more while an operation waits for other members: it
     * reports those that are missing. Set by libgba_bootstrap; NULL: there is nothing to do. */
    void (*look)(void *ctx);
    void *look_ctx; /* its argument */
} gba_boot_backend_t;

/* A plug-in: the type of the symbol `gba_boot_plugin`. */
typedef struct gba_boot_plugin {
    uint32_t version; /* GBA_BOOT_PLUGIN_VERSION */
    /*
     * Join. comm: gba_bootstrap_attr_t.mpi_comm. timeout: ns that a call waits for the last member,
     * by GBA_BOOTSTRAP_TIMEOUT; 0: no limit. backend: set on GBA_OK. message: as for the
     * operations. Returns GBA_OK; GBA_ERR_UNSUPPORTED: no launcher that the plug-in needs; or
     * another error. Collective. Blocks.
     */
    gba_status_t (*open)(const void *comm, uint64_t timeout, struct gba_boot_backend **backend,
                         char *message);
} gba_boot_plugin_t;

#ifdef __cplusplus
}
#endif

#endif

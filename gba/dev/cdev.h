/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The backend for /dev/gbaN: the calls of the Linux driver (gba_ioctl.h).
 *
 *   cdev.c        the ops table: device and seats
 *   cdev_open.c   is this file a GBA?
 *   cdev_map.c    doorbells and registers, mapped
 *   cdev_sys.c    the system calls, as a table that tests replace; what their errors mean
 *   cdev_flags.c  memory for release flags
 */
#ifndef GBA_DEV_CDEV_H
#define GBA_DEV_CDEV_H

#include <pthread.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "gba/base/order.h"
#include "gba/dev/dev_ops.h"
#include "gba/spec/gba_ioctl.h"

/* --- cdev_sys.c --- */

/* The system calls that this backend makes; each returns as the system's and sets errno. */
struct gba_cdev_sys {
    int (*open)(const char *path, int flags);
    int (*close)(int file);
    int (*fstat)(int file, struct stat *stat);
    int (*ioctl)(int file, unsigned long request, void *argument);
    void *(*mmap)(size_t size, int protection, int flags, int file, uint64_t offset);
    int (*munmap)(void *address, size_t size);
    int (*madvise)(void *address, size_t size, int advice);
};

/* The system's own, unless a test replaces it. Not thread-safe: before a device is opened. */
extern const struct gba_cdev_sys *gba_cdev_sys;

/* Where an error came from: the same errno means different things. */
enum gba_cdev_call { GBA_CDEV_OPEN, GBA_CDEV_IOCTL, GBA_CDEV_MMAP };

/*
 * What an errno means, and whether the caller can expect it, so that it is not logged as a fault.
 * Pure. An errno that is not known is GBA_ERR_IO.
 */
gba_status_t gba_cdev_status(enum gba_cdev_call call, int error, bool *expected);

/* One call of the driver, made again when it was interrupted. Returns 0 or the errno. */
int gba_cdev_try(int file, unsigned long request, void *argument);

/*
 * That, as a status: GBA_OK or as gba_cdev_status; what the caller cannot expect is logged.
 * name: of the call, for the log.
 */
gba_status_t gba_cdev_outcome(int error, const char *name);

/* Both in one. */
gba_status_t gba_cdev_ioctl(int file, unsigned long request, const char *name, void *argument);

/* --- cdev_flags.c --- */

#define GBA_CDEV_CHUNK_SIZE  4096u /* bytes; the smallest page there is */
#define GBA_CDEV_CHUNK_FLAGS (GBA_CDEV_CHUNK_SIZE / GBA_FLAG_STRIDE)

/* Memory for GBA_CDEV_CHUNK_FLAGS release flags, a mapping of its own. */
struct gba_cdev_chunk {
    struct gba_cdev_chunk *next;
    char *memory;
    uint32_t used; /* bit i: flag i is taken */
};

/* The flags of one device. They stay mapped until the device is closed. */
struct gba_cdev_flags {
    pthread_mutex_t lock;
    struct gba_cdev_chunk *chunks;
};

void gba_cdev_flags_init(struct gba_cdev_flags *flags);

/* Unmap all. unmap: false in a child of fork, which does not have the memory. */
void gba_cdev_flags_fini(struct gba_cdev_flags *flags, bool unmap);

/* Take a flag. NULL: out of memory (logged). Thread-safe. */
gba_word_t *gba_cdev_flag_get(struct gba_cdev_flags *flags);

/* Give it back, once the device no longer stores to it. Thread-safe. */
void gba_cdev_flag_put(struct gba_cdev_flags *flags, gba_word_t *flag);

/* --- cdev.c --- */

struct gba_cdev {
    struct gba_dev dev;
    int file;
    pid_t owner; /* who opened it: a child of fork has no part in what its parent joined */
    uint32_t groups;
    uint8_t uuid[GBA_UUID_SIZE];
    uint64_t job;
    struct gba_cdev_flags flags;
    pthread_mutex_t bar_lock;
    void *bar; /* the whole BAR, mapped when it is first wanted */
};

struct gba_cdev_seat {
    struct gba_seat seat;
    void *doorbell; /* the mapping */
    size_t doorbell_size;
};

/* Whether this process is a child of the one that opened the device. */
bool gba_cdev_is_child(const struct gba_cdev *dev);

/*
 * GBA_OK, or in a child GBA_ERR_IO (logged). A child of fork shares its parent's open file, so the
 * driver cannot tell them apart: what the child joined or left there, it would join or leave in its
 * parent's name.
 */
gba_status_t gba_cdev_refuse_child(const struct gba_cdev *dev);

/* --- cdev_open.c --- */

/*
 * Open the file and see that it is a GBA of our version.
 * query: gets what the driver says. Returns GBA_OK, GBA_ERR_NO_DEVICE, or (logged) GBA_ERR_PERM,
 * GBA_ERR_NOT_GBA, GBA_ERR_VERSION, GBA_ERR_NOMEM, GBA_ERR_BUSY, GBA_ERR_IO.
 */
gba_status_t gba_cdev_file_open(const char *path, int *file, struct gba_ioc_query *query);

/* --- cdev_map.c --- */

/* Map the doorbell where the driver says it is. Returns GBA_OK; GBA_ERR_DEAD; or (logged)
 * GBA_ERR_PERM, GBA_ERR_NOMEM, GBA_ERR_IO (where it says cannot be), GBA_ERR_UNSUPPORTED (a 32-bit
 * process). */
gba_status_t gba_cdev_doorbell_map(struct gba_cdev_seat *seat, const struct gba_ioc_join *join);

gba_status_t gba_cdev_reg_read(struct gba_dev *dev, uint32_t address, unsigned width,
                               uint64_t *value);
gba_status_t gba_cdev_reg_write(struct gba_dev *dev, uint32_t address, unsigned width,
                                uint64_t value);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The backend for /dev/gbaN: the calls of the Linux driver (gba_ioctl.h).
 *
 *   cdev.c        the ops table: device and memberships
 *   cdev_open.c   opens the file and checks that it is a GBA
 *   cdev_map.c    maps doorbells and registers
 *   cdev_sys.c    the system calls, as a table that tests replace, and the status of their errors
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

/* The system calls that this backend makes. Each returns as the system's call and sets errno. */
struct gba_cdev_sys {
    int (*open)(const char *path, int flags);
    int (*close)(int file);
    int (*fstat)(int file, struct stat *stat);
    int (*ioctl)(int file, unsigned long request, void *argument);
    void *(*mmap)(size_t size, int protection, int flags, int file, uint64_t offset);
    int (*munmap)(void *address, size_t size);
    int (*madvise)(void *address, size_t size, int advice);
};

/* The system's own calls, unless a test replaces them. Not thread-safe: a test replaces them before
 * it opens a device. */
extern const struct gba_cdev_sys *gba_cdev_sys;

/* The call that failed: the same errno has a different meaning in each. */
enum gba_cdev_call { GBA_CDEV_OPEN, GBA_CDEV_IOCTL, GBA_CDEV_MMAP };

/*
 * The status for an errno. An unknown errno is GBA_ERR_IO.
 * expected: set to true if the caller must expect this error, so that it is not logged. Pure.
 */
gba_status_t gba_cdev_status(enum gba_cdev_call call, int error, bool *expected);

/* Make one call of the driver, and repeat it when a signal interrupts it. Returns 0 or the errno.
 * Thread-safe. */
int gba_cdev_try(int file, unsigned long request, void *argument);

/*
 * The status of a driver call. error: as returned by gba_cdev_try; name: of the call, for the log.
 * Returns GBA_OK, or as gba_cdev_status. Logs an unexpected error.
 */
gba_status_t gba_cdev_outcome(int error, const char *name);

/* gba_cdev_try, then gba_cdev_outcome. */
gba_status_t gba_cdev_ioctl(int file, unsigned long request, const char *name, void *argument);

/* --- cdev_flags.c --- */

#define GBA_CDEV_CHUNK_SIZE  4096u /* bytes: the smallest page size of the hosts */
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

/* Free all chunks. unmap: false in a child of fork, which does not have the memory. Not
 * thread-safe. */
void gba_cdev_flags_fini(struct gba_cdev_flags *flags, bool unmap);

/* Take a flag. Returns NULL if out of memory (logged). Thread-safe. */
gba_flag_t *gba_cdev_flag_get(struct gba_cdev_flags *flags);

/* Give a flag back. The device must not store to it any more. Thread-safe. */
void gba_cdev_flag_put(struct gba_cdev_flags *flags, gba_flag_t *flag);

/* --- cdev.c --- */

struct gba_cdev {
    struct gba_dev dev;
    int file;
    pid_t owner; /* the process that opened it; its children of fork do not share its memberships */
    uint32_t groups;
    uint8_t uuid[GBA_UUID_SIZE];
    uint64_t job;
    struct gba_cdev_flags flags;
    pthread_mutex_t bar_lock;
    void *bar; /* the whole BAR, mapped at the first register access; NULL before */
};

struct gba_cdev_membership {
    struct gba_membership membership;
    void *doorbell; /* the mapping */
    size_t doorbell_size;
};

/* Whether this process is a child of the process that opened the device. Thread-safe. */
bool gba_cdev_is_child(const struct gba_cdev *dev);

/*
 * Refuse a call in a child of fork. Returns GBA_OK, or in a child GBA_ERR_IO (logged). Parent and
 * child share one open file, so the driver cannot distinguish them: a JOIN or FREE of the child
 * would act for its parent. Thread-safe.
 */
gba_status_t gba_cdev_refuse_child(const struct gba_cdev *dev);

/* --- cdev_open.c --- */

/*
 * Open the file, and check that it is a GBA of a supported version.
 * query: set to the driver's answer on GBA_OK. Returns GBA_OK, GBA_ERR_NO_DEVICE (logged unless the
 * file does not exist), or (logged) GBA_ERR_PERM, GBA_ERR_NOT_GBA, GBA_ERR_VERSION, GBA_ERR_NOMEM,
 * GBA_ERR_BUSY, GBA_ERR_IO. Thread-safe.
 */
gba_status_t gba_cdev_file_open(const char *path, int *file, struct gba_ioc_query *query);

/* --- cdev_map.c --- */

/* Map the doorbell at the offset that JOIN returned. Returns GBA_OK; GBA_ERR_DEAD; or (logged)
 * GBA_ERR_PERM, GBA_ERR_NOMEM, GBA_ERR_IO (an invalid offset or size), GBA_ERR_UNSUPPORTED (a
 * 32-bit process). Thread-safe on different memberships. */
gba_status_t gba_cdev_doorbell_map(struct gba_cdev_membership *membership,
                                   const struct gba_ioc_join *join);

gba_status_t gba_cdev_reg_read(struct gba_dev *dev, uint32_t address, unsigned width,
                               uint64_t *value);
gba_status_t gba_cdev_reg_write(struct gba_dev *dev, uint32_t address, unsigned width,
                                uint64_t value);

#endif

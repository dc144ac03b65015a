/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The backend for /dev/gbaN: the calls of the Linux driver (gba_ioctl.h).
 *
 *   cdev.c        the ops table: device and memberships
 *   cdev_open.c   opens the file and checks that it is a GBA
 *   cdev_map.c    maps doorbells and the pages of release flags
 *   cdev_regs.c   reads and writes registers, for diagnosis
 *   cdev_sys.c    the system calls, as a table that tests replace, and the status of their errors
 */
#ifndef GBA_DEV_CDEV_H
#define GBA_DEV_CDEV_H

#include <pthread.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "gba/base/descriptor.h"
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
    ssize_t (*pread)(int file, void *buffer, size_t size, uint64_t offset);
    ssize_t (*pwrite)(int file, const void *buffer, size_t size, uint64_t offset);
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

/* gba_descriptor_number and gba_descriptor_close, with the system calls of this backend. */
int gba_cdev_number(const struct gba_descriptor *file);
void gba_cdev_close(struct gba_descriptor *file);

/* Make one call of the driver, and repeat it when a signal interrupts it: an interrupted call has
 * changed nothing. Returns 0 or the errno. Thread-safe. */
int gba_cdev_try(int file, unsigned long request, void *argument);

/*
 * The status of a driver call. error: as returned by gba_cdev_try; name: of the call, for the log.
 * Returns GBA_OK, or as gba_cdev_status. Logs an unexpected error.
 */
gba_status_t gba_cdev_outcome(int error, const char *name);

/* gba_cdev_try, then gba_cdev_outcome. */
gba_status_t gba_cdev_ioctl(int file, unsigned long request, const char *name, void *argument);

/* --- cdev.c --- */

/* A mapped page of the driver, with the flags of some memberships. */
struct gba_cdev_page {
    struct gba_cdev_page *next;
    uint64_t offset; /* for mmap */
    char *memory;
    size_t size;
    uint32_t users; /* memberships that have mapped their flag */
};

struct gba_cdev {
    struct gba_dev dev;
    struct gba_descriptor file;
    pid_t owner; /* the process that opened it; its children of fork do not share its memberships */
    uint32_t groups;
    uint64_t features; /* GBA_FEATURE_* */
    uint8_t uuid[GBA_UUID_SIZE];
    uint64_t job;
    pthread_mutex_t lock;        /* over the fields below */
    struct gba_cdev_page *pages; /* of flags */
    char path[sizeof((struct gba_dev_path *)0)->file];
    struct gba_descriptor registers; /* the file of the registers; -1: not open yet */
};

struct gba_cdev_membership {
    struct gba_membership membership;
    void *doorbell; /* the mapping */
    size_t map_size;
    uint64_t flag_offset; /* of the flag's page, for mmap */
    uint32_t flag_position;
    struct gba_cdev_page *page; /* NULL: the flag is not mapped */
    bool died;                  /* the driver has reported a death in the group */
};

/* Whether this process is a child of the process that opened the device. Thread-safe. */
bool gba_cdev_is_child(const struct gba_cdev *dev);

/*
 * Refuse a call in a child of fork. Returns GBA_OK, or in a child GBA_ERR_IO (logged). The driver
 * refuses the calls of a child, too, but its error does not name the cause. Thread-safe.
 */
gba_status_t gba_cdev_refuse_child(const struct gba_cdev *dev);

/* --- cdev_open.c --- */

/*
 * Open the file, and check that it is a GBA of a supported version.
 * file, query: set on GBA_OK; query to the driver's answer. Returns GBA_OK, GBA_ERR_NO_DEVICE
 * (logged unless the file does not exist), or (logged) GBA_ERR_PERM, GBA_ERR_NOT_GBA,
 * GBA_ERR_VERSION, GBA_ERR_NOMEM, GBA_ERR_BUSY, GBA_ERR_IO. Thread-safe.
 */
gba_status_t gba_cdev_file_open(const char *path, struct gba_descriptor *file,
                                struct gba_ioc_query *query);

/* --- cdev_map.c --- */

/*
 * Keep the offsets that JOIN returned, and map the doorbell. Returns GBA_OK; GBA_ERR_DEAD; or
 * (logged) GBA_ERR_PERM, GBA_ERR_NOMEM, GBA_ERR_IO (an invalid offset, size or position),
 * GBA_ERR_UNSUPPORTED (a 32-bit process). Thread-safe on different memberships.
 */
gba_status_t gba_cdev_doorbell_map(struct gba_cdev_membership *membership,
                                   const struct gba_ioc_join *join);

/* Unmap the doorbell. Thread-safe on different memberships. */
void gba_cdev_doorbell_unmap(struct gba_cdev_membership *membership);

/*
 * Map the page with the flag, unless another membership of the file has mapped it, and set
 * membership->flag. May be called again after an error. Returns GBA_OK; GBA_ERR_DEAD; or (logged)
 * GBA_ERR_PERM, GBA_ERR_NOMEM, GBA_ERR_IO. Thread-safe on different memberships.
 */
gba_status_t gba_cdev_flag_map(struct gba_cdev_membership *membership);

/* Unmap the page with the flag if no other membership uses it. Does nothing if the flag is not
 * mapped. Thread-safe on different memberships. */
void gba_cdev_flag_unmap(struct gba_cdev_membership *membership);

/* --- cdev_owner.c --- */

/* gba_dev_ops.owners: those that the driver reports to this process. Returns GBA_OK;
 * GBA_ERR_UNSUPPORTED: the driver does not report owners; GBA_ERR_DEAD; or (logged) GBA_ERR_IO.
 * Thread-safe. */
gba_status_t gba_cdev_owners(struct gba_dev *d, gba_group_owner_t *list, uint32_t max,
                             uint32_t *count);

/* --- cdev_regs.c --- */

/* gba_dev_ops.reg_read and reg_write, through the debug file of the driver, which only root can
 * open. Return GBA_OK; GBA_ERR_PARAM (misaligned); GBA_ERR_UNSUPPORTED: there is no such file; or
 * (logged) GBA_ERR_PERM, GBA_ERR_IO. Thread-safe. */
gba_status_t gba_cdev_reg_read(struct gba_dev *dev, uint32_t address, unsigned width,
                               uint64_t *value);
gba_status_t gba_cdev_reg_write(struct gba_dev *dev, uint32_t address, unsigned width,
                                uint64_t value);

#endif

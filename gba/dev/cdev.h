/* SPDX-License-Identifier: BSD-3-Clause */
/* The system calls of the cdev backend as a table, so that a test can stand in for the kernel. */
#ifndef GBA_DEV_CDEV_H
#define GBA_DEV_CDEV_H

#include <sys/stat.h>
#include <sys/types.h>

struct gba_cdev_sys {
    int (*open)(const char *path, int flags);
    int (*close)(int file);
    int (*fstat)(int file, struct stat *st);
    int (*ioctl)(int file, unsigned long request, void *arg);
    void *(*mmap)(size_t len, int prot, int file, off_t offset);
    int (*munmap)(void *address, size_t len);
};

/* What the backend calls. A test sets it before it opens a device, and puts it back afterwards. */
extern const struct gba_cdev_sys *gba_cdev_sys;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Open a file, and check that it is a GBA that this library can use. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "gba/base/log.h"
#include "gba/dev/cdev.h"
#include "gba/spec/gba_ioctl.h"

/* The first fields of QUERY in versions 1 and 2 of the interface, and its number there. */
struct query_old {
    uint32_t size, flags, abi_version, regs_version;
    uint8_t rest[120];
};
#define QUERY_OLD _IOWR(0xBA, 0, struct query_old)

/* Open the file, and check that it is a character device. */
static gba_status_t file_open(const char *path, struct gba_descriptor *out)
{
    struct stat stat;
    gba_status_t status;
    bool expected;
    int file;

    /* The path may name another device by mistake, a terminal for example: O_NONBLOCK does not wait
     * for a carrier, and O_NOCTTY does not make it the controlling terminal. */
    do
        file = gba_cdev_sys->open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    while (file < 0 && EINTR == errno);
    if (file < 0) {
        int error = errno;

        status = gba_cdev_status(GBA_CDEV_OPEN, error, &expected);
        if (!expected)
            gba_log(GBA_LOG_ERROR, "cannot open %s: %s%s", path, strerror(error),
                    GBA_ERR_NO_DEVICE == status ? " (no driver serves this file)" : "");
        return status;
    }
    if (0 != gba_cdev_sys->fstat(file, &stat)) {
        gba_log(GBA_LOG_ERROR, "cannot stat %s: %s", path, strerror(errno));
        status = GBA_ERR_IO;
        goto close_file;
    }
    if (!S_ISCHR(stat.st_mode)) {
        gba_log(GBA_LOG_ERROR, "%s is not a GBA: it is not a character device", path);
        status = GBA_ERR_NOT_GBA;
        goto close_file;
    }
    *out = gba_descriptor_of(file, &stat);
    return GBA_OK;

close_file:
    gba_cdev_sys->close(file);
    return status;
}

static gba_status_t version_refuse(const char *path, uint32_t abi_version, uint32_t regs_version)
{
    gba_log(GBA_LOG_ERROR,
            "%s has driver interface %u and registers %u.%u; this library needs driver interface "
            "%u and registers %u.x",
            path, abi_version, regs_version >> 16, regs_version & 0xFFFF, GBA_ABI_VERSION,
            GBA_REGS_MAJOR);
    return GBA_ERR_VERSION;
}

/* Check that this library supports the version and the sizes that the driver reports. */
static gba_status_t query_check(const char *path, const struct gba_ioc_query *query)
{
    if (GBA_ABI_VERSION != query->abi_version || GBA_REGS_MAJOR != query->regs_version >> 16)
        return version_refuse(path, query->abi_version, query->regs_version);
    /* Both values index arrays. */
    if (query->groups < 1 || query->groups > GBA_GROUPS || query->members_max < 1 ||
        query->members_max > GBA_MEMBERS_MAX) {
        gba_log(GBA_LOG_ERROR,
                "%s reports %u groups of %u members; allowed: 1 to %u groups of 1 to %u members",
                path, query->groups, query->members_max, GBA_GROUPS, GBA_MEMBERS_MAX);
        return GBA_ERR_IO;
    }
    return GBA_OK;
}

/* The driver refuses the first call: a GBA of an older version, or another device. */
static gba_status_t file_identify_old(const char *path, int file)
{
    struct query_old query = {.size = sizeof query};

    if (0 == gba_cdev_try(file, QUERY_OLD, &query) && query.abi_version < GBA_ABI_VERSION)
        return version_refuse(path, query.abi_version, query.regs_version);
    gba_log(GBA_LOG_ERROR, "%s is not a GBA: another driver serves this file", path);
    return GBA_ERR_NOT_GBA;
}

/* Make the first call, which also distinguishes a GBA from another character device. */
static gba_status_t file_identify(const char *path, int file, struct gba_ioc_query *query)
{
    gba_status_t status;
    bool expected;
    int error;

    memset(query, 0, sizeof *query);
    query->size = sizeof *query;
    error = gba_cdev_try(file, GBA_IOC_QUERY, query);
    if (0 == error)
        return query_check(path, query);
    if (ENODEV == error) {
        gba_log(GBA_LOG_ERROR, "cannot query %s: the device was unplugged", path);
        return GBA_ERR_NO_DEVICE;
    }
    /* The errors of drivers for an unknown call. EINVAL is the error of /dev/random, for
     * example. */
    if (ENOTTY == error || EINVAL == error || ENOSYS == error || EOPNOTSUPP == error)
        return file_identify_old(path, file);
    status = gba_cdev_status(GBA_CDEV_IOCTL, error, &expected);
    gba_log(GBA_LOG_ERROR, "cannot query %s: %s", path, strerror(error));
    return status;
}

gba_status_t gba_cdev_file_open(const char *path, struct gba_descriptor *file,
                                struct gba_ioc_query *query)
{
    struct gba_descriptor opened = {.number = -1};
    gba_status_t status = file_open(path, &opened);

    if (GBA_OK != status)
        return status;
    status = file_identify(path, opened.number, query);
    if (GBA_OK != status) {
        gba_cdev_sys->close(opened.number);
        return status;
    }
    *file = opened;
    return GBA_OK;
}

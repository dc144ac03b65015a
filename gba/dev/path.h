/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text that names a device: "/dev/gba0", "sim", "sim:NAME?option=value&option=value", "none".
 */
#ifndef GBA_DEV_PATH_H
#define GBA_DEV_PATH_H

#include "gba/gba.h"

#define GBA_SIM_NAME_MAX 48 /* fits the kernel's limits on names of memfd and abstract sockets */

enum gba_dev_kind { GBA_DEV_NONE, GBA_DEV_CDEV, GBA_DEV_SIM };

/*
 * Options of the simulator. All are 0 unless they are given; a fault with "every nth" is off at 0.
 * Compared as a whole by those who attach to one simulator, so no padding: all are u32.
 */
struct gba_sim_options {
    uint32_t latency;        /* ns from the last arrival to the release, 0 to 1,000,000,000 */
    uint32_t jitter;         /* ns at most on top, random for each release store; same range */
    uint32_t seed;           /* of jitter */
    uint32_t lose_arrival;   /* every nth arrival never reaches the device */
    uint32_t lose_release;   /* every nth release store is never made */
    uint32_t repeat_release; /* every nth release store is made again later, when it is stale */
    uint32_t die_after;      /* n rounds complete; the device dies as the next one would */
    uint32_t die_arrival;    /* the device dies as the nth arrival, of any group, reaches it */
    uint32_t die_release;    /* it dies in round die_after + 1 as die_after says, but after n of its
                                release stores; 0: before any */
    uint32_t die_call;    /* it dies as the nth call of the driver about a group begins: asking for
                             one, joining, mapping a flag, arming, leaving */
    uint32_t groups;      /* groups that the device has, 1 to 32; 0 means 32 */
    uint32_t full;        /* 1: every group is taken */
    uint32_t refuse_rank; /* 1 + the member whose join is refused; 0: none ("refuse_rank=0" in
                             the text is rank 0, so 1 here) */
    uint32_t version;     /* register version that the device claims, 0: GBA_REGS_* */
};

struct gba_dev_path {
    enum gba_dev_kind kind;
    char file[256];                  /* GBA_DEV_CDEV */
    char name[GBA_SIM_NAME_MAX + 1]; /* GBA_DEV_SIM; "" = the simulator of the job */
    struct gba_sim_options sim;
};

/* The number of a job (gba_device_attr_t), the same in all its processes; NULL: of this process. */
uint64_t gba_dev_job(const char *job);

/*
 * Parse a device path.
 * message: gets one line that names what is wrong and what is allowed (len bytes at most).
 * Returns GBA_OK or GBA_ERR_PARAM. Thread-safe. Allocates nothing.
 */
gba_status_t gba_dev_path_parse(const char *text, struct gba_dev_path *path, char *message,
                                size_t len);

#endif

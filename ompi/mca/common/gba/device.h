/* SPDX-License-Identifier: BSD-3-Clause */
/* The device of a component, and the choice among several. */
#ifndef GBA_COMMON_DEVICE_H
#define GBA_COMMON_DEVICE_H

#include "ompi/mca/common/gba/compat.h"

#include "gba/gba.h"

/* The devices of a component; all zero before the first call. */
struct gba_common_device {
    bool tried; /* the process has its device, or not, as `status` says */
    bool used;  /* it has served a team of this process */
    gba_status_t status;
    uint32_t reasons_reported;    /* bit -status: this reason has been reported */
    char detail[256];             /* libgba's line about a device that failed to open, or "" */
    gba_device_choices_t choices; /* count 0 or 1: the device is that of device_path */
    gba_device_t *open[GBA_DEVICE_CHOICES_MAX]; /* by choice; NULL: not open */
    uint32_t chosen;                            /* index, see choice.c */
    uint32_t current; /* index of the device: another one if the chosen one cannot be opened */
    bool others_tried;
};

/* device.c */

/*
 * The device of the process, opened at the first call; later calls return the outcome of the first.
 * All components of a process get the same device for the same path. If the chosen one of several
 * choices cannot be opened, it is the first one that can. If the user did not set the path, a
 * file that exists but fails to open as a device is reported at once, in one line per job and host.
 * Returns the device, or NULL with the reason in *status. Thread-safe.
 */
gba_device_t *gba_common_device_get(gba_status_t *status);

/* The usable devices of a process with several, for gba_team_attr_t: opens them. */
uint32_t gba_common_devices_get(void *unused, gba_device_t **list, uint32_t max);

/* Release the devices. */
void gba_common_devices_put(void);

/* choice.c: the choice among several devices of the host, if the user has not set device_path. */

/*
 * Find the choices, and publish the distances of this process to them, if there are several.
 * A single choice is the device. To be called in a component's open, after
 * gba_common_open. publish: the modex is still open.
 */
void gba_common_choice_open(bool publish);

/* Choose a device, after MPI_Init's exchange: set device_path of the parameters. With the lock
 * held. */
void gba_common_choice_make(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device of a component, the choice among several, and the keys of the job.
 */
#ifndef GBA_COMMON_DEVICE_H
#define GBA_COMMON_DEVICE_H

#include "ompi/mca/common/gba/compat.h"

#include "gba/gba.h"

/* The device of a component; all zero before the first call. */
struct gba_common_device {
    gba_device_t *device;
    gba_status_t status;
    bool tried;
    bool used;                 /* it has served a team of this process */
    uint32_t reasons_reported; /* bit -status: this reason has been reported */
    char detail[256];          /* libgba's line about a device that failed to open, or "" */
    /* Of a process that chooses among several devices; see choice.c: */
    gba_candidates_t candidates;              /* count 0 or 1: no choice */
    gba_device_t *others[GBA_CANDIDATES_MAX]; /* the open candidates, the chosen one included */
    bool others_tried;
    uint32_t others_ms; /* spent on opening them */
    uint32_t chosen;    /* index */
    bool replaced; /* the chosen device could not be opened, and `device` is another candidate */
    char why[160]; /* the reason of the choice, in words */
};

/* device.c */

/*
 * The device of the process, opened at the first call; later calls return the outcome of the first.
 * All components of a process get the same device for the same path. If the user did not set the
 * path, a file that exists but fails to open as a device is reported at once, in one line per job
 * and host.
 * Returns the device, or NULL with the reason in *status. Thread-safe.
 */
gba_device_t *gba_common_device_get(gba_status_t *status);

/* Release the device. */
void gba_common_device_put(void);

/* choice.c: the choice among several devices of the host, if the user has not set device_path. */

/*
 * Find the candidates, and publish the distances of this process to them, if there are several.
 * A single candidate is the device. To be called in a component's open, after
 * gba_common_open. publish: the modex is still open.
 */
void gba_common_choice_open(bool publish);

/* Choose a device, after MPI_Init's exchange: set device_path of the parameters. With the lock
 * held.
 */
void gba_common_choice_make(void);

/* The chosen device cannot be opened: take the first candidate that can. Sets device, status and
 * device_path, if there is one. With the lock held. */
void gba_common_choice_replace(void);

/* The usable devices of a process with several, for gba_team_attr_t: opens them. */
uint32_t gba_common_choice_devices(void *unused, gba_device_t **list, uint32_t max);

/* Close the devices of gba_common_choice_devices. */
void gba_common_choice_close(void);

/* key.c */

/* Erase the keys. */
void gba_common_key_clear(void);

/*
 * Get the device at a path with this job's attributes: its name, and if the path needs a key, that
 * of the job, or if none was handed over that of the key file. To be called after MPI_Init's
 * exchange, except on rank 0. timeout_ms: as in gba_device_attr_t. Returns as
 * gba_global_device_get, whose reference the caller gets. With the lock held. Not collective.
 */
gba_status_t gba_common_device_open(const char *path, uint32_t timeout_ms, gba_device_t **device);

/* Open a candidate in `others`, unless it is open. All calls of the process together wait 10 s at
 * most for switches that do not answer. index: below the number of candidates. As
 * gba_common_device_open otherwise. */
void gba_common_candidate_open(uint32_t index);

/* gba_common_device_get, which calls key.c. */
typedef gba_device_t *(*gba_common_get_fn_t)(gba_status_t *status);

/* On rank 0: if device_path or a candidate is a gba-switchd over TCP, and there is a key file, open
 * it and publish the key of the job. No effect on other ranks. To be called after
 * gba_common_choice_open, and before the framework's open ends, as gba_compat_modex_put. Waits for
 * the switch as gba_device_init. */
void gba_common_key_publish(gba_common_get_fn_t get);

/*
 * Hand the keys of the job from member 0 to those members of the exchange that have none. Member 0
 * requests keys if it has the file and none was published. All members call it, whether they need a
 * key or not, before they open a device. Returns the status of the exchange. Collective.
 */
gba_status_t gba_common_key_share(gba_common_get_fn_t get, const gba_oob_t *oob);

#endif

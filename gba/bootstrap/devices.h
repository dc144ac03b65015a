/* SPDX-License-Identifier: BSD-3-Clause */
/* The devices of a member of a bootstrap: the choice among several, as a process of MPI makes it.
 */
#ifndef GBA_BOOTSTRAP_DEVICES_H
#define GBA_BOOTSTRAP_DEVICES_H

#include "gba/bootstrap/backend.h"

struct gba_boot_devices {
    gba_params_t *params; /* device_path is set to that of the chosen one */
    gba_device_attr_t attr;
    gba_device_choices_t choices;                 /* none, if the user set device_path */
    gba_device_t *chosen;                         /* NULL: it cannot be opened */
    gba_device_t *others[GBA_DEVICE_CHOICES_MAX]; /* by choice, once `opened` */
    bool opened;
};

/* Find the choices. A parameter that the user has not set is the very string of the defaults.
 * devices: zeros. params: live as long. */
void gba_boot_devices_find(struct gba_boot_devices *devices, gba_params_t *params);

/* Choose among them. words: memory for one of each member. Returns as gba_oob_t.allgather.
 * Collective. */
gba_status_t gba_boot_devices_choose(struct gba_boot_devices *devices, gba_bootstrap_t *bootstrap,
                                     uint64_t *words);

/* Open the chosen device, or, if that is not possible, the first of the others. attr: its fields of
 * devices are set; they refer to `devices`. Not collective. */
void gba_boot_devices_open(struct gba_boot_devices *devices, const gba_bootstrap_t *bootstrap,
                           gba_team_attr_t *attr);

/* Give all of them back. Not collective. */
void gba_boot_devices_close(struct gba_boot_devices *devices);

#endif

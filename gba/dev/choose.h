/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which device of a host each process uses. Pure: the input is the distances of all processes of
 * the host to all devices; the output is one device for each process.
 *
 * Two passes over the processes. The first one gives each process one of its nearest devices. The
 * second one balances: it moves processes to other devices that are as near to them, and never to
 * a farther one, until the numbers of processes on the devices are as equal as the distances
 * permit.
 */
#ifndef GBA_DEV_CHOOSE_H
#define GBA_DEV_CHOOSE_H

#include "gba/device.h"

/* The distances of one process, by device: gba_distance_t. */
struct gba_distances {
    uint8_t to[GBA_DEVICE_CHOICES_MAX];
};

/* A part of device_map: `count` processes get the device. */
struct gba_map_part {
    uint32_t device, count; /* count: at least 1 */
};

struct gba_choose {
    uint32_t devices;                     /* 1 to GBA_DEVICE_CHOICES_MAX */
    uint32_t processes;                   /* of this host, at least 1 */
    const struct gba_distances *distance; /* [processes] */
    const struct gba_map_part *map;       /* [parts] instead of the distances; NULL: none */
    uint32_t parts;
    /*
     * A number that most often differs between processes, such as a process ID. It decides among
     * equals if `processes` is 1: processes without information about each other must not all get
     * the first device.
     */
    uint32_t turn;
};

/*
 * Choose the device of each process.
 * chosen: [processes], set to the index of a device. Allocates nothing. Thread-safe. Not
 * collective: each process computes the same from the same input.
 */
void gba_choose(const struct gba_choose *choose, uint8_t *chosen);

/* Why process `self` has its device, in words of one line (len bytes at most, terminated). chosen:
 * of gba_choose. */
void gba_choose_describe(const struct gba_choose *choose, const uint8_t *chosen, uint32_t self,
                         char *why, size_t len);

#endif

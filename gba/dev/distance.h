/* SPDX-License-Identifier: BSD-3-Clause */
/* The distance of a process to a PCI device, by the topology of hwloc. */
#ifndef GBA_DEV_DISTANCE_H
#define GBA_DEV_DISTANCE_H

#include "gba/device.h"

struct hwloc_topology;
struct hwloc_bitmap_s;

/*
 * The distance of the cores `cpus` to the PCI device at `address` ("0000:3b:00.0").
 * topology: loaded, with PCI devices and bridges. Returns GBA_DISTANCE_SYS also if the topology
 * has no such device. Thread-safe. Pure.
 */
gba_distance_t gba_distance_of(struct hwloc_topology *topology, const struct hwloc_bitmap_s *cpus,
                               const char *address);

/*
 * Measure the distance of this process, which may be bound to some cores, to each choice: set
 * choices->list[].distance. A choice without a PCI address, such as a simulated one, gets
 * GBA_DISTANCE_SYS, and so do all if libgba was built without hwloc, or if the topology cannot be
 * read. Takes milliseconds. Thread-safe. Not collective.
 */
void gba_distances_measure(gba_device_choices_t *choices);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* major, minor */
#include "gba/dev/distance.h"

#include <hwloc.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "gba/base/log.h"

/* The PCI bridges between the host bridge and a device, the root port included. */
static unsigned bridges(hwloc_obj_t device)
{
    unsigned count = 0;

    for (hwloc_obj_t o = device->parent; o != NULL && HWLOC_OBJ_BRIDGE == o->type; o = o->parent)
        count += HWLOC_OBJ_BRIDGE_PCI == o->attr->bridge.upstream_type;
    return count;
}

gba_distance_t gba_distance_of(struct hwloc_topology *topology, const struct hwloc_bitmap_s *cpus,
                               const char *address)
{
    hwloc_obj_t device = hwloc_get_pcidev_by_busidstring(topology, address), package = NULL;
    hwloc_const_cpuset_t near;

    if (device == NULL || hwloc_bitmap_iszero(cpus))
        return GBA_DISTANCE_SYS;
    near = hwloc_get_non_io_ancestor_obj(topology, device)->cpuset;
    if (hwloc_bitmap_isincluded(cpus, near))
        return bridges(device) <= 1 ? GBA_DISTANCE_PIX : GBA_DISTANCE_PXB;
    if (hwloc_bitmap_intersects(cpus, near))
        return GBA_DISTANCE_PHB;
    while ((package = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PACKAGE, package)) != NULL)
        if (hwloc_bitmap_intersects(cpus, package->cpuset) &&
            hwloc_bitmap_intersects(near, package->cpuset))
            return GBA_DISTANCE_NODE;
    return GBA_DISTANCE_SYS;
}

/* The PCI address of a device file: the name of the directory of its parent in sysfs. */
static bool pci_address(const char *path, char *address, size_t len)
{
    char link[64], target[PATH_MAX];
    const char *name;
    struct stat file;

    if ('/' != path[0] || 0 != stat(path, &file) || !S_ISCHR(file.st_mode))
        return false;
    snprintf(link, sizeof link, "/sys/dev/char/%u:%u/device", major(file.st_rdev),
             minor(file.st_rdev));
    if (realpath(link, target) == NULL)
        return false;
    name = strrchr(target, '/') + 1;
    snprintf(address, len, "%.31s", name);
    return true;
}

/* Load the topology of this host with its PCI devices. Returns NULL if that fails. */
static hwloc_topology_t topology_load(void)
{
    hwloc_topology_t topology;

    if (0 != hwloc_topology_init(&topology))
        return NULL;
    if (0 == hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL) &&
        0 == hwloc_topology_load(topology))
        return topology;
    hwloc_topology_destroy(topology);
    return NULL;
}

void gba_distances_measure(gba_device_choices_t *choices)
{
    hwloc_topology_t topology = NULL;
    hwloc_bitmap_t cpus = NULL;
    char address[32];

    for (uint32_t i = 0; i < choices->count; i++)
        choices->list[i].distance = GBA_DISTANCE_SYS;
    for (uint32_t i = 0; i < choices->count; i++) {
        if (!pci_address(choices->list[i].path, address, sizeof address))
            continue;
        if (topology == NULL) { /* only now, because simulated devices need no topology */
            topology = topology_load();
            cpus = hwloc_bitmap_alloc();
            if (topology == NULL || cpus == NULL ||
                0 != hwloc_get_cpubind(topology, cpus, HWLOC_CPUBIND_PROCESS)) {
                gba_log(GBA_LOG_DEBUG, "hwloc cannot read the topology of this host or the binding "
                                       "of this process; all devices count as equally far");
                break;
            }
        }
        choices->list[i].distance = gba_distance_of(topology, cpus, address);
    }
    hwloc_bitmap_free(cpus);
    if (topology != NULL)
        hwloc_topology_destroy(topology);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration space of a port's PCI function in a virtual machine: identity, BARs, PCI
 * Express with function-level reset (FLR), and MSI-X. Pure. Not thread-safe on one space.
 * device.md, chapter "PCI", has the rules.
 */
#ifndef GBA_SIM_SWITCH_VFIO_CONFIG_H
#define GBA_SIM_SWITCH_VFIO_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GBA_VFIO_CONFIG_SIZE 4096u /* bytes */

/* The BAR of the MSI-X table and of the pending bits, and their offsets in it. */
#define GBA_VFIO_MSIX_BAR  2u
#define GBA_VFIO_MSIX_SIZE 4096u /* bytes of that BAR */
#define GBA_VFIO_MSIX_PBA  2048u /* offset of the pending bits; the table is at 0 */

struct gba_vfio_config {
    uint8_t bytes[GBA_VFIO_CONFIG_SIZE]; /* little endian, as on the bus */
};

/* Set the state after power-on or reset. [PCI-1] */
void gba_vfio_config_reset(struct gba_vfio_config *config);

/* Write the writable bits. offset + count: GBA_VFIO_CONFIG_SIZE at most. Returns whether the write
 * starts an FLR; the caller then resets the function. [PCI-4] */
bool gba_vfio_config_write(struct gba_vfio_config *config, uint32_t offset, const uint8_t *data,
                           uint32_t count);

/* Whether the function may write to memory of the host: the bus master bit. [PCI-2] */
bool gba_vfio_config_master(const struct gba_vfio_config *config);

/* Whether the function may interrupt now: bus master, and MSI-X enabled and not masked as a whole.
 * [PCI-3] */
bool gba_vfio_config_interrupts(const struct gba_vfio_config *config);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration space of a port's PCI function. */
#include <string.h>
#include <linux/pci_regs.h>

#include "gba/spec/gba_regs.h"
#include "sim/switch/vfio/config.h"

/* Offsets of the capabilities. */
#define EXP  0x40u
#define MSIX 0x80u

static void put(struct gba_vfio_config *config, uint32_t offset, uint32_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        config->bytes[offset + i] = (uint8_t)(value >> 8 * i);
}

static uint32_t get(const struct gba_vfio_config *config, uint32_t offset, unsigned width)
{
    uint32_t value = 0;

    for (unsigned i = 0; i < width; i++)
        value |= (uint32_t)config->bytes[offset + i] << 8 * i;
    return value;
}

static void reset_header(struct gba_vfio_config *config)
{
    put(config, PCI_VENDOR_ID, GBA_PCI_VENDOR, 2);
    put(config, PCI_DEVICE_ID, GBA_PCI_DEVICE, 2);
    put(config, PCI_STATUS, PCI_STATUS_CAP_LIST, 2);
    put(config, PCI_CLASS_REVISION, GBA_PCI_CLASS << 8 | GBA_PCI_REVISION, 4);
    put(config, PCI_BASE_ADDRESS_0, PCI_BASE_ADDRESS_MEM_TYPE_64, 4);
    put(config, PCI_SUBSYSTEM_VENDOR_ID, GBA_PCI_VENDOR, 2);
    put(config, PCI_SUBSYSTEM_ID, GBA_PCI_DEVICE, 2);
    put(config, PCI_CAPABILITY_LIST, EXP, 1);
}

/* An endpoint of version 2 with a link of one lane. */
static void reset_express(struct gba_vfio_config *config)
{
    const uint32_t link = PCI_EXP_LNKCAP_SLS_2_5GB | PCI_EXP_LNKSTA_NLW_X1;

    put(config, EXP + PCI_CAP_LIST_ID, PCI_CAP_ID_EXP, 1);
    put(config, EXP + PCI_CAP_LIST_NEXT, MSIX, 1);
    put(config, EXP + PCI_EXP_FLAGS, 2 | PCI_EXP_TYPE_ENDPOINT << 4, 2);
    put(config, EXP + PCI_EXP_DEVCAP, PCI_EXP_DEVCAP_RBER | PCI_EXP_DEVCAP_FLR, 4);
    put(config, EXP + PCI_EXP_LNKCAP, link, 4);
    put(config, EXP + PCI_EXP_LNKSTA, link, 2);
}

static void reset_interrupts(struct gba_vfio_config *config)
{
    put(config, MSIX + PCI_CAP_LIST_ID, PCI_CAP_ID_MSIX, 1);
    put(config, MSIX + PCI_MSIX_FLAGS, GBA_PCI_VECTORS - 1, 2);
    put(config, MSIX + PCI_MSIX_TABLE, GBA_VFIO_MSIX_BAR, 4);
    put(config, MSIX + PCI_MSIX_PBA, GBA_VFIO_MSIX_PBA | GBA_VFIO_MSIX_BAR, 4);
}

void gba_vfio_config_reset(struct gba_vfio_config *config)
{
    memset(config, 0, sizeof *config);
    reset_header(config);
    reset_express(config);
    reset_interrupts(config);
}

/* The registers of which some bits are writable. */
static const struct {
    uint16_t offset;
    uint8_t width;
    uint32_t mask;
} fields[] = {
    {PCI_COMMAND, 2,
     PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY | PCI_COMMAND_SERR |
         PCI_COMMAND_INTX_DISABLE},
    {PCI_CACHE_LINE_SIZE, 1, 0xFF},
    {PCI_BASE_ADDRESS_0, 4, ~(GBA_BAR_SIZE - 1)},
    {PCI_BASE_ADDRESS_1, 4, ~0u},
    {PCI_BASE_ADDRESS_2, 4, ~(GBA_VFIO_MSIX_SIZE - 1)},
    {PCI_INTERRUPT_LINE, 1, 0xFF},
    {EXP + PCI_EXP_DEVCTL, 2, 0xFFFF & ~PCI_EXP_DEVCTL_BCR_FLR},
    {EXP + PCI_EXP_LNKCTL, 2, PCI_EXP_LNKCTL_RCB | PCI_EXP_LNKCTL_CCC},
    {MSIX + PCI_MSIX_FLAGS, 2, PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL},
};

/* The writable bits of one byte. */
static uint8_t writable(uint32_t offset)
{
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (offset >= fields[i].offset && offset < (uint32_t)fields[i].offset + fields[i].width)
            return (uint8_t)(fields[i].mask >> 8 * (offset - fields[i].offset));
    return 0;
}

bool gba_vfio_config_write(struct gba_vfio_config *config, uint32_t offset, const uint8_t *data,
                           uint32_t count)
{
    const uint32_t flr = EXP + PCI_EXP_DEVCTL + 1; /* the byte with the bit */
    bool reset = false;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = offset + i;
        uint8_t mask = writable(at);

        config->bytes[at] = (uint8_t)((config->bytes[at] & ~mask) | (data[i] & mask));
        if (flr == at && 0 != (data[i] & PCI_EXP_DEVCTL_BCR_FLR >> 8))
            reset = true;
    }
    return reset;
}

bool gba_vfio_config_master(const struct gba_vfio_config *config)
{
    return 0 != (get(config, PCI_COMMAND, 2) & PCI_COMMAND_MASTER);
}

bool gba_vfio_config_interrupts(const struct gba_vfio_config *config)
{
    uint32_t control = get(config, MSIX + PCI_MSIX_FLAGS, 2);

    return gba_vfio_config_master(config) &&
           PCI_MSIX_FLAGS_ENABLE == (control & (PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL));
}

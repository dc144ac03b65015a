/* SPDX-License-Identifier: BSD-3-Clause */
/* The PCI device that one virtual machine sees. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <linux/vfio.h>

#include "gba/spec/gba_regs.h"
#include "sim/switch/vfio/device.h"

/* The region of the BAR of device.md, and that of the MSI-X table. */
#define BAR_REGION  (VFIO_PCI_BAR0_REGION_INDEX + GBA_PCI_BAR)
#define MSIX_REGION (VFIO_PCI_BAR0_REGION_INDEX + GBA_VFIO_MSIX_BAR)

/* The first four words of struct vfio_device_info. Later kernels have more of them. */
#define INFO_WORDS 4u

/* The configuration space and the MSI-X table after power-on or reset. */
static void reset_config(struct gba_vfio_device *device)
{
    gba_vfio_config_reset(&device->config);
    memset(device->table, 0, sizeof device->table);
    device->table[12] = 1; /* the mask bit of the vector */
}

void gba_vfio_device_init(struct gba_vfio_device *device, const struct gba_vfio_port_ops *ops,
                          void *port)
{
    device->ops = ops;
    device->port = port;
    gba_vfio_dma_init(&device->dma);
    gba_vfio_irq_init(&device->irq);
    device->counters = (struct gba_vfio_counters){0};
    reset_config(device);
}

void gba_vfio_device_clear(struct gba_vfio_device *device)
{
    gba_vfio_irq_clear(&device->irq);
    gba_vfio_dma_clear(&device->dma);
    reset_config(device);
}

/* The memory map and the eventfds are the monitor's, so they stay. */
static void reset(struct gba_vfio_device *device)
{
    device->counters.resets++;
    gba_vfio_irq_reset(&device->irq);
    reset_config(device);
    device->ops->reset(device->port);
}

void gba_vfio_device_release(struct gba_vfio_device *device, uint64_t address, uint32_t sequence)
{
    if (!gba_vfio_config_master(&device->config))
        device->counters.dropped_master++;
    else if (gba_vfio_dma_store(&device->dma, address, sequence))
        device->counters.stores++;
    else
        device->counters.dropped_address++;
}

void gba_vfio_device_interrupt(struct gba_vfio_device *device)
{
    gba_vfio_irq_raise(&device->irq);
}

static uint32_t region_size(uint32_t region)
{
    static const uint32_t sizes[] = {[BAR_REGION] = GBA_BAR_SIZE,
                                     [MSIX_REGION] = GBA_VFIO_MSIX_SIZE,
                                     [VFIO_PCI_CONFIG_REGION_INDEX] = GBA_VFIO_CONFIG_SIZE};

    return region < sizeof sizes / sizeof sizes[0] ? sizes[region] : 0;
}

/* Version 0.0. The capabilities are limits of this server. */
static int reply_version(const struct gba_vfio_request *request, uint8_t *body, size_t *length)
{
    if (0 != request->u.version.major)
        return EINVAL;
    memset(body, 0, 4);
    *length =
        4 + 1 +
        (size_t)sprintf((char *)body + 4,
                        "{\"capabilities\":{\"max_msg_fds\":%u,\"max_data_xfer_size\":%u,"
                        "\"max_dma_maps\":%u,\"pgsizes\":%u}}",
                        GBA_VFIO_FDS_MAX, GBA_VFIO_DATA_MAX, GBA_VFIO_DMA_MAPS, GBA_VFIO_DMA_PAGE);
    return 0;
}

static int reply_info(uint8_t *body, size_t *length)
{
    const uint32_t info[INFO_WORDS] = {sizeof info, VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI,
                                       VFIO_PCI_NUM_REGIONS, VFIO_PCI_NUM_IRQS};

    memcpy(body, info, sizeof info);
    *length = sizeof info;
    return 0;
}

/* No region can be mapped, because the device must receive each arrival when it is made, and
 * because a mapped region would make QEMU wait for the reply of every write. */
static int reply_region_info(uint32_t index, uint8_t *body, size_t *length)
{
    struct vfio_region_info info = {
        .argsz = sizeof info, .index = index, .size = region_size(index)};

    if (0 != info.size)
        info.flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;
    memcpy(body, &info, sizeof info);
    *length = sizeof info;
    return 0;
}

static int reply_irq_info(uint32_t index, uint8_t *body, size_t *length)
{
    struct vfio_irq_info info = {
        .argsz = sizeof info, .index = index, .count = gba_vfio_irq_count(index)};

    if (0 != info.count)
        info.flags = VFIO_IRQ_INFO_EVENTFD;
    if (VFIO_PCI_MSIX_IRQ_INDEX == index)
        info.flags |= VFIO_IRQ_INFO_MASKABLE;
    memcpy(body, &info, sizeof info);
    *length = sizeof info;
    return 0;
}

/* Whether the bus has accesses of that width. Their bytes are those of one register. */
static bool is_width(uint32_t count)
{
    return 1 == count || 2 == count || 4 == count || 8 == count;
}

static void read_table(const struct gba_vfio_device *device, uint32_t offset, uint32_t count,
                       uint8_t *data)
{
    for (uint32_t i = 0; i < count; i++, offset++)
        data[i] = offset < sizeof device->table
                      ? device->table[offset]
                      : GBA_VFIO_MSIX_PBA == offset && device->irq.pending;
}

static int read_region(struct gba_vfio_device *device, uint32_t region, uint32_t offset,
                       uint32_t count, uint8_t *data)
{
    if (VFIO_PCI_CONFIG_REGION_INDEX == region) {
        memcpy(data, device->config.bytes + offset, count);
    } else if (MSIX_REGION == region) {
        read_table(device, offset, count, data);
    } else {
        uint64_t value;

        if (!is_width(count))
            return EINVAL;
        value = device->ops->read(device->port, offset, count);
        for (uint32_t i = 0; i < count; i++)
            data[i] = (uint8_t)(value >> 8 * i);
    }
    return 0;
}

static int write_region(struct gba_vfio_device *device, uint32_t region, uint32_t offset,
                        uint32_t count, const uint8_t *data)
{
    if (VFIO_PCI_CONFIG_REGION_INDEX == region) {
        if (gba_vfio_config_write(&device->config, offset, data, count))
            reset(device);
        gba_vfio_irq_allow(&device->irq, gba_vfio_config_interrupts(&device->config));
    } else if (MSIX_REGION == region) {
        for (uint32_t i = 0; i < count && offset + i < sizeof device->table; i++)
            device->table[offset + i] = data[i];
    } else {
        uint64_t value = 0;

        if (!is_width(count))
            return EINVAL;
        for (uint32_t i = 0; i < count; i++)
            value |= (uint64_t)data[i] << 8 * i;
        device->ops->write(device->port, offset, count, value);
    }
    return 0;
}

/* A reply to a read or a write repeats the request; that to a read has the data, too. */
static int reply_access(struct gba_vfio_device *device, const struct gba_vfio_request *request,
                        uint8_t *body, size_t *length)
{
    uint64_t offset = request->u.access.offset;
    uint32_t region = request->u.access.region, count = request->u.access.count;
    uint32_t size = region_size(region);
    int error;

    if (count > size || offset > size - count)
        return EINVAL;
    memcpy(body, &offset, sizeof offset);
    memcpy(body + 8, &region, sizeof region);
    memcpy(body + 12, &count, sizeof count);
    *length = 16;
    if (request->u.access.data != NULL)
        return write_region(device, region, (uint32_t)offset, count, request->u.access.data);
    error = read_region(device, region, (uint32_t)offset, count, body + 16);
    *length += count;
    return error;
}

static int map(struct gba_vfio_device *device, const struct gba_vfio_request *request,
               const int *fds, unsigned count)
{
    return gba_vfio_dma_map(&device->dma, request->u.map.address, request->u.map.size,
                            count > 0 ? fds[0] : -1, request->u.map.offset,
                            0 != (request->u.map.flags & VFIO_DMA_MAP_FLAG_WRITE));
}

/* The reply repeats the request: argsz, flags, address, size. */
static int unmap(struct gba_vfio_device *device, const struct gba_vfio_request *request,
                 uint8_t *body, size_t *length)
{
    const uint32_t size = 24;
    int error = 0;

    if (0 != (request->u.unmap.flags & VFIO_DMA_UNMAP_FLAG_ALL))
        gba_vfio_dma_clear(&device->dma);
    else
        error = gba_vfio_dma_unmap(&device->dma, request->u.unmap.address, request->u.unmap.size);
    memcpy(body, &size, sizeof size);
    memcpy(body + 4, &request->u.unmap.flags, 4);
    memcpy(body + 8, &request->u.unmap.address, 8);
    memcpy(body + 16, &request->u.unmap.size, 8);
    *length = size;
    return error;
}

static int execute(struct gba_vfio_device *device, const struct gba_vfio_request *request, int *fds,
                   unsigned count, uint8_t *body, size_t *length)
{
    switch (request->header.command) {
    case GBA_VFIO_VERSION:
        return reply_version(request, body, length);
    case GBA_VFIO_DMA_MAP:
        return map(device, request, fds, count);
    case GBA_VFIO_DMA_UNMAP:
        return unmap(device, request, body, length);
    case GBA_VFIO_GET_INFO:
        return reply_info(body, length);
    case GBA_VFIO_GET_REGION_INFO:
        return reply_region_info(request->u.info.index, body, length);
    case GBA_VFIO_GET_IRQ_INFO:
        return reply_irq_info(request->u.info.index, body, length);
    case GBA_VFIO_SET_IRQS:
        return gba_vfio_irq_set(&device->irq, request, fds, count);
    case GBA_VFIO_REGION_READ:
    case GBA_VFIO_REGION_WRITE:
        return reply_access(device, request, body, length);
    case GBA_VFIO_RESET:
        reset(device);
        return 0;
    default:
        return ENOTSUP;
    }
}

int gba_vfio_device_execute(struct gba_vfio_device *device, const struct gba_vfio_request *request,
                            int *fds, unsigned count, uint8_t *body, size_t *length)
{
    int error;

    *length = 0;
    error = execute(device, request, fds, count, body, length);
    if (0 != error) {
        *length = 0;
        device->counters.refused++;
    }
    return error;
}

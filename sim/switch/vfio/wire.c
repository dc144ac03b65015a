/* SPDX-License-Identifier: BSD-3-Clause */
/* The decoder and encoder of the vfio-user protocol. The decoder checks every length, size, index
 * and flag. */
#include <errno.h>
#include <string.h>
#include <linux/vfio.h>

#include "sim/switch/vfio/wire.h"

/* Sizes of bodies. That of GET_INFO is shorter than the structure of newer kernels. */
#define INFO_SIZE        16u
#define REGION_INFO_SIZE 32u
#define IRQ_INFO_SIZE    16u
#define IRQ_SET_SIZE     20u
#define MAP_SIZE         32u
#define UNMAP_SIZE       24u
#define ACCESS_SIZE      16u
#define VERSION_SIZE     4u

_Static_assert(sizeof(struct gba_vfio_header) == GBA_VFIO_HEADER_SIZE, "header without padding");
_Static_assert(sizeof(struct vfio_region_info) == REGION_INFO_SIZE, "region info");
_Static_assert(sizeof(struct vfio_irq_info) == IRQ_INFO_SIZE, "irq info");
_Static_assert(offsetof(struct vfio_irq_set, data) == IRQ_SET_SIZE, "irq set");
_Static_assert(sizeof(struct vfio_iommu_type1_dma_map) == MAP_SIZE, "dma map");
_Static_assert(offsetof(struct vfio_iommu_type1_dma_unmap, data) == UNMAP_SIZE, "dma unmap");

/* The 32-bit word, or the 64-bit word, at an offset of a body. It may be unaligned. */
static uint32_t word32(const uint8_t *body, size_t offset)
{
    uint32_t value;

    memcpy(&value, body + offset, sizeof value);
    return value;
}

static uint64_t word64(const uint8_t *body, size_t offset)
{
    uint64_t value;

    memcpy(&value, body + offset, sizeof value);
    return value;
}

int gba_vfio_decode_header(const uint8_t bytes[GBA_VFIO_HEADER_SIZE],
                           struct gba_vfio_header *header)
{
    memcpy(header, bytes, sizeof *header);
    if (GBA_VFIO_COMMAND != (header->flags & GBA_VFIO_TYPE))
        return EPROTO; /* the server sends no commands, so it expects no reply */
    if (header->size < GBA_VFIO_HEADER_SIZE ||
        header->size - GBA_VFIO_HEADER_SIZE > GBA_VFIO_BODY_MAX)
        return EPROTO;
    return 0;
}

/* The text behind the numbers is a list of capabilities. All of them are optional, and the server
 * needs none. */
static int decode_version(const uint8_t *body, size_t length, struct gba_vfio_request *request)
{
    if (length < VERSION_SIZE || (length > VERSION_SIZE && '\0' != body[length - 1]))
        return EINVAL;
    memcpy(&request->u.version.major, body, 2);
    memcpy(&request->u.version.minor, body + 2, 2);
    return 0;
}

static int decode_map(const uint8_t *body, size_t length, struct gba_vfio_request *request)
{
    const uint32_t flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE;

    if (MAP_SIZE != length || word32(body, 0) < MAP_SIZE)
        return EINVAL;
    request->u.map.flags = word32(body, 4);
    request->u.map.offset = word64(body, 8);
    request->u.map.address = word64(body, 16);
    request->u.map.size = word64(body, 24);
    if (0 != (request->u.map.flags & ~flags) || 0 == request->u.map.size ||
        request->u.map.address > UINT64_MAX - request->u.map.size ||
        request->u.map.offset > INT64_MAX || request->u.map.size > INT64_MAX)
        return EINVAL;
    return 0;
}

static int decode_unmap(const uint8_t *body, size_t length, struct gba_vfio_request *request)
{
    /* argsz is the size that the client has for the reply, which repeats the request. */
    if (UNMAP_SIZE != length || word32(body, 0) < UNMAP_SIZE)
        return EINVAL;
    request->u.unmap.flags = word32(body, 4);
    request->u.unmap.address = word64(body, 8);
    request->u.unmap.size = word64(body, 16);
    return 0 == request->u.unmap.flags || VFIO_DMA_UNMAP_FLAG_ALL == request->u.unmap.flags
               ? 0
               : EINVAL;
}

/* A request for information: argsz, flags, and for a region or an interrupt the index. */
static int decode_info(const uint8_t *body, size_t length, size_t size, uint32_t indexes,
                       struct gba_vfio_request *request)
{
    if (length != size || word32(body, 0) < size)
        return EINVAL;
    request->u.info.index = 0 == indexes ? 0 : word32(body, 8);
    return 0 == indexes || request->u.info.index < indexes ? 0 : EINVAL;
}

static uint32_t bits(uint32_t word)
{
    return (uint32_t)__builtin_popcount(word);
}

static int decode_irqs(const uint8_t *body, size_t length, unsigned fds,
                       struct gba_vfio_request *request)
{
    const uint32_t known = VFIO_IRQ_SET_DATA_TYPE_MASK | VFIO_IRQ_SET_ACTION_TYPE_MASK;
    uint32_t flags, count;

    if (length < IRQ_SET_SIZE || word32(body, 0) != length)
        return EINVAL;
    request->u.irqs.flags = flags = word32(body, 4);
    request->u.irqs.index = word32(body, 8);
    request->u.irqs.start = word32(body, 12);
    request->u.irqs.count = count = word32(body, 16);
    request->u.irqs.data = NULL;
    if (0 != (flags & ~known) || 1 != bits(flags & VFIO_IRQ_SET_DATA_TYPE_MASK) ||
        1 != bits(flags & VFIO_IRQ_SET_ACTION_TYPE_MASK) ||
        request->u.irqs.index >= VFIO_PCI_NUM_IRQS || request->u.irqs.start > UINT32_MAX - count)
        return EINVAL;
    if (0 != (flags & VFIO_IRQ_SET_DATA_BOOL)) {
        if (length - IRQ_SET_SIZE != count)
            return EINVAL;
        request->u.irqs.data = body + IRQ_SET_SIZE;
    } else if (length != IRQ_SET_SIZE) {
        return EINVAL;
    }
    /* A message has one descriptor for each vector, or none, which removes the old ones. */
    if (0 != (flags & VFIO_IRQ_SET_DATA_EVENTFD))
        return 0 == fds || fds == count ? 0 : EINVAL;
    return 0 == fds ? 0 : EINVAL;
}

static int decode_access(const uint8_t *body, size_t length, int write,
                         struct gba_vfio_request *request)
{
    uint32_t count;

    if (length < ACCESS_SIZE)
        return EINVAL;
    request->u.access.offset = word64(body, 0);
    request->u.access.region = word32(body, 8);
    request->u.access.count = count = word32(body, 12);
    request->u.access.data = write ? body + ACCESS_SIZE : NULL;
    if (request->u.access.region >= VFIO_PCI_NUM_REGIONS || 0 == count || count > GBA_VFIO_DATA_MAX)
        return EINVAL;
    return length - ACCESS_SIZE == (write ? count : 0) ? 0 : EINVAL;
}

int gba_vfio_decode(const struct gba_vfio_header *header, const uint8_t *body, unsigned fds,
                    struct gba_vfio_request *request)
{
    size_t length = header->size - GBA_VFIO_HEADER_SIZE;
    uint32_t with_fds = GBA_VFIO_DMA_MAP == header->command ? 1 : 0;

    request->header = *header;
    if (0 != (header->flags & ~GBA_VFIO_NO_REPLY))
        return EINVAL;
    if (GBA_VFIO_SET_IRQS == header->command)
        return decode_irqs(body, length, fds, request);
    if (fds > with_fds)
        return EINVAL;
    switch (header->command) {
    case GBA_VFIO_VERSION:
        return decode_version(body, length, request);
    case GBA_VFIO_DMA_MAP:
        return decode_map(body, length, request);
    case GBA_VFIO_DMA_UNMAP:
        return decode_unmap(body, length, request);
    case GBA_VFIO_GET_INFO:
        return decode_info(body, length, INFO_SIZE, 0, request);
    case GBA_VFIO_GET_REGION_INFO:
        return decode_info(body, length, REGION_INFO_SIZE, VFIO_PCI_NUM_REGIONS, request);
    case GBA_VFIO_GET_IRQ_INFO:
        return decode_info(body, length, IRQ_INFO_SIZE, VFIO_PCI_NUM_IRQS, request);
    case GBA_VFIO_REGION_READ:
        return decode_access(body, length, 0, request);
    case GBA_VFIO_REGION_WRITE:
        return decode_access(body, length, 1, request);
    case GBA_VFIO_RESET:
        return 0 == length ? 0 : EINVAL;
    default:
        return ENOTSUP;
    }
}

size_t gba_vfio_encode_reply(const struct gba_vfio_header *request, int error, size_t length,
                             uint8_t bytes[GBA_VFIO_HEADER_SIZE])
{
    struct gba_vfio_header reply = {.id = request->id,
                                    .command = request->command,
                                    .size = GBA_VFIO_HEADER_SIZE + (uint32_t)length,
                                    .flags = GBA_VFIO_REPLY | (0 != error ? GBA_VFIO_ERROR : 0),
                                    .error = (uint32_t)error};

    memcpy(bytes, &reply, sizeof reply);
    return reply.size;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of the vfio-user protocol, as a server receives and sends them. Pure: no I/O, no state.
 *
 * The protocol is that of QEMU's docs/interop/vfio-user.rst, version 0.0. It reuses the structures
 * of <linux/vfio.h>, in the byte order of the host, over a stream socket. A message is a header of
 * 16 bytes and a body. Each function here accepts any bytes. All functions are thread-safe.
 */
#ifndef GBA_SIM_SWITCH_VFIO_WIRE_H
#define GBA_SIM_SWITCH_VFIO_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define GBA_VFIO_HEADER_SIZE 16u
#define GBA_VFIO_DATA_MAX    65536u /* maximum bytes of a region access: max_data_xfer_size */
#define GBA_VFIO_FDS_MAX     8u     /* maximum descriptors of a message: max_msg_fds */
/* The longest body of a request or a reply: a region access. */
#define GBA_VFIO_BODY_MAX (16u + GBA_VFIO_DATA_MAX)

/* The commands that a client sends and this server executes. All others are refused. */
enum gba_vfio_command {
    GBA_VFIO_VERSION = 1,
    GBA_VFIO_DMA_MAP = 2,
    GBA_VFIO_DMA_UNMAP = 3,
    GBA_VFIO_GET_INFO = 4,
    GBA_VFIO_GET_REGION_INFO = 5,
    GBA_VFIO_GET_IRQ_INFO = 7,
    GBA_VFIO_SET_IRQS = 8,
    GBA_VFIO_REGION_READ = 9,
    GBA_VFIO_REGION_WRITE = 10,
    GBA_VFIO_RESET = 13
};

/* Flags of a header. The type is a command or a reply. */
#define GBA_VFIO_TYPE     0x0Fu
#define GBA_VFIO_COMMAND  0x00u
#define GBA_VFIO_REPLY    0x01u
#define GBA_VFIO_NO_REPLY 0x10u /* of a command: the client expects no reply */
#define GBA_VFIO_ERROR    0x20u /* of a reply: the command failed */

struct gba_vfio_header {
    uint16_t id; /* chosen by the client, echoed in the reply */
    uint16_t command;
    uint32_t size;  /* of the message, with this header */
    uint32_t flags; /* GBA_VFIO_COMMAND, GBA_VFIO_NO_REPLY, ... */
    uint32_t error; /* of a reply with GBA_VFIO_ERROR: an errno value */
};

/* A request after all checks that need no state of the device. */
struct gba_vfio_request {
    struct gba_vfio_header header;
    union {
        struct {
            uint16_t major, minor;
        } version;
        struct {
            uint32_t flags; /* VFIO_DMA_MAP_FLAG_READ, _WRITE */
            uint64_t offset;
            uint64_t address, size; /* size: not 0; address + size does not wrap */
        } map;
        struct {
            uint32_t flags; /* 0 or VFIO_DMA_UNMAP_FLAG_ALL */
            uint64_t address, size;
        } unmap;
        struct {
            uint32_t index; /* of a region or of an interrupt */
        } info;
        struct {
            uint32_t flags; /* one VFIO_IRQ_SET_DATA_*, one VFIO_IRQ_SET_ACTION_* */
            uint32_t index, start, count;
            const uint8_t *data; /* count bytes with VFIO_IRQ_SET_DATA_BOOL, else NULL */
        } irqs;
        struct {
            uint64_t offset;
            uint32_t region;
            uint32_t count;      /* 1 to GBA_VFIO_DATA_MAX */
            const uint8_t *data; /* count bytes to write; NULL for a read */
        } access;
    } u;
};

/*
 * Decode and check a header. Returns 0; EPROTO: it is not that of a command, or its size is not
 * GBA_VFIO_HEADER_SIZE to GBA_VFIO_HEADER_SIZE + GBA_VFIO_BODY_MAX. The stream is then unusable,
 * and the caller drops the client.
 */
int gba_vfio_decode_header(const uint8_t bytes[GBA_VFIO_HEADER_SIZE],
                           struct gba_vfio_header *header);

/*
 * Decode the body of a message, and check it.
 *
 * body: header->size - GBA_VFIO_HEADER_SIZE bytes; the request points into it. fds: number of
 * descriptors that came with the message. Returns 0; EINVAL: a length, size, index, flag or number
 * of descriptors is wrong; ENOTSUP: the server does not have the command. The caller replies with
 * that error, and the client continues.
 */
int gba_vfio_decode(const struct gba_vfio_header *header, const uint8_t *body, unsigned fds,
                    struct gba_vfio_request *request);

/*
 * Encode the header of the reply to a request. error: 0, or an errno value. length: bytes of the
 * reply's body, 0 if error is not 0. Returns the size of the message.
 */
size_t gba_vfio_encode_reply(const struct gba_vfio_header *request, int error, size_t length,
                             uint8_t bytes[GBA_VFIO_HEADER_SIZE]);

#endif

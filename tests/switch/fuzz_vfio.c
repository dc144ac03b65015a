/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libFuzzer target: the vfio-user server with any messages and any descriptors, as a hostile
 * virtual machine monitor sends them. It checks that no descriptor is lost, and that no store and
 * no signal is made without permission. Sanitizers check the memory.
 *
 * Input: messages, each of a byte with the number and kind of its descriptors, a byte with its
 * command, two bytes with the length of its body (modulo 512), and the body.
 */
#define _GNU_SOURCE /* memfd_create */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gba/spec/gba_regs.h"
#include "sim/switch/vfio/device.h"
#include "sim/switch/vfio/guard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The port, which checks each access. */
static uint64_t port_read(void *port, uint32_t address, unsigned width)
{
    (void)port;
    if (address >= GBA_BAR_SIZE || address + width > GBA_BAR_SIZE || width == 0 || width > 8)
        abort();
    return UINT64_MAX;
}

static void port_write(void *port, uint32_t address, unsigned width, uint64_t value)
{
    struct gba_vfio_device *device = port;

    (void)port_read(port, address, width);
    /* In each access the port releases a member and interrupts. */
    gba_vfio_device_release(device, value, (uint32_t)address);
    gba_vfio_device_interrupt(device);
}

static void port_reset(void *port)
{
    (void)port;
}

static const struct gba_vfio_port_ops port_ops = {port_read, port_write, port_reset};

/* Open descriptors of that kind: memory, an eventfd, or neither. */
static int make_fd(unsigned kind)
{
    int fd;

    switch (kind) {
    case 0:
    case 1:
        fd = memfd_create("gba-fuzz", MFD_CLOEXEC);
        if (fd < 0 || ftruncate(fd, kind == 0 ? 1 << 16 : 0) != 0)
            abort();
        return fd;
    case 2:
        return eventfd(0, EFD_CLOEXEC);
    default:
        return open("/dev/null", O_RDWR | O_CLOEXEC);
    }
}

static int lowest_free_fd(void)
{
    int fd = dup(STDERR_FILENO);

    if (fd < 0 || close(fd) != 0)
        abort();
    return fd;
}

static uint64_t messages; /* in all inputs */

static void __attribute__((destructor)) report(void)
{
    fprintf(stderr, "stat::messages: %llu\n", (unsigned long long)messages);
}

/* One message, as gba_vfio_client_progress executes it. */
static void message(struct gba_vfio_device *device, const uint8_t *control, const uint8_t *body,
                    uint32_t length)
{
    static uint8_t reply[GBA_VFIO_BODY_MAX];
    struct gba_vfio_header header = {.command = control[1] % 20,
                                     .size = GBA_VFIO_HEADER_SIZE + length,
                                     .flags = control[1] >= 240 ? control[1] : 0};
    struct gba_vfio_request request;
    uint8_t bytes[GBA_VFIO_HEADER_SIZE], *copy = malloc(length + 1);
    unsigned count = control[0] % 4;
    size_t size = 0;
    int fds[4], error;

    messages++;
    memcpy(copy, body, length); /* of that size, for the address sanitizer */
    memcpy(bytes, &header, sizeof bytes);
    for (unsigned i = 0; i < count; i++)
        fds[i] = make_fd(control[0] / 4 % 4);
    if (gba_vfio_decode_header(bytes, &header) == 0 &&
        gba_vfio_decode(&header, copy, count, &request) == 0) {
        error = gba_vfio_device_execute(device, &request, fds, count, reply, &size);
        if ((error != 0 && size != 0) || size > sizeof reply || error < 0)
            abort();
        if (gba_vfio_encode_reply(&header, error, size, bytes) != GBA_VFIO_HEADER_SIZE + size)
            abort();
    }
    for (unsigned i = 0; i < count; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct gba_vfio_device device;
    static int installed;
    int before = lowest_free_fd();

    if (!installed++ && gba_vfio_guard_install() != 0)
        abort();
    gba_vfio_device_init(&device, &port_ops, &device, size % 2 == 1);
    while (size >= 4) {
        uint32_t length = (data[2] | (uint32_t)data[3] << 8) % 512;

        if (length > size - 4)
            length = (uint32_t)(size - 4);
        message(&device, data, data + 4, length);
        data += 4 + length;
        size -= 4 + length;
    }
    gba_vfio_device_clear(&device);
    if (device.dma.count != 0 || device.dma.mapped != 0 || lowest_free_fd() != before)
        abort();
    return 0;
}

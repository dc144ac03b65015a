/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small client of vfio-user for tests. It sends the requests of a virtual machine monitor, and
 * invalid messages.
 */
#ifndef GBA_TESTS_VFIO_TEST_H
#define GBA_TESTS_VFIO_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/switch/vfio/wire.h"

struct vfio_test {
    int fd;
    uint16_t id; /* of the newest request */
    /* Make the server work after each request, if it is in this thread. NULL: it works by itself.
     */
    void (*serve)(void *context);
    void *context;
    struct gba_vfio_header reply; /* the newest one */
    uint32_t length;              /* of its body */
    uint8_t body[GBA_VFIO_BODY_MAX];
};

/* The bytes of a guest's memory, shared from bus address GUEST_BASE on. */
#define GUEST_SIZE (1u << 20)
#define GUEST_BASE (1ull << 32)

/* Connect to a socket. Fails the test if that is impossible. */
void vfio_test_connect(struct vfio_test *client, const char *path);
void vfio_test_close(struct vfio_test *client);

/* Send a message as it is. Returns whether all of it was sent. */
bool vfio_test_send(struct vfio_test *client, const void *bytes, size_t length, const int *fds,
                    unsigned count);
/* Receive a reply. Returns false if the server has closed the connection. */
bool vfio_test_receive(struct vfio_test *client);

/* Send a request with that body, and receive the reply. Returns the error of the reply; -1: the
 * server has closed the connection. */
int vfio_test_call(struct vfio_test *client, uint16_t command, const void *body, size_t length,
                   const int *fds, unsigned count);

/* Requests of a monitor. Each returns as vfio_test_call. */
int vfio_test_version(struct vfio_test *client);
int vfio_test_map(struct vfio_test *client, uint64_t address, uint64_t size, uint32_t flags, int fd,
                  uint64_t offset);
int vfio_test_unmap(struct vfio_test *client, uint64_t address, uint64_t size, uint32_t flags);
int vfio_test_irqs(struct vfio_test *client, uint32_t index, uint32_t flags, uint32_t start,
                   uint32_t count, const int *fds, unsigned fd_count);
int vfio_test_access(struct vfio_test *client, uint32_t region, uint64_t offset, uint32_t count,
                     const void *data);

/* Registers and configuration space. Each fails the test on an error reply. */
uint64_t vfio_test_read(struct vfio_test *client, uint32_t region, uint64_t offset, uint32_t width);
void vfio_test_write(struct vfio_test *client, uint32_t region, uint64_t offset, uint32_t width,
                     uint64_t value);

/* The configuration space: find a capability, 0: none. Switch bus mastering and MSI-X on or off, as
 * a driver does. */
uint32_t vfio_test_capability(struct vfio_test *client, uint32_t id);
void vfio_test_master(struct vfio_test *client, bool on);
void vfio_test_msix(struct vfio_test *client, bool on);

/* Make the requests of a monitor that starts a guest: VERSION, the memory, an eventfd for vector 0,
 * and MSI-X. *memory: the memfd of the guest; *vector: the eventfd. */
void vfio_test_boot(struct vfio_test *client, int *memory, int *vector);

/* A memfd of that size. */
int vfio_test_memory(uint64_t size);
/* The word at an offset of a file. */
uint64_t vfio_test_word(int memory, uint64_t offset);
/* Whether an eventfd was signalled; the signal is taken. */
bool vfio_test_signalled(int fd);

#endif

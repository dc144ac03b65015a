/* SPDX-License-Identifier: BSD-3-Clause */
/* A small client of vfio-user for tests. */
#define _GNU_SOURCE /* memfd_create */
#include <errno.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>

#include "tests/suite.h"
#include "tests/switch/vfio_test.h"

#define CONFIG VFIO_PCI_CONFIG_REGION_INDEX

void vfio_test_connect(struct vfio_test *client, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    *client = (struct vfio_test){.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    assert_true(client->fd >= 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    assert_int_equal(connect(client->fd, (struct sockaddr *)&address, sizeof address), 0);
}

void vfio_test_close(struct vfio_test *client)
{
    close(client->fd);
    client->fd = -1;
}

bool vfio_test_send(struct vfio_test *client, const void *bytes, size_t length, const int *fds,
                    unsigned count)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(64 * sizeof(int))];
    } control = {0};
    struct iovec part = {(void *)(uintptr_t)bytes, length};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    if (count > 0) {
        struct cmsghdr *rights = &control.align;

        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(rights), fds, count * sizeof(int));
    }
    return sendmsg(client->fd, &message, MSG_NOSIGNAL) == (ssize_t)length;
}

static bool receive(struct vfio_test *client, void *bytes, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t count = recv(client->fd, (char *)bytes + done, length - done, 0);

        if (count <= 0)
            return false;
        done += (size_t)count;
    }
    return true;
}

bool vfio_test_receive(struct vfio_test *client)
{
    if (client->serve != NULL)
        client->serve(client->context);
    if (!receive(client, &client->reply, sizeof client->reply))
        return false;
    assert_int_equal(client->reply.flags & GBA_VFIO_TYPE, GBA_VFIO_REPLY);
    assert_in_range(client->reply.size, GBA_VFIO_HEADER_SIZE,
                    GBA_VFIO_HEADER_SIZE + GBA_VFIO_BODY_MAX);
    client->length = client->reply.size - GBA_VFIO_HEADER_SIZE;
    return receive(client, client->body, client->length);
}

int vfio_test_call(struct vfio_test *client, uint16_t command, const void *body, size_t length,
                   const int *fds, unsigned count)
{
    uint8_t message[256 + GBA_VFIO_BODY_MAX];
    struct gba_vfio_header header = {
        .id = ++client->id, .command = command, .size = (uint32_t)(GBA_VFIO_HEADER_SIZE + length)};

    memcpy(message, &header, sizeof header);
    if (length > 0)
        memcpy(message + sizeof header, body, length);
    if (!vfio_test_send(client, message, header.size, fds, count) || !vfio_test_receive(client))
        return -1;
    assert_int_equal(client->reply.id, client->id);
    assert_int_equal(client->reply.command, command);
    if ((client->reply.flags & GBA_VFIO_ERROR) == 0)
        return 0;
    assert_int_equal(client->length, 0);
    assert_int_not_equal(client->reply.error, 0);
    return (int)client->reply.error;
}

int vfio_test_version(struct vfio_test *client)
{
    static const char body[] = "\0\0\0\0{\"capabilities\":{\"max_msg_fds\":8}}";

    return vfio_test_call(client, GBA_VFIO_VERSION, body, sizeof body, NULL, 0);
}

int vfio_test_map(struct vfio_test *client, uint64_t address, uint64_t size, uint32_t flags, int fd,
                  uint64_t offset)
{
    struct {
        uint32_t argsz, flags;
        uint64_t offset, address, size;
    } body = {sizeof body, flags, offset, address, size};

    return vfio_test_call(client, GBA_VFIO_DMA_MAP, &body, sizeof body, &fd, fd >= 0 ? 1 : 0);
}

int vfio_test_unmap(struct vfio_test *client, uint64_t address, uint64_t size, uint32_t flags)
{
    struct {
        uint32_t argsz, flags;
        uint64_t address, size;
    } body = {sizeof body, flags, address, size};

    return vfio_test_call(client, GBA_VFIO_DMA_UNMAP, &body, sizeof body, NULL, 0);
}

int vfio_test_irqs(struct vfio_test *client, uint32_t index, uint32_t flags, uint32_t start,
                   uint32_t count, const int *fds, unsigned fd_count)
{
    const uint32_t body[5] = {sizeof body, flags, index, start, count};

    return vfio_test_call(client, GBA_VFIO_SET_IRQS, body, sizeof body, fds, fd_count);
}

int vfio_test_access(struct vfio_test *client, uint32_t region, uint64_t offset, uint32_t count,
                     const void *data)
{
    uint8_t body[GBA_VFIO_BODY_MAX] = {0};

    memcpy(body, &offset, 8);
    memcpy(body + 8, &region, 4);
    memcpy(body + 12, &count, 4);
    if (data != NULL)
        memcpy(body + 16, data, count);
    return vfio_test_call(client, data == NULL ? GBA_VFIO_REGION_READ : GBA_VFIO_REGION_WRITE, body,
                          data == NULL ? 16 : 16 + count, NULL, 0);
}

uint64_t vfio_test_read(struct vfio_test *client, uint32_t region, uint64_t offset, uint32_t width)
{
    uint64_t value = 0;

    assert_int_equal(vfio_test_access(client, region, offset, width, NULL), 0);
    assert_int_equal(client->length, 16 + width);
    for (uint32_t i = 0; i < width; i++)
        value |= (uint64_t)client->body[16 + i] << 8 * i;
    return value;
}

void vfio_test_write(struct vfio_test *client, uint32_t region, uint64_t offset, uint32_t width,
                     uint64_t value)
{
    uint8_t data[8];

    for (uint32_t i = 0; i < width; i++)
        data[i] = (uint8_t)(value >> 8 * i);
    assert_int_equal(vfio_test_access(client, region, offset, width, data), 0);
}

uint32_t vfio_test_capability(struct vfio_test *client, uint32_t id)
{
    uint32_t at = (uint32_t)vfio_test_read(client, CONFIG, PCI_CAPABILITY_LIST, 1);

    for (int i = 0; i < 48 && at != 0; i++) {
        if (vfio_test_read(client, CONFIG, at, 1) == id)
            return at;
        at = (uint32_t)vfio_test_read(client, CONFIG, at + PCI_CAP_LIST_NEXT, 1);
    }
    return 0;
}

void vfio_test_master(struct vfio_test *client, bool on)
{
    vfio_test_write(client, CONFIG, PCI_COMMAND, 2,
                    PCI_COMMAND_MEMORY | (on ? PCI_COMMAND_MASTER : 0));
}

void vfio_test_msix(struct vfio_test *client, bool on)
{
    uint32_t at = vfio_test_capability(client, PCI_CAP_ID_MSIX);

    assert_int_not_equal(at, 0);
    vfio_test_write(client, CONFIG, at + PCI_MSIX_FLAGS, 2, on ? PCI_MSIX_FLAGS_ENABLE : 0);
}

void vfio_test_boot(struct vfio_test *client, int *memory, int *vector)
{
    const uint32_t flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;

    *memory = vfio_test_memory(GUEST_SIZE);
    *vector = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    assert_true(*vector >= 0);
    assert_int_equal(vfio_test_version(client), 0);
    assert_int_equal(vfio_test_map(client, GUEST_BASE, GUEST_SIZE,
                                   VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE, *memory, 0),
                     0);
    assert_int_equal(vfio_test_irqs(client, VFIO_PCI_MSIX_IRQ_INDEX, flags, 0, 1, vector, 1), 0);
    vfio_test_master(client, true);
    vfio_test_msix(client, true);
}

int vfio_test_memory(uint64_t size)
{
    int fd = memfd_create("gba-test-guest", MFD_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    return fd;
}

uint64_t vfio_test_word(int memory, uint64_t offset)
{
    uint64_t word = 0;

    assert_int_equal(pread(memory, &word, sizeof word, (off_t)offset), sizeof word);
    return word;
}

bool vfio_test_signalled(int fd)
{
    uint64_t count;

    return read(fd, &count, sizeof count) == sizeof count;
}

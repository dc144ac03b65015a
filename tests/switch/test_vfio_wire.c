/* SPDX-License-Identifier: BSD-3-Clause */
/* The decoder of the vfio-user protocol: each message valid, and with one invalid field at a time.
 */
#include <errno.h>
#include <linux/vfio.h>

#include "sim/switch/vfio/wire.h"
#include "tests/suite.h"

static uint8_t body[GBA_VFIO_BODY_MAX];
static struct gba_vfio_request request;

static int decode(uint16_t command, uint32_t length, unsigned fds, uint32_t flags)
{
    struct gba_vfio_header header = {
        .command = command, .size = GBA_VFIO_HEADER_SIZE + length, .flags = flags};

    return gba_vfio_decode(&header, body, fds, &request);
}

/* The body begins with these words; the rest is 0. */
static void set(const uint32_t *words, size_t count)
{
    memset(body, 0, 64);
    memcpy(body, words, count * sizeof words[0]);
}

/* The words of a valid message, and one of them replaced. */
static int with(uint16_t command, const uint32_t *words, size_t count, size_t at, uint32_t word,
                unsigned fds)
{
    set(words, count);
    memcpy(body + 4 * at, &word, sizeof word);
    return decode(command, (uint32_t)(4 * count), fds, 0);
}

static int header_error(uint32_t size, uint32_t flags)
{
    const uint32_t words[4] = {GBA_VFIO_RESET << 16, size, flags, 0};
    struct gba_vfio_header header;
    uint8_t bytes[GBA_VFIO_HEADER_SIZE];

    memcpy(bytes, words, sizeof bytes);
    return gba_vfio_decode_header(bytes, &header);
}

TEST(test_header)
{
    assert_int_equal(header_error(GBA_VFIO_HEADER_SIZE, 0), 0);
    assert_int_equal(header_error(GBA_VFIO_HEADER_SIZE + GBA_VFIO_BODY_MAX, GBA_VFIO_NO_REPLY), 0);
    assert_int_equal(header_error(0, 0), EPROTO);
    assert_int_equal(header_error(GBA_VFIO_HEADER_SIZE - 1, 0), EPROTO);
    assert_int_equal(header_error(GBA_VFIO_HEADER_SIZE + GBA_VFIO_BODY_MAX + 1, 0), EPROTO);
    assert_int_equal(header_error(UINT32_MAX, 0), EPROTO);
    for (uint32_t type = 1; type <= GBA_VFIO_TYPE; type++)
        assert_int_equal(header_error(GBA_VFIO_HEADER_SIZE, type), EPROTO);
}

TEST(test_commands_flags_and_descriptors)
{
    assert_int_equal(decode(GBA_VFIO_RESET, 0, 0, 0), 0);
    assert_int_equal(decode(GBA_VFIO_RESET, 0, 0, GBA_VFIO_NO_REPLY), 0);
    assert_int_equal(decode(GBA_VFIO_RESET, 1, 0, 0), EINVAL);
    assert_int_equal(decode(GBA_VFIO_RESET, 0, 1, 0), EINVAL);
    for (unsigned bit = 5; bit < 32; bit++)
        assert_int_equal(decode(GBA_VFIO_RESET, 0, 0, 1u << bit), EINVAL);
    for (uint32_t command = 0; command <= UINT16_MAX; command++)
        if (command == 0 || command == 6 || command == 11 || command == 12 || command > 13)
            assert_int_equal(decode((uint16_t)command, 0, 0, 0), ENOTSUP);
}

TEST(test_version)
{
    set((const uint32_t[]){0x00070001}, 1);
    assert_int_equal(decode(GBA_VFIO_VERSION, 4, 0, 0), 0);
    assert_int_equal(request.u.version.major, 1);
    assert_int_equal(request.u.version.minor, 7);
    for (uint32_t length = 0; length < 4; length++)
        assert_int_equal(decode(GBA_VFIO_VERSION, length, 0, 0), EINVAL);
    memcpy(body + 4, "{}", 3);
    assert_int_equal(decode(GBA_VFIO_VERSION, 7, 0, 0), 0);
    assert_int_equal(decode(GBA_VFIO_VERSION, 6, 0, 0), EINVAL); /* no terminator */
    assert_int_equal(decode(GBA_VFIO_VERSION, 4, 1, 0), EINVAL);
}

TEST(test_map)
{
    const uint16_t command = GBA_VFIO_DMA_MAP;
    /* argsz, flags, offset, address, size */
    const uint32_t valid[8] = {32, 3, 0x1000, 0, 0x2000, 1, 0x3000, 0};

    assert_int_equal(with(command, valid, 8, 0, 32, 1), 0);
    assert_int_equal(request.u.map.flags, 3);
    assert_int_equal(request.u.map.offset, 0x1000);
    assert_int_equal(request.u.map.address, 0x100002000);
    assert_int_equal(request.u.map.size, 0x3000);
    assert_int_equal(with(command, valid, 8, 0, 32, 0), 0);
    assert_int_equal(with(command, valid, 8, 0, 32, 2), EINVAL);
    assert_int_equal(with(command, valid, 8, 0, 31, 1), EINVAL);
    assert_int_equal(with(command, valid, 8, 1, 4, 1), EINVAL);
    assert_int_equal(with(command, valid, 8, 3, 1u << 31, 1), EINVAL); /* offset */
    assert_int_equal(with(command, valid, 8, 6, 0, 1), EINVAL);        /* no size */
    assert_int_equal(with(command, valid, 8, 7, 1u << 31, 1), EINVAL); /* size */
    assert_int_equal(with(command, valid, 8, 5, UINT32_MAX, 1), 0);
    memset(body + 16, 0xFF, 8); /* the end wraps */
    assert_int_equal(decode(command, 32, 1, 0), EINVAL);
    assert_int_equal(with(command, valid, 7, 0, 32, 1), EINVAL);
    set(valid, 8);
    assert_int_equal(decode(command, 33, 1, 0), EINVAL);
    assert_int_equal(decode(command, 0, 1, 0), EINVAL);
}

TEST(test_unmap)
{
    const uint16_t command = GBA_VFIO_DMA_UNMAP;
    const uint32_t valid[6] = {24, 0, 0x2000, 1, 0x3000, 0};

    assert_int_equal(with(command, valid, 6, 0, 24, 0), 0);
    assert_int_equal(request.u.unmap.address, 0x100002000);
    assert_int_equal(request.u.unmap.size, 0x3000);
    assert_int_equal(with(command, valid, 6, 1, VFIO_DMA_UNMAP_FLAG_ALL, 0), 0);
    assert_int_equal(with(command, valid, 6, 1, VFIO_DMA_UNMAP_FLAG_GET_DIRTY_BITMAP, 0), EINVAL);
    assert_int_equal(with(command, valid, 6, 1, 4, 0), EINVAL);
    assert_int_equal(with(command, valid, 6, 0, 23, 0), EINVAL);
    assert_int_equal(with(command, valid, 6, 0, 24, 1), EINVAL);
    assert_int_equal(with(command, valid, 5, 0, 24, 0), EINVAL);
}

TEST(test_information)
{
    const uint32_t words[8] = {32};

    assert_int_equal(with(GBA_VFIO_GET_INFO, words, 4, 0, 16, 0), 0);
    assert_int_equal(with(GBA_VFIO_GET_INFO, words, 4, 0, 15, 0), EINVAL);
    assert_int_equal(with(GBA_VFIO_GET_INFO, words, 3, 0, 16, 0), EINVAL);
    assert_int_equal(with(GBA_VFIO_GET_INFO, words, 5, 0, 16, 0), EINVAL);
    assert_int_equal(with(GBA_VFIO_GET_REGION_INFO, words, 8, 2, VFIO_PCI_VGA_REGION_INDEX, 0), 0);
    assert_int_equal(request.u.info.index, VFIO_PCI_VGA_REGION_INDEX);
    assert_int_equal(with(GBA_VFIO_GET_REGION_INFO, words, 8, 2, VFIO_PCI_NUM_REGIONS, 0), EINVAL);
    assert_int_equal(with(GBA_VFIO_GET_REGION_INFO, words, 8, 2, UINT32_MAX, 0), EINVAL);
    assert_int_equal(with(GBA_VFIO_GET_REGION_INFO, words, 8, 0, 31, 0), EINVAL);
    assert_int_equal(with(GBA_VFIO_GET_REGION_INFO, words, 7, 0, 32, 0), EINVAL);
    assert_int_equal(with(GBA_VFIO_GET_IRQ_INFO, words, 4, 2, VFIO_PCI_REQ_IRQ_INDEX, 0), 0);
    assert_int_equal(with(GBA_VFIO_GET_IRQ_INFO, words, 4, 2, VFIO_PCI_NUM_IRQS, 0), EINVAL);
    assert_int_equal(with(GBA_VFIO_GET_IRQ_INFO, words, 4, 0, 15, 0), EINVAL);
    assert_int_equal(with(GBA_VFIO_GET_IRQ_INFO, words, 3, 0, 16, 0), EINVAL);
}

TEST(test_interrupts)
{
    const uint16_t command = GBA_VFIO_SET_IRQS;
    const uint32_t eventfd = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
    const uint32_t none = VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_MASK;
    /* argsz, flags, index, start, count */
    const uint32_t valid[5] = {20, eventfd, VFIO_PCI_MSIX_IRQ_INDEX, 0, 2};
    uint32_t bools[5] = {22, VFIO_IRQ_SET_DATA_BOOL | VFIO_IRQ_SET_ACTION_MASK, 2, 0, 2};

    assert_int_equal(with(command, valid, 5, 0, 20, 2), 0);
    assert_int_equal(with(command, valid, 5, 0, 20, 0), 0); /* removes the eventfds */
    assert_int_equal(with(command, valid, 5, 0, 20, 1), EINVAL);
    assert_int_equal(with(command, valid, 5, 0, 20, 3), EINVAL);
    assert_int_equal(with(command, valid, 5, 0, 21, 2), EINVAL);
    assert_int_equal(with(command, valid, 5, 0, 19, 2), EINVAL);
    assert_int_equal(with(command, valid, 4, 0, 16, 2), EINVAL);
    assert_int_equal(with(command, valid, 5, 1, none, 0), 0);
    assert_null(request.u.irqs.data);
    assert_int_equal(with(command, valid, 5, 1, none, 1), EINVAL);
    assert_int_equal(with(command, valid, 5, 1, eventfd | none, 2), EINVAL);
    assert_int_equal(with(command, valid, 5, 1, VFIO_IRQ_SET_DATA_NONE, 0), EINVAL);
    assert_int_equal(with(command, valid, 5, 1, VFIO_IRQ_SET_ACTION_MASK, 0), EINVAL);
    assert_int_equal(with(command, valid, 5, 1, none | 1u << 6, 0), EINVAL);
    assert_int_equal(with(command, valid, 5, 2, VFIO_PCI_NUM_IRQS, 2), EINVAL);
    assert_int_equal(with(command, valid, 5, 3, UINT32_MAX, 2), EINVAL);
    assert_int_equal(with(command, valid, 5, 4, UINT32_MAX, 2), EINVAL);
    set(bools, 5);
    assert_int_equal(decode(command, 22, 0, 0), 0);
    assert_ptr_equal(request.u.irqs.data, body + 20);
    bools[4] = 3; /* more than there are */
    set(bools, 5);
    assert_int_equal(decode(command, 22, 0, 0), EINVAL);
    bools[4] = UINT32_MAX;
    set(bools, 5);
    assert_int_equal(decode(command, 22, 0, 0), EINVAL);
}

TEST(test_accesses)
{
    /* offset, region, count */
    const uint32_t valid[4] = {8, 1, VFIO_PCI_CONFIG_REGION_INDEX, 4};
    const uint16_t read = GBA_VFIO_REGION_READ, write = GBA_VFIO_REGION_WRITE;

    assert_int_equal(with(read, valid, 4, 3, GBA_VFIO_DATA_MAX, 0), 0);
    assert_int_equal(request.u.access.offset, 0x100000008);
    assert_int_equal(request.u.access.region, VFIO_PCI_CONFIG_REGION_INDEX);
    assert_null(request.u.access.data);
    assert_int_equal(with(read, valid, 4, 3, GBA_VFIO_DATA_MAX + 1, 0), EINVAL);
    assert_int_equal(with(read, valid, 4, 3, UINT32_MAX, 0), EINVAL);
    assert_int_equal(with(read, valid, 4, 3, 0, 0), EINVAL);
    assert_int_equal(with(read, valid, 4, 2, VFIO_PCI_NUM_REGIONS, 0), EINVAL);
    assert_int_equal(with(read, valid, 3, 0, 8, 0), EINVAL);
    set(valid, 4);
    assert_int_equal(decode(read, 20, 0, 0), EINVAL);
    assert_int_equal(decode(write, 20, 0, 0), 0);
    assert_ptr_equal(request.u.access.data, body + 16);
    assert_int_equal(decode(write, 19, 0, 0), EINVAL); /* data are missing */
    assert_int_equal(decode(write, 21, 0, 0), EINVAL);
    assert_int_equal(decode(write, 16, 0, 0), EINVAL);
    assert_int_equal(decode(write, 20, 1, 0), EINVAL);
    assert_int_equal(with(write, valid, 4, 3, 0, 0), EINVAL);
}

TEST(test_reply)
{
    const struct gba_vfio_header asked = {.id = 77, .command = GBA_VFIO_REGION_READ, .size = 32};
    struct gba_vfio_header reply;
    uint8_t bytes[GBA_VFIO_HEADER_SIZE];

    assert_int_equal(gba_vfio_encode_reply(&asked, 0, 24, bytes), 40);
    memcpy(&reply, bytes, sizeof reply);
    assert_int_equal(reply.id, 77);
    assert_int_equal(reply.command, GBA_VFIO_REGION_READ);
    assert_int_equal(reply.size, 40);
    assert_int_equal(reply.flags, GBA_VFIO_REPLY);
    assert_int_equal(gba_vfio_encode_reply(&asked, EINVAL, 0, bytes), 16);
    memcpy(&reply, bytes, sizeof reply);
    assert_int_equal(reply.flags, GBA_VFIO_REPLY | GBA_VFIO_ERROR);
    assert_int_equal(reply.error, EINVAL);
}

TEST_MAIN()

/* SPDX-License-Identifier: BSD-3-Clause */
/* The PCI device of a port, as a virtual machine sees it: negotiation, configuration space,
 * accesses, and reset. */
#include <errno.h>
#include <unistd.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>

#include "gba/spec/gba_regs.h"
#include "tests/limit.h"
#include "tests/suite.h"
#include "tests/switch/vfio_bench.h"

#define BAR    VFIO_PCI_BAR0_REGION_INDEX
#define MSIX   VFIO_PCI_BAR2_REGION_INDEX
#define CONFIG VFIO_PCI_CONFIG_REGION_INDEX

TEST_WITH(test_negotiation, vfio_bench_bare, vfio_bench_end, NULL)
{
    const uint16_t newer[2] = {0, 7}, other[2] = {1, 0};
    uint16_t version[2];

    /* A client of another major version is refused, and can propose this one. */
    assert_int_equal(vfio_test_call(&bench.client, GBA_VFIO_VERSION, other, sizeof other, NULL, 0),
                     EINVAL);
    assert_int_equal(bench.server.refused, EINVAL);
    assert_int_equal(bench.server.refused_command, GBA_VFIO_VERSION);
    assert_int_equal(vfio_test_call(&bench.client, GBA_VFIO_VERSION, newer, sizeof newer, NULL, 0),
                     0);
    memcpy(version, bench.client.body, sizeof version);
    assert_int_equal(version[0], 0);
    assert_int_equal(version[1], 0);
    assert_int_equal(bench.client.body[bench.client.length - 1], 0);
    assert_non_null(strstr((const char *)bench.client.body + 4, "\"max_msg_fds\":8"));
    assert_int_equal(vfio_test_version(&bench.client), EINVAL); /* a second time */
}

TEST_WITH(test_version_comes_first, vfio_bench_bare, vfio_bench_end, NULL)
{
    assert_int_equal(vfio_test_access(&bench.client, CONFIG, 0, 4, NULL), -1);
}

TEST_WITH(test_information, vfio_bench_booted, vfio_bench_end, NULL)
{
    struct vfio_test *client = &bench.client;
    uint32_t info[4] = {sizeof info}, irq[4] = {sizeof irq, 0, VFIO_PCI_MSIX_IRQ_INDEX};
    struct vfio_region_info region = {.argsz = sizeof region};
    static const uint64_t sizes[VFIO_PCI_NUM_REGIONS] = {
        [BAR] = GBA_BAR_SIZE, [MSIX] = 4096, [CONFIG] = 4096};

    assert_int_equal(vfio_test_call(client, GBA_VFIO_GET_INFO, info, sizeof info, NULL, 0), 0);
    memcpy(info, client->body, sizeof info);
    assert_int_equal(info[1], VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI);
    assert_int_equal(info[2], VFIO_PCI_NUM_REGIONS);
    for (uint32_t i = 0; i < VFIO_PCI_NUM_REGIONS; i++) {
        region = (struct vfio_region_info){.argsz = sizeof region, .index = i};
        assert_int_equal(
            vfio_test_call(client, GBA_VFIO_GET_REGION_INFO, &region, sizeof region, NULL, 0), 0);
        memcpy(&region, client->body, sizeof region);
        assert_int_equal(region.index, i);
        assert_int_equal(region.size, sizes[i]);
        assert_int_equal(region.flags, sizes[i] == 0 ? 0 : 3); /* nothing can be mapped */
    }
    assert_int_equal(vfio_test_call(client, GBA_VFIO_GET_IRQ_INFO, irq, sizeof irq, NULL, 0), 0);
    memcpy(irq, client->body, sizeof irq);
    assert_int_equal(irq[3], GBA_PCI_VECTORS);
}

TEST_WITH(test_PCI_1_identity_and_bar, vfio_bench_booted, vfio_bench_end, NULL)
{
    struct vfio_test *client = &bench.client;

    assert_int_equal(vfio_test_read(client, CONFIG, PCI_VENDOR_ID, 2), GBA_PCI_VENDOR);
    assert_int_equal(vfio_test_read(client, CONFIG, PCI_DEVICE_ID, 2), GBA_PCI_DEVICE);
    assert_int_equal(vfio_test_read(client, CONFIG, PCI_REVISION_ID, 1), GBA_PCI_REVISION);
    assert_int_equal(vfio_test_read(client, CONFIG, PCI_CLASS_REVISION, 4) >> 8, GBA_PCI_CLASS);
    assert_int_equal(vfio_test_read(client, CONFIG, PCI_INTERRUPT_PIN, 1), 0);
    assert_int_not_equal(vfio_test_capability(client, PCI_CAP_ID_EXP), 0);
    assert_int_not_equal(vfio_test_capability(client, PCI_CAP_ID_MSIX), 0);
    /* After a write of all ones a read returns the size of the BAR. */
    vfio_test_write(client, CONFIG, PCI_BASE_ADDRESS_0, 8, UINT64_MAX);
    assert_int_equal(vfio_test_read(client, CONFIG, PCI_BASE_ADDRESS_0, 8),
                     ~(uint64_t)(GBA_BAR_SIZE - 1) | PCI_BASE_ADDRESS_MEM_TYPE_64);
    /* The identity is read-only. */
    vfio_test_write(client, CONFIG, PCI_VENDOR_ID, 4, 0);
    assert_int_equal(vfio_test_read(client, CONFIG, PCI_VENDOR_ID, 2), GBA_PCI_VENDOR);
}

TEST_WITH(test_bar_accesses_reach_the_port, vfio_bench_booted, vfio_bench_end, NULL)
{
    struct vfio_test *client = &bench.client;
    const uint8_t zero[64] = {0};

    for (unsigned width = 1; width <= 8; width *= 2) {
        vfio_test_write(client, BAR, 0x210008, width, 0x1122334455667788);
        assert_int_equal(bench.address, 0x210008);
        assert_int_equal(bench.width, width);
        assert_int_equal(bench.value, 0x1122334455667788 & UINT64_MAX >> (64 - 8 * width));
        assert_int_equal(vfio_test_read(client, BAR, 0x20000 + width, width), bench.value);
        assert_int_equal(bench.address, 0x20000 + width);
    }
    assert_int_equal(vfio_test_access(client, BAR, GBA_BAR_SIZE - 8, 8, NULL), 0);
    assert_int_equal(vfio_test_access(client, BAR, GBA_BAR_SIZE - 7, 8, NULL), EINVAL);
    assert_int_equal(vfio_test_access(client, BAR, UINT64_MAX - 3, 8, NULL), EINVAL);
    assert_int_equal(vfio_test_access(client, BAR, 0, 3, NULL), EINVAL);
    assert_int_equal(vfio_test_access(client, BAR, 0, 64, zero), EINVAL);
    assert_int_equal(vfio_test_access(client, VFIO_PCI_BAR1_REGION_INDEX, 0, 4, NULL), EINVAL);
}

static void check_reset(unsigned resets)
{
    struct vfio_test *client = &bench.client;

    assert_int_equal(bench.resets, resets);
    assert_int_equal(vfio_test_read(client, CONFIG, PCI_COMMAND, 2), 0);
    assert_false(vfio_bench_released(64, 7)); /* bus mastering is off */
    gba_vfio_device_interrupt(&bench.device);
    assert_false(vfio_test_signalled(bench.vector));
    /* The memory and the eventfds of the monitor stay. */
    vfio_test_master(client, true);
    vfio_test_msix(client, true);
    assert_true(vfio_test_signalled(bench.vector));
    assert_true(vfio_bench_released(64, 8));
    assert_int_equal(bench.resets, resets);
}

TEST_WITH(test_PCI_4_function_level_reset, vfio_bench_booted, vfio_bench_end, NULL)
{
    struct vfio_test *client = &bench.client;
    uint32_t at = vfio_test_capability(client, PCI_CAP_ID_EXP) + PCI_EXP_DEVCTL;
    uint32_t control = (uint32_t)vfio_test_read(client, CONFIG, at, 2);

    assert_true(vfio_test_read(client, CONFIG, at - PCI_EXP_DEVCTL + PCI_EXP_DEVCAP, 4) &
                PCI_EXP_DEVCAP_FLR);
    /* A pending interrupt does not outlive the reset. */
    vfio_test_msix(client, false);
    gba_vfio_device_interrupt(&bench.device);
    vfio_test_write(client, CONFIG, at, 2, control | PCI_EXP_DEVCTL_BCR_FLR);
    assert_int_equal(vfio_test_read(client, CONFIG, at, 2) & PCI_EXP_DEVCTL_BCR_FLR, 0);
    assert_false(bench.device.irq.pending);
    check_reset(1);
    /* As a write of one byte. */
    vfio_test_write(client, CONFIG, at + 1, 1, PCI_EXP_DEVCTL_BCR_FLR >> 8);
    check_reset(2);
}

TEST_WITH(test_reset_request, vfio_bench_booted, vfio_bench_end, NULL)
{
    assert_int_equal(vfio_test_call(&bench.client, GBA_VFIO_RESET, NULL, 0, NULL, 0), 0);
    check_reset(1);
}

TEST_MAIN(alarm(test_limit(60)))

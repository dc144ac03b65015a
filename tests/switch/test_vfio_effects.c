/* SPDX-License-Identifier: BSD-3-Clause */
/* Effects of the PCI device of a port on a virtual machine: release stores to its memory, and
 * interrupts. */
#include <errno.h>
#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>

#include "tests/limit.h"
#include "tests/suite.h"
#include "tests/switch/vfio_bench.h"

#define MSIX   VFIO_PCI_BAR2_REGION_INDEX
#define CONFIG VFIO_PCI_CONFIG_REGION_INDEX
#define RW     (VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE)

#define EVENTFD (VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER)
#define NOTHING VFIO_IRQ_SET_DATA_NONE

TEST_WITH(test_release_reaches_the_memory, vfio_bench_booted, vfio_bench_end, NULL)
{
    assert_true(vfio_bench_released(64, 7));
    assert_true(vfio_bench_released(0, 0xFFFFFFFF));
    assert_true(vfio_bench_released(GUEST_SIZE - 8, 8));
    assert_int_equal(bench.device.counters.stores, 3);
    /* Not aligned; before, behind and far from the memory. */
    gba_vfio_device_release(&bench.device, GUEST_BASE + 4, 9);
    gba_vfio_device_release(&bench.device, GUEST_BASE - 8, 9);
    gba_vfio_device_release(&bench.device, GUEST_BASE + GUEST_SIZE, 9);
    gba_vfio_device_release(&bench.device, UINT64_MAX - 7, 9);
    assert_int_equal(bench.device.counters.stores, 3);
    assert_int_equal(bench.device.counters.dropped_address, 4);
}

TEST_WITH(test_PCI_2_no_store_without_bus_mastering, vfio_bench_booted, vfio_bench_end, NULL)
{
    vfio_test_master(&bench.client, false);
    assert_false(vfio_bench_released(64, 7));
    assert_int_equal(bench.device.counters.dropped_master, 1);
    vfio_test_master(&bench.client, true);
    assert_int_equal(vfio_test_word(bench.memory, 64), 0); /* dropped, not delayed */
    assert_true(vfio_bench_released(64, 8));
}

TEST_WITH(test_no_store_after_unmap, vfio_bench_booted, vfio_bench_end, NULL)
{
    struct vfio_test *client = &bench.client;

    assert_true(vfio_bench_released(64, 7));
    assert_int_equal(vfio_test_unmap(client, GUEST_BASE, GUEST_SIZE / 2, 0), ENOENT);
    assert_int_equal(vfio_test_unmap(client, GUEST_BASE, GUEST_SIZE, 0), 0);
    assert_int_equal(client->length, 24);
    assert_false(vfio_bench_released(64, 8));
    assert_int_equal(vfio_test_unmap(client, GUEST_BASE, GUEST_SIZE, 0), ENOENT);
    assert_int_equal(vfio_test_map(client, GUEST_BASE, GUEST_SIZE, RW, bench.memory, 0), 0);
    assert_int_equal(vfio_test_unmap(client, 0, 0, VFIO_DMA_UNMAP_FLAG_ALL), 0);
    assert_false(vfio_bench_released(64, 9));
    assert_int_equal(vfio_test_word(bench.memory, 64), 7);
}

/* The page size that the file system of a guest's memory reports; 0: its own. The linker replaces
 * fstatfs. */
static long page_size;

int __real_fstatfs(int fd, struct statfs *system);
int __wrap_fstatfs(int fd, struct statfs *system);
int __wrap_fstatfs(int fd, struct statfs *system)
{
    int result = __real_fstatfs(fd, system);

    if (page_size != 0)
        system->f_bsize = page_size;
    return result;
}

TEST_WITH(test_maps, vfio_bench_booted, vfio_bench_end, NULL)
{
    struct vfio_test *client = &bench.client;
    int pipes[2];

    /* Overlaps: the end, the beginning, the middle, all. */
    assert_int_equal(vfio_test_map(client, GUEST_BASE - 4096, 8192, RW, -1, 0), EEXIST);
    assert_int_equal(
        vfio_test_map(client, GUEST_BASE + GUEST_SIZE - 4096, 8192, RW, bench.memory, 0), EEXIST);
    assert_int_equal(vfio_test_map(client, GUEST_BASE + 4096, 4096, RW, -1, 0), EEXIST);
    assert_int_equal(vfio_test_map(client, 4096, 1ull << 40, RW, -1, 0), EEXIST);
    /* A file that is too short, and one that is none. */
    assert_int_equal(vfio_test_map(client, 0, 4096, RW, bench.memory, GUEST_SIZE), EINVAL);
    assert_int_equal(vfio_test_map(client, 0, 2 * GUEST_SIZE, RW, bench.memory, 0), EINVAL);
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(vfio_test_map(client, 0, 4096, RW, pipes[0], 0), EINVAL);
    close(pipes[0]);
    close(pipes[1]);
    /* Not a page. */
    assert_int_equal(vfio_test_map(client, 0, 4095, RW, -1, 0), EINVAL);
    assert_int_equal(vfio_test_map(client, 8, 4096, RW, -1, 0), EINVAL);
    assert_int_equal(vfio_test_map(client, 0, 4096, RW, bench.memory, 8), EINVAL);
    /* Memory that is not shared, and memory that is read-only, take no store. */
    assert_int_equal(vfio_test_map(client, 0, 4096, RW, -1, 0), 0);
    assert_int_equal(vfio_test_map(client, 8192, 4096, VFIO_DMA_MAP_FLAG_READ, bench.memory, 0), 0);
    gba_vfio_device_release(&bench.device, 0, 1);
    gba_vfio_device_release(&bench.device, 8192, 1);
    assert_int_equal(bench.device.counters.dropped_address, 2);
    assert_true(vfio_bench_released(64, 2));
    /* The table is full. */
    for (uint64_t i = bench.device.dma.count; i < GBA_VFIO_DMA_MAPS; i++)
        assert_int_equal(vfio_test_map(client, i << 14, 4096, RW, -1, 0), 0);
    assert_int_equal(vfio_test_map(client, 1ull << 50, 4096, RW, -1, 0), ENOSPC);
    assert_true(vfio_bench_released(64, 3));
    assert_int_equal(vfio_test_unmap(client, 0, 4096, 0), 0);
    assert_int_equal(vfio_test_map(client, 1ull << 50, 4096, RW, bench.memory, 4096), 0);
    gba_vfio_device_release(&bench.device, 1ull << 50, 5);
    assert_int_equal(vfio_test_word(bench.memory, 4096), 5);
}

static unsigned mappings(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    unsigned lines = 0;

    assert_non_null(file);
    for (int c = getc(file); c != EOF; c = getc(file))
        lines += c == '\n';
    fclose(file);
    return lines;
}

/* QEMU shares the memory behind 768 KiB by itself, which is in the middle of a huge page. */
TEST_WITH(test_huge_pages, vfio_bench_booted, vfio_bench_end, NULL)
{
    const uint64_t offset = 0x11000, size = 0x3000;
    unsigned before = mappings();

    page_size = 0x10000;
    assert_int_equal(vfio_test_map(&bench.client, offset, size, RW, bench.memory, offset), 0);
    page_size = 0;
    gba_vfio_device_release(&bench.device, offset, 5);
    gba_vfio_device_release(&bench.device, offset + size - 8, 6);
    gba_vfio_device_release(&bench.device, offset - 8, 7); /* mapped, but not shared */
    gba_vfio_device_release(&bench.device, offset + size, 7);
    assert_int_equal(vfio_test_word(bench.memory, offset), 5);
    assert_int_equal(vfio_test_word(bench.memory, offset + size - 8), 6);
    assert_int_equal(bench.device.counters.dropped_address, 2);
    assert_int_equal(mappings(), before + 1);
    assert_int_equal(vfio_test_unmap(&bench.client, offset, size, 0), 0);
    assert_int_equal(mappings(), before);
}

TEST_WITH(test_PCI_3_interrupt, vfio_bench_booted, vfio_bench_end, NULL)
{
    assert_false(vfio_test_signalled(bench.vector));
    gba_vfio_device_interrupt(&bench.device);
    assert_true(vfio_test_signalled(bench.vector));
    assert_false(vfio_test_signalled(bench.vector));
    /* MSI-X off, then bus mastering off: the interrupt is pending, and comes once. */
    vfio_test_msix(&bench.client, false);
    gba_vfio_device_interrupt(&bench.device);
    gba_vfio_device_interrupt(&bench.device);
    assert_false(vfio_test_signalled(bench.vector));
    vfio_test_master(&bench.client, false);
    vfio_test_msix(&bench.client, true);
    assert_false(vfio_test_signalled(bench.vector));
    vfio_test_master(&bench.client, true);
    assert_true(vfio_test_signalled(bench.vector));
    assert_int_equal(bench.device.irq.raised, 2);
}

TEST_WITH(test_pending_bits, vfio_bench_booted, vfio_bench_end, NULL)
{
    struct vfio_test *client = &bench.client;
    const uint32_t index = VFIO_PCI_MSIX_IRQ_INDEX;
    uint32_t at = vfio_test_capability(client, PCI_CAP_ID_MSIX);
    uint32_t pba = (uint32_t)vfio_test_read(client, CONFIG, at + PCI_MSIX_PBA, 4);

    assert_int_equal(pba & PCI_MSIX_PBA_BIR, MSIX);
    pba &= PCI_MSIX_PBA_OFFSET;
    assert_int_equal(vfio_test_read(client, MSIX, pba, 8), 0);
    assert_int_equal(
        vfio_test_irqs(client, index, NOTHING | VFIO_IRQ_SET_ACTION_MASK, 0, 1, NULL, 0), 0);
    gba_vfio_device_interrupt(&bench.device);
    assert_int_equal(vfio_test_read(client, MSIX, pba, 8), 1);
    assert_false(vfio_test_signalled(bench.vector));
    assert_int_equal(
        vfio_test_irqs(client, index, NOTHING | VFIO_IRQ_SET_ACTION_UNMASK, 0, 1, NULL, 0), 0);
    assert_true(vfio_test_signalled(bench.vector));
    assert_int_equal(vfio_test_read(client, MSIX, pba, 8), 0);
    /* The whole function is masked. */
    vfio_test_write(client, CONFIG, at + PCI_MSIX_FLAGS, 2,
                    PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
    gba_vfio_device_interrupt(&bench.device);
    assert_int_equal(vfio_test_read(client, MSIX, pba, 1), 1);
    vfio_test_msix(client, true);
    assert_true(vfio_test_signalled(bench.vector));
}

/* QEMU removes the eventfds and sets them again. */
TEST_WITH(test_pending_without_eventfd, vfio_bench_booted, vfio_bench_end, NULL)
{
    struct vfio_test *client = &bench.client;
    const uint32_t index = VFIO_PCI_MSIX_IRQ_INDEX;

    for (unsigned way = 0; way < 2; way++) {
        assert_int_equal(way == 0
                             ? vfio_test_irqs(client, index, EVENTFD, 0, 1, NULL, 0)
                             : vfio_test_irqs(client, index, NOTHING | VFIO_IRQ_SET_ACTION_TRIGGER,
                                              0, 0, NULL, 0),
                         0);
        gba_vfio_device_interrupt(&bench.device);
        assert_false(vfio_test_signalled(bench.vector));
        assert_int_equal(vfio_test_irqs(client, index, EVENTFD, 0, 1, &bench.vector, 1), 0);
        assert_true(vfio_test_signalled(bench.vector));
        assert_false(vfio_test_signalled(bench.vector));
    }
}

/* The lowest number that no descriptor has. */
static int free_descriptor(void)
{
    int fd = dup(STDERR_FILENO);

    close(fd);
    return fd;
}

TEST_WITH(test_eventfds, vfio_bench_booted, vfio_bench_end, NULL)
{
    struct vfio_test *client = &bench.client;
    const uint32_t index = VFIO_PCI_MSIX_IRQ_INDEX;
    const uint64_t full = UINT64_MAX - 1;
    int before = free_descriptor();
    int two[2] = {bench.vector, bench.vector};

    assert_int_equal(vfio_test_irqs(client, index, EVENTFD, 0, 2, two, 2), EINVAL);
    assert_int_equal(vfio_test_irqs(client, index, EVENTFD, 1, 1, two, 1), EINVAL);
    assert_int_equal(vfio_test_irqs(client, VFIO_PCI_INTX_IRQ_INDEX, EVENTFD, 0, 1, two, 1),
                     EINVAL);
    assert_int_equal(vfio_test_irqs(client, VFIO_PCI_ERR_IRQ_INDEX, EVENTFD, 0, 1, two, 1), 0);
    assert_int_equal(vfio_test_irqs(client, VFIO_PCI_ERR_IRQ_INDEX, EVENTFD, 0, 1, NULL, 0), 0);
    assert_int_equal(free_descriptor(), before);
    /* A full counter, of an eventfd that was a blocking one, does not block the daemon. */
    assert_int_equal(fcntl(bench.vector, F_SETFL, 0), 0);
    assert_int_equal(vfio_test_irqs(client, index, EVENTFD, 0, 1, &bench.vector, 1), 0);
    assert_int_equal(write(bench.vector, &full, sizeof full), sizeof full);
    gba_vfio_device_interrupt(&bench.device);
    assert_true(vfio_test_signalled(bench.vector));
    /* The client triggers the vector itself, for a test. */
    assert_int_equal(
        vfio_test_irqs(client, index, NOTHING | VFIO_IRQ_SET_ACTION_TRIGGER, 0, 1, NULL, 0), 0);
    assert_true(vfio_test_signalled(bench.vector));
}

TEST_MAIN(alarm(test_limit(60)))

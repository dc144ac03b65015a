/* SPDX-License-Identifier: BSD-3-Clause */
/* A vfio-user client, a device and a fake port in one process. */
#include <sys/socket.h>
#include <unistd.h>

#include "tests/suite.h"
#include "tests/switch/vfio_bench.h"

struct vfio_bench bench;

static uint64_t port_read(void *port, uint32_t address, unsigned width)
{
    assert_ptr_equal(port, &bench);
    bench.address = address;
    bench.width = width;
    return bench.value;
}

static void port_write(void *port, uint32_t address, unsigned width, uint64_t value)
{
    assert_ptr_equal(port, &bench);
    bench.address = address;
    bench.width = width;
    bench.value = value;
}

static void port_reset(void *port)
{
    assert_ptr_equal(port, &bench);
    bench.resets++;
}

static const struct gba_vfio_port_ops port_ops = {port_read, port_write, port_reset};

static void serve(void *context)
{
    int error = gba_vfio_connection_progress(context);

    if (error != 0)
        shutdown(bench.server.fd, SHUT_RDWR);
}

int vfio_bench_bare(void **state)
{
    int pair[2];

    (void)state;
    memset(&bench, 0, sizeof bench);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    gba_vfio_device_init(&bench.device, &port_ops, &bench);
    gba_vfio_connection_init(&bench.server, pair[0], &bench.device);
    bench.client = (struct vfio_test){.fd = pair[1], .serve = serve, .context = &bench.server};
    bench.memory = bench.vector = -1;
    return 0;
}

int vfio_bench_booted(void **state)
{
    (void)vfio_bench_bare(state);
    vfio_test_boot(&bench.client, &bench.memory, &bench.vector);
    return 0;
}

int vfio_bench_end(void **state)
{
    (void)state;
    gba_vfio_connection_end(&bench.server);
    gba_vfio_device_clear(&bench.device);
    vfio_test_close(&bench.client);
    if (bench.memory >= 0)
        close(bench.memory);
    if (bench.vector >= 0)
        close(bench.vector);
    return 0;
}

bool vfio_bench_released(uint64_t offset, uint32_t sequence)
{
    gba_vfio_device_release(&bench.device, GUEST_BASE + offset, sequence);
    return vfio_test_word(bench.memory, offset) == sequence;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An existing device as a backend of the suite: make conformance DEVICE=/dev/gba0. No other process
 * may use the device during the tests, because they compare its counters and need all its groups.
 * tests/driver/run runs the suite in virtual machines.
 */
#include "tests/conformance/conformance.h"

#include <stdio.h>
#include <stdlib.h>

#define EXIT_SKIP 77 /* for automake */

static struct conf_backend conf_device = {
    .ops = &gba_dev_cdev, .flag_at_join = true, .no_registers = true};

const struct conf_backend *const conf_backends[] = {&conf_device, NULL};

int conf_prepare(void)
{
    struct gba_dev_path path;
    struct gba_dev *device;
    char message[400];
    gba_status_t status;

    conf_device.path = getenv("GBA_CONFORMANCE_DEVICE");
    conf_device.name = conf_device.path;
    if (conf_device.path == NULL || '\0' == conf_device.path[0]) {
        printf("skipped: GBA_CONFORMANCE_DEVICE is not set: make conformance DEVICE=/dev/gba0\n");
        return EXIT_SKIP;
    }
    if (GBA_OK != gba_dev_path_parse(conf_device.path, &path, message, sizeof message)) {
        printf("%s\n", message);
        return EXIT_FAILURE;
    }
    status = conf_device.ops->open(&path, NULL, &device);
    if (GBA_OK != status) {
        printf("%s: %s\n", conf_device.path, gba_status_text(status));
        return EXIT_FAILURE;
    }
    conf_device.ops->close(device);
    return 0;
}

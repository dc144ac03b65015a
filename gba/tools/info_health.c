/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether devices are fit for jobs, for the prolog and the epilog of a batch system and for checks
 * of a node. A device without a free group is in use, and no fault.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "gba/base/printable.h"
#include "gba/spec/gba_regs.h"
#include "gba/tools/info.h"

#define SAMPLE_NS 200000000 /* between the two readings of the counters */

static const char *const names[] = {[INFO_HEALTH_OK] = "healthy",
                                    [INFO_HEALTH_BUSY] = "busy",
                                    [INFO_HEALTH_DEGRADED] = "degraded",
                                    [INFO_HEALTH_BROKEN] = "broken",
                                    [INFO_HEALTH_ABSENT] = "absent"};

/* What is known of a device. */
struct health {
    enum info_health health;
    char cause[640];
    char state[32], port[16]; /* that the driver reports before it opens the device; "": none */
    gba_device_info_t info;   /* groups is 0: not known */
};

__attribute__((format(printf, 3, 4))) static void found(struct health *h, enum info_health health,
                                                        const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(h->cause, sizeof h->cause, format, args);
    va_end(args);
    h->health = health;
}

/* The line of an attribute of the driver, "" if there is none. */
static void attribute_read(const char *path, const char *attribute, char *text, size_t len)
{
    const char *name = strrchr(path, '/');
    char file[128];
    FILE *stream;

    text[0] = '\0';
    if (0 != strncmp(path, "/dev/gba", strlen("/dev/gba")) || name == NULL)
        return;
    snprintf(file, sizeof file, "/sys/class/gba%.32s/%s", name, attribute);
    stream = fopen(file, "re");
    if (stream == NULL)
        return;
    if (fgets(text, (int)len, stream) != NULL)
        text[strcspn(text, "\n")] = '\0';
    fclose(stream);
}

/* Losses and errors that a device has counted. */
static uint64_t faults(const gba_device_info_t *info)
{
    uint64_t sum = info->bad_access;

    for (unsigned i = GBA_COUNTER_REPEATS; i < GBA_COUNTERS; i++)
        sum += info->counters[i];
    return sum;
}

static void judge(gba_device_t *device, struct health *h)
{
    const struct timespec pause = {.tv_nsec = SAMPLE_NS};
    gba_group_handle_t handle;
    const char *step = "";
    uint64_t grown, before;
    unsigned resent = 0;
    gba_status_t status;

    if (GBA_OK != gba_device_query(device, &h->info) || h->info.dead) {
        found(h, INFO_HEALTH_BROKEN, "the device does not answer");
        return;
    }
    before = faults(&h->info);
    nanosleep(&pause, NULL);
    if (GBA_OK != gba_device_query(device, &h->info) || h->info.dead) {
        found(h, INFO_HEALTH_BROKEN, "the device does not answer");
        return;
    }
    grown = faults(&h->info) - before;
    status = info_test_group(device, &handle, &resent, &step);
    if (info_is_busy(status))
        found(h, INFO_HEALTH_BUSY, "%s", gba_status_text(status));
    else if (GBA_OK != status)
        found(h, INFO_HEALTH_BROKEN, "cannot %s: %s", step, gba_status_text(status));
    else
        found(h, INFO_HEALTH_OK, "%" PRIu32 " of %" PRIu32 " groups free", h->info.groups_free,
              h->info.groups);
    if (h->health > INFO_HEALTH_BUSY)
        return;
    if ('\0' != h->state[0] && 0 != strcmp(h->state, "up"))
        found(h, INFO_HEALTH_DEGRADED, "the driver reports of port %s: %s", h->port, h->state);
    else if ('\0' != h->info.lost[0])
        found(h, INFO_HEALTH_DEGRADED, "the link of port %s is lost", h->info.lost);
    else if (0 != resent)
        found(h, INFO_HEALTH_DEGRADED, "an arrival or a release was lost");
    else if (0 != grown)
        found(h, INFO_HEALTH_DEGRADED,
              "losses and errors grow: by %" PRIu64 " in %u ms; see the counters", grown,
              SAMPLE_NS / 1000000u);
}

static void health_of(const char *path, struct health *h)
{
    gba_status_t status;
    gba_device_t *device;

    memset(h, 0, sizeof *h);
    attribute_read(path, "state", h->state, sizeof h->state);
    attribute_read(path, "port", h->port, sizeof h->port);
    device = info_device_open(path, &status, h->cause, sizeof h->cause);
    if (device != NULL) {
        judge(device, h);
        gba_device_fini(device);
    } else if (GBA_ERR_NO_DEVICE == status) {
        h->health = INFO_HEALTH_ABSENT;
    } else {
        h->health = GBA_ERR_BUSY == status ? INFO_HEALTH_BUSY : INFO_HEALTH_BROKEN;
    }
}

static enum info_health device_show(const char *path)
{
    struct health h;

    health_of(path, &h);
    if (!report_is_json()) {
        gba_printable(h.cause);
        printf("%s: %s: %s\n", path, names[h.health], h.cause);
        return h.health;
    }
    report_begin(NULL, '{');
    report_text("device", "%s", path);
    report_text("health", "%s", names[h.health]);
    report_text("cause", "%s", h.cause);
    if (0 != h.info.groups) {
        report_number("groups", h.info.groups);
        report_number("groups free", h.info.groups_free);
    }
    report_end();
    return h.health;
}

int info_health(char *const *devices, int count)
{
    enum info_health worst = INFO_HEALTH_OK, health;
    gba_device_choices_t choices = {.count = 0};

    if (0 == count)
        info_devices_default(&choices);
    report_begin(NULL, '{');
    report_begin("devices", '[');
    for (int i = 0; i < count + (int)choices.count; i++) {
        health = device_show(i < count ? devices[i] : choices.list[i - count].path);
        worst = health > worst ? health : worst;
    }
    report_end();
    if (report_is_json()) {
        report_text("health", "%s", names[worst]);
        report_number("status", (uint64_t)worst);
    }
    report_end();
    return (int)worst;
}

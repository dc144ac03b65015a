/* SPDX-License-Identifier: BSD-3-Clause */
/* One device: what it is and what it has counted; and a test with one member. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "gba/gpu.h"
#include "gba/spec/gba_regs.h"
#include "gba/tools/info.h"

_Static_assert(GBA_COUNTERS == GBA_COUNTERS_SIZE, "device.h and gba_regs.h count alike");

static const char *const counter_names[GBA_COUNTERS] = {
    [GBA_COUNTER_ARRIVALS] = "arrivals",
    [GBA_COUNTER_RELEASES] = "releases",
    [GBA_COUNTER_ROUNDS] = "rounds",
    [GBA_COUNTER_REPEATS] = "repeated arrivals",
    [GBA_COUNTER_LATE] = "late arrivals",
    [GBA_COUNTER_ERR_ACCESS] = "access errors",
    [GBA_COUNTER_ERR_SEQUENCE] = "sequence errors",
    [GBA_COUNTER_ERR_MEMBER] = "member errors",
    [GBA_COUNTER_ERR_DISABLED] = "disabled errors",
    [GBA_COUNTER_ERR_CONFIG] = "configuration errors",
};

/* ------------------------------------------------------------------------------------ open --- */

/* The library's last line about a device that it refuses. */
static char detail[512];

static void detail_keep(void *ctx, gba_log_level_t level, const char *line)
{
    (void)ctx;
    (void)level;
    snprintf(detail, sizeof detail, "%s", line);
}

gba_device_t *info_device_open(const char *path, gba_status_t *status, char *cause, size_t len)
{
    gba_device_t *device;
    char advice[160];

    detail[0] = '\0';
    if (cause != NULL)
        gba_log_set(detail_keep, NULL, GBA_LOG_WARN);
    *status = gba_device_init(path, NULL, &device);
    gba_log_set(NULL, NULL, GBA_LOG_WARN);
    if (GBA_OK == *status)
        return device;
    gba_device_advice(path, *status, advice, sizeof advice);
    /* The library logs every cause but a missing device. */
    if (cause != NULL) {
        if (GBA_ERR_NO_DEVICE == *status)
            snprintf(detail, sizeof detail, "there is no device at %.64s", path);
        snprintf(cause, len, "%.360s%s%s", '\0' == detail[0] ? gba_status_text(*status) : detail,
                 '\0' == advice[0] ? "" : ". ", advice);
        return NULL;
    }
    if (GBA_ERR_NO_DEVICE == *status)
        fprintf(stderr, "gba_info: there is no device at %s\n", path);
    if ('\0' != advice[0])
        fprintf(stderr, "gba_info: %s\n", advice);
    return NULL;
}

/* Open the device of a mode that needs one. Returns NULL if that failed (reported). */
static gba_device_t *device_open(const char *path)
{
    char cause[640];
    gba_status_t status;
    gba_device_t *device =
        info_device_open(path, &status, report_is_json() ? cause : NULL, sizeof cause);

    if (device == NULL && report_is_json())
        (void)report_error(INFO_EXIT_NO_DEVICE, "%s", cause);
    return device;
}

/* ------------------------------------------------------------------------------------ show --- */

/* A new device has counted nothing, so it is not the device of the job that the user looks for. */
static void show_created(const char *path)
{
    if (0 == strcmp(path, "sim") || 0 == strncmp(path, "sim?", 4))
        report_text("note",
                    "new device: each job has its own \"sim\"; start the job with sim:NAME and "
                    "give that name here, or see gba_info --list");
    else
        report_text("note", "new device: no other process has a live %.*s open",
                    (int)strcspn(path, "?"), path);
}

static void show_counters(const gba_device_info_t *info)
{
    for (unsigned int i = 0; i < GBA_COUNTERS; i++)
        report_number(counter_names[i], info->counters[i]);
    report_number("accesses to no group", info->bad_access);
}

static void show_device(const gba_device_info_t *info)
{
    const gba_path_t kind = 0 == strncmp(info->path, "/dev/", 5) ? GBA_PATH_DEVICE : GBA_PATH_SIM;
    char text[256], unit[2 * GBA_UUID_SIZE + 1];

    if (report_is_json()) {
        report_text("device", "%s", info->path);
        report_text("backend", "%s", info->backend);
    } else {
        report_text("device", "%s (%s)", info->path, info->backend);
    }
    if (info->created)
        show_created(info->path);
    for (int i = 0; i < GBA_UUID_SIZE; i++)
        snprintf(unit + 2 * i, 3, "%02x", info->uuid[i]);
    report_text("unit", "%s", unit);
    report_text("register version", "%" PRIu32 ".%" PRIu32, info->regs_version >> 16,
                info->regs_version & 0xFFFFu);
    if (report_is_json()) {
        report_text("state", "%s", info->dead ? "dead" : "up");
        report_number("groups", info->groups);
        report_number("groups free", info->groups_free);
    } else {
        report_text("state", "%s", info->dead ? "dead: the device does not answer" : "up");
        report_text("groups free", "%" PRIu32 " of %" PRIu32, info->groups_free, info->groups);
    }
    report_number("members of a group", info->members_max);
    (void)gba_gpu_describe(kind, text, sizeof text);
    report_text("GPUs", "%s", text);
}

int info_show(const char *path)
{
    gba_device_t *device = device_open(path);
    gba_device_info_t info;
    gba_status_t status;

    if (device == NULL)
        return INFO_EXIT_NO_DEVICE;
    status = gba_device_query(device, &info);
    gba_device_fini(device);
    if (GBA_OK != status)
        return report_error(INFO_EXIT_NO_DEVICE, "%s: %s", path, gba_status_text(status));
    report_begin(NULL, '{');
    show_device(&info);
    report_begin("counters", '{');
    show_counters(&info);
    report_end();
    report_end();
    return INFO_EXIT_OK;
}

/* ------------------------------------------------------------------------------------ test --- */

#define TEST_ROUNDS  3u
#define TEST_SECONDS 5.0 /* more than the longest delay of a simulated device */
#define TEST_RESEND  2.5 /* that delay */

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Arrive, and wait for the release. A release that takes long is not measured, so the wait sleeps.
 */
static gba_status_t test_round(gba_local_state_t *state, unsigned *resent)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    const double begin = seconds();
    bool again = resent != NULL;

    gba_send_arrival(state);
    while (GBA_OK != gba_poll_release(state)) {
        if (seconds() - begin > TEST_SECONDS)
            return GBA_ERR_TIMEOUT;
        if (again && seconds() - begin > TEST_RESEND) {
            again = false;
            ++*resent;
            gba_resend_arrival(state);
        }
        nanosleep(&pause, NULL);
    }
    return GBA_OK;
}

gba_status_t info_test_group(gba_device_t *device, gba_group_handle_t *handle, unsigned *resent,
                             const char **step)
{
    gba_local_state_t *state = NULL;
    gba_group_t *group = NULL;
    gba_status_t status;

    *step = "allocate a group";
    status = gba_allocate_group(device, 1, handle);
    if (GBA_OK != status)
        return status;
    *step = "join the group";
    status = gba_join_group(device, handle, 0, &group);
    if (GBA_OK != status) {
        gba_free_handle(device, handle);
        return status;
    }
    *step = "map the release flag";
    status = gba_dma_map(group);
    if (GBA_OK == status)
        status = gba_local_state_init(group, 0, &state);
    if (GBA_OK == status) {
        *step = "arm the group";
        status = gba_configure_group(group, 0);
    }
    if (GBA_OK == status)
        *step = "arrive and be released";
    for (unsigned int i = 0; GBA_OK == status && i < TEST_ROUNDS; i++)
        status = test_round(state, resent);
    gba_local_state_fini(state);
    gba_free_group(group);
    return status;
}

bool info_is_busy(gba_status_t status)
{
    return GBA_ERR_NO_GROUP == status || GBA_ERR_QUOTA == status || GBA_ERR_LIMIT == status;
}

int info_test(const char *path)
{
    gba_device_t *device = device_open(path);
    gba_group_handle_t handle;
    gba_device_info_t info;
    const char *step = "read the registers";
    gba_status_t status;
    int code = INFO_EXIT_OK;

    if (device == NULL)
        return INFO_EXIT_NO_DEVICE;
    status = gba_device_query(device, &info);
    report_begin(NULL, '{');
    if (GBA_OK == status) {
        show_device(&info);
        status = info_test_group(device, &handle, NULL, &step);
    }
    if (GBA_OK == status) {
        report_text("test", "passed");
        report_number("group", handle.group);
        report_number("rounds", TEST_ROUNDS);
    } else if (info_is_busy(status)) {
        report_text("test", "not made");
        code = report_error(INFO_EXIT_BUSY, "%s: the device is in use, so it was not tested: %s",
                            path, gba_status_text(status));
    } else {
        report_text("test", "failed");
        code = report_error(INFO_EXIT_FAILED, "%s: cannot %s: %s", path, step,
                            gba_status_text(status));
    }
    report_end();
    gba_device_fini(device);
    return code;
}

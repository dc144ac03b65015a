/* SPDX-License-Identifier: BSD-3-Clause */
/* gba_info: show what a device is, how many groups are free, and what it has counted. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gba/gba.h"
#include "gba/spec/gba_regs.h"

/* Exit statuses: a script can tell "no device here" from "wrong usage". */
enum { EXIT_SHOWN = 0, EXIT_NO_DEVICE = 1, EXIT_USAGE = 2 };

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

/* A new device has counted nothing, so it is not the device of the job that the user looks for. */
static void show_created(const char *path)
{
    if (0 == strcmp(path, "sim") || 0 == strncmp(path, "sim?", 4))
        printf("%-22s %s\n", "note",
               "new device: each job has its own \"sim\"; start the job with sim:NAME and give "
               "that name here");
    else
        printf("%-22s new device: no other process has %.*s open\n", "note",
               (int)strcspn(path, "?"), path);
}

static void show(const gba_device_info_t *info)
{
    printf("%-22s %s (%s)\n", "device", info->path, info->backend);
    if (info->created)
        show_created(info->path);
    printf("%-22s ", "unit");
    for (int i = 0; i < GBA_UUID_SIZE; i++)
        printf("%02x", info->uuid[i]);
    printf("\n%-22s %" PRIu32 ".%" PRIu32 "\n", "register version", info->regs_version >> 16,
           info->regs_version & 0xFFFFu);
    printf("%-22s %s\n", "state", info->dead ? "dead: the device does not answer" : "up");
    printf("%-22s %" PRIu32 " of %" PRIu32 "\n", "groups free", info->groups_free, info->groups);
    printf("%-22s %" PRIu32 "\n", "members of a group", info->members_max);
    for (unsigned int i = 0; i < GBA_COUNTERS; i++)
        printf("%-22s %" PRIu64 "\n", counter_names[i], info->counters[i]);
    printf("%-22s %" PRIu64 "\n", "accesses to no group", info->bad_access);
    if (0 == strcmp(info->backend, "sim")) /* a driver does not report them */
        printf("%-22s %" PRIu64 "\n", "groups taken back", info->reclaimed);
}

static int show_device(const char *path)
{
    gba_device_info_t info;
    gba_device_t *device;
    char advice[160];
    gba_status_t status = gba_device_init(path, NULL, &device);

    if (GBA_OK != status) {
        /* The library has reported every other failure. */
        if (GBA_ERR_NO_DEVICE == status)
            fprintf(stderr, "gba_info: there is no device at %s\n", path);
        gba_device_advice(path, status, advice, sizeof advice);
        if ('\0' != advice[0])
            fprintf(stderr, "gba_info: %s\n", advice);
        return EXIT_NO_DEVICE;
    }
    status = gba_device_query(device, &info);
    gba_device_fini(device);
    if (GBA_OK != status) {
        fprintf(stderr, "gba_info: %s: %s\n", path, gba_status_text(status));
        return EXIT_NO_DEVICE;
    }
    show(&info);
    return EXIT_SHOWN;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "/dev/gba0";
    const char prefix[] = "device_path="; /* of a message: the parameter of the plugins */
    char message[288];

    if (0 == strcmp(path, "--version")) {
        printf("gba_info %s\n", gba_version());
        return EXIT_SHOWN;
    }
    if (argc > 2 || '-' == path[0]) {
        fprintf(0 == strcmp(path, "--help") ? stdout : stderr,
                "usage: gba_info [DEVICE]    (default /dev/gba0; or sim:NAME)\n"
                "       gba_info --version\n");
        return 0 == strcmp(path, "--help") ? EXIT_SHOWN : EXIT_USAGE;
    }
    if (GBA_OK != gba_device_path_check(path, message, sizeof message)) {
        fprintf(stderr, "gba_info: %s%s\n", '\0' == path[0] ? "\"\"" : "",
                message + (0 == strncmp(message, prefix, strlen(prefix)) ? strlen(prefix) : 0));
        return EXIT_USAGE;
    }
    if (0 == strcmp(path, "none")) {
        fprintf(stderr,
                "gba_info: \"none\" selects no device; give a device: /dev/gbaN or sim:NAME\n");
        return EXIT_USAGE;
    }
    return show_device(path);
}

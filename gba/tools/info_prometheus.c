/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The metrics of devices in the text format of Prometheus, for the textfile collector of its node
 * exporter. The names are stable; gba-admin(7) has a table of them. Of a gba-switchd this process
 * takes a port for a moment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gba/spec/gba_regs.h"
#include "gba/tools/info.h"

/* The groups of one user and one job. */
struct owner {
    gba_group_owner_t who;
    uint32_t groups;
};

/* One device. */
struct metrics {
    const char *device;               /* its path */
    char unit[2 * GBA_UUID_SIZE + 1]; /* in hexadecimal digits; "": not known */
    bool up;
    gba_device_info_t info; /* groups is 0: not known, and no other field is */
    uint64_t ports;         /* of a gba-switchd; else 0, and not printed */
    uint32_t owners;
    struct owner owner[GBA_GROUPS]; /* [owners] */
};

/* The values that are no counters of groups, behind these. */
enum other { GROUPS = GBA_COUNTERS, USED, PORTS, BAD_ACCESSES };

/* A metric with one value for each device and, with a label, for each of several rows. */
static const struct {
    const char *name, *type, *help;
    const char *kind; /* the label "kind" of this row; rows of one name follow each other */
    unsigned value;   /* GBA_COUNTER_*, or enum other */
} rows[] = {
#define COUNTER(name) GBA_COUNTER_##name
    {"gba_groups", "gauge", "Barrier groups of the device.", NULL, GROUPS},
    {"gba_groups_used", "gauge", "Barrier groups that are allocated.", NULL, USED},
    {"gba_ports", "gauge", "Ports of the switch.", NULL, PORTS},
    {"gba_arrivals_total", "counter", "Arrivals that counted.", NULL, COUNTER(ARRIVALS)},
    {"gba_releases_total", "counter", "Release stores.", NULL, COUNTER(RELEASES)},
    {"gba_rounds_total", "counter", "Barriers that completed.", NULL, COUNTER(ROUNDS)},
    {"gba_repeated_arrivals_total", "counter", "Arrivals that were sent again.", NULL,
     COUNTER(REPEATS)},
    {"gba_late_arrivals_total", "counter",
     "Arrivals at a completed barrier, whose release is stored again.", NULL, COUNTER(LATE)},
    {"gba_errors_total", "counter", "Accesses that a group refused.", "access",
     COUNTER(ERR_ACCESS)},
    {"gba_errors_total", "counter", NULL, "sequence", COUNTER(ERR_SEQUENCE)},
    {"gba_errors_total", "counter", NULL, "member", COUNTER(ERR_MEMBER)},
    {"gba_errors_total", "counter", NULL, "disabled", COUNTER(ERR_DISABLED)},
    {"gba_errors_total", "counter", NULL, "configuration", COUNTER(ERR_CONFIG)},
    {"gba_bad_accesses_total", "counter", "Refused accesses that belong to no group.", NULL,
     BAD_ACCESSES},
};

static uint64_t value_of(const struct metrics *m, unsigned value)
{
    switch (value) {
    case GROUPS:
        return m->info.groups;
    case USED:
        return m->info.groups - m->info.groups_free;
    case PORTS:
        return m->ports;
    case BAD_ACCESSES:
        return m->info.bad_access;
    default:
        return m->info.counters[value];
    }
}

static void owner_count(struct metrics *m, const gba_group_owner_t *who)
{
    uint32_t i = 0;

    while (i < m->owners && (who->user != m->owner[i].who.user || who->job != m->owner[i].who.job))
        i++;
    if (i == m->owners)
        m->owner[m->owners++] = (struct owner){.who = *who};
    m->owner[i].groups++;
}

static void read_device(const char *path, struct metrics *m)
{
    gba_group_owner_t owners[GBA_GROUPS];
    gba_status_t status;
    uint32_t count = 0;
    char cause[640];
    gba_device_t *device = info_device_open(path, &status, cause, sizeof cause);

    *m = (struct metrics){.device = path};
    /* A gba-switchd whose ports are all in use. */
    m->up = device == NULL && GBA_ERR_BUSY == status && 0 == strncmp(path, "switch:", 7);
    if (device == NULL)
        return;
    if (GBA_OK == gba_device_query(device, &m->info)) {
        for (int i = 0; i < GBA_UUID_SIZE; i++)
            snprintf(m->unit + 2 * i, 3, "%02x", m->info.uuid[i]);
        m->up = !m->info.dead;
    }
    if (!m->up) {
        m->info.groups = 0;
    } else {
        if (0 == strcmp(m->info.backend, "switch"))
            (void)gba_reg_read(device, GBA_DEVICE_BASE + GBA_DEV_PORTS, 4, &m->ports);
        if (GBA_OK == gba_device_owners(device, owners, GBA_GROUPS, &count))
            for (uint32_t i = 0; i < count; i++)
                owner_count(m, &owners[i]);
    }
    gba_device_fini(device);
}

static void print_begin(const char *name, const char *type, const char *help)
{
    printf("# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void print_label(const char *name, const char *text)
{
    printf(",%s=\"", name);
    for (; '\0' != *text; text++) {
        if ('"' == *text || '\\' == *text)
            putchar('\\');
        putchar('\n' == *text ? ' ' : *text);
    }
    putchar('"');
}

/* The name, and the labels of the device up to where more can follow. */
static void print_device(const char *name, const struct metrics *m)
{
    printf("%s{unit=\"%s\"", name, m->unit);
    print_label("device", m->device);
}

static void print_row(size_t row, const struct metrics *list, unsigned count)
{
    bool begun = rows[row].help == NULL;

    for (unsigned i = 0; i < count; i++) {
        if (0 == list[i].info.groups || (PORTS == rows[row].value && 0 == list[i].ports))
            continue;
        if (!begun)
            print_begin(rows[row].name, rows[row].type, rows[row].help);
        begun = true;
        print_device(rows[row].name, &list[i]);
        if (rows[row].kind != NULL)
            print_label("kind", rows[row].kind);
        printf("} %" PRIu64 "\n", value_of(&list[i], rows[row].value));
    }
}

static void print_owners(const struct metrics *m)
{
    for (uint32_t i = 0; i < m->owners; i++) {
        const gba_group_owner_t *who = &m->owner[i].who;

        print_device("gba_groups_held", m);
        fputs(",user=\"", stdout);
        if (UINT32_MAX != who->user)
            printf("%" PRIu32, who->user);
        fputs("\",job=\"", stdout);
        if (0 != who->job)
            printf("%016" PRIx64, who->job);
        putchar('"');
        print_label("batch_job", who->batch_job);
        printf("} %" PRIu32 "\n", m->owner[i].groups);
    }
}

static void print_all(const struct metrics *list, unsigned count)
{
    print_begin("gba_up", "gauge", "1: the device answers.");
    for (unsigned i = 0; i < count; i++) {
        print_device("gba_up", &list[i]);
        printf("} %d\n", list[i].up);
    }
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++)
        print_row(row, list, count);
    print_begin("gba_groups_held", "gauge", "Barrier groups of a user and a job.");
    for (unsigned i = 0; i < count; i++)
        print_owners(&list[i]);
}

/* Whether the path is in the list. Prometheus refuses all metrics if one is there twice. */
static bool is_listed(const char *path, const struct metrics *list, unsigned count)
{
    while (count > 0 && 0 != strcmp(path, list[count - 1].device))
        count--;
    return count > 0;
}

int info_prometheus(char *const *devices, int count)
{
    gba_device_choices_t choices = {.count = 0};
    struct metrics *list;
    unsigned all, read = 0;

    if (0 == count)
        info_devices_default(&choices);
    all = (unsigned)count + choices.count;
    list = calloc(all, sizeof *list);
    if (list == NULL)
        return report_error(INFO_EXIT_NO_DEVICE, "%s", gba_status_text(GBA_ERR_NOMEM));
    for (unsigned i = 0; i < all; i++) {
        const char *path =
            i < (unsigned)count ? devices[i] : choices.list[i - (unsigned)count].path;

        if (!is_listed(path, list, read))
            read_device(path, &list[read++]);
    }
    print_all(list, read);
    free(list);
    return INFO_EXIT_OK;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/base/metrics.h"

#include <inttypes.h>
#include <stddef.h>

/* A metric with one value for each device and, with a label, for each of several rows. */
static const struct {
    const char *name, *type, *help;
    const char *kind; /* the label "kind" of this row; rows of one name follow each other */
    size_t offset;
    bool wide; /* 64 bits */
} metrics[] = {
#define WORD(field) .offset = offsetof(struct gba_metrics, field)
#define COUNTER(name) \
    .offset = offsetof(struct gba_metrics, counters[GBA_COUNTER_##name]), .wide = true
    {"gba_groups", "gauge", "Barrier groups of the device.", NULL, WORD(groups)},
    {"gba_groups_used", "gauge", "Barrier groups that are allocated.", NULL, WORD(groups_used)},
    {"gba_ports", "gauge", "Ports of the switch.", NULL, WORD(ports)},
    {"gba_ports_up", "gauge", "Ports of the switch that are up.", NULL, WORD(ports_up)},
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
     .offset = offsetof(struct gba_metrics, bad_accesses), .wide = true},
};

void gba_metrics_own(struct gba_metrics *m, uint32_t user, uint64_t job, const char *batch_job)
{
    uint32_t i = 0;

    while (i < m->owners && (user != m->owner[i].user || job != m->owner[i].job))
        i++;
    if (i == m->owners && i < GBA_GROUPS) {
        m->owner[i] = (struct gba_metrics_owner){.user = user, .job = job};
        snprintf(m->owner[i].batch_job, sizeof m->owner[i].batch_job, "%s", batch_job);
        m->owners++;
    }
    if (i < GBA_GROUPS)
        m->owner[i].groups++;
}

static void print_begin(FILE *out, const char *name, const char *type, const char *help)
{
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void print_label(FILE *out, const char *name, const char *text)
{
    fprintf(out, ",%s=\"", name);
    for (; '\0' != *text; text++) {
        if ('"' == *text || '\\' == *text)
            fputc('\\', out);
        fputc('\n' == *text ? ' ' : *text, out);
    }
    fputc('"', out);
}

/* The name, and the labels of the device up to where more can follow. */
static void print_device(FILE *out, const char *name, const struct gba_metrics *m)
{
    fprintf(out, "%s{unit=\"%s\"", name, m->unit);
    if (m->device != NULL)
        print_label(out, "device", m->device);
}

static void print_value(FILE *out, size_t row, const struct gba_metrics *m)
{
    const char *field = (const char *)m + metrics[row].offset;

    print_device(out, metrics[row].name, m);
    if (metrics[row].kind != NULL)
        fprintf(out, ",kind=\"%s\"", metrics[row].kind);
    fprintf(out, "} %" PRIu64 "\n",
            metrics[row].wide ? *(const uint64_t *)(const void *)field
                              : *(const uint32_t *)(const void *)field);
}

static bool is_of_switch(size_t row)
{
    return offsetof(struct gba_metrics, ports) == metrics[row].offset ||
           offsetof(struct gba_metrics, ports_up) == metrics[row].offset;
}

static void print_owners(FILE *out, const struct gba_metrics *m)
{
    for (uint32_t i = 0; i < m->owners; i++) {
        print_device(out, "gba_groups_held", m);
        fputs(",user=\"", out);
        if (UINT32_MAX != m->owner[i].user)
            fprintf(out, "%" PRIu32, m->owner[i].user);
        fputs("\",job=\"", out);
        if (0 != m->owner[i].job)
            fprintf(out, "%016" PRIx64, m->owner[i].job);
        fputc('"', out);
        print_label(out, "batch_job", m->owner[i].batch_job);
        fprintf(out, "} %" PRIu32 "\n", m->owner[i].groups);
    }
}

void gba_metrics_print(FILE *out, const struct gba_metrics *list, unsigned count)
{
    print_begin(out, "gba_up", "gauge", "1: the device answers.");
    for (unsigned i = 0; i < count; i++) {
        print_device(out, "gba_up", &list[i]);
        fprintf(out, "} %d\n", list[i].up);
    }
    for (size_t row = 0; row < sizeof metrics / sizeof metrics[0]; row++) {
        bool begun = metrics[row].help == NULL;

        for (unsigned i = 0; i < count; i++) {
            if (!list[i].up || (is_of_switch(row) && 0 == list[i].ports))
                continue;
            if (!begun)
                print_begin(out, metrics[row].name, metrics[row].type, metrics[row].help);
            begun = true;
            print_value(out, row, &list[i]);
        }
    }
    print_begin(out, "gba_groups_held", "gauge", "Barrier groups of a user and a job.");
    for (unsigned i = 0; i < count; i++)
        print_owners(out, &list[i]);
}

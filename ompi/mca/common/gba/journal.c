/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A record of the job in the systemd journal, in its native protocol: one datagram with a line
 * NAME=VALUE for each field. So which jobs miss the device, and why, is one query of a site.
 * Nothing is reported if the journal does not take it.
 */
#define _GNU_SOURCE /* SOCK_CLOEXEC */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "gba/base/batch_job.h"
#include "ompi/mca/common/gba/module.h"

struct record {
    char text[2048];
    size_t used;
};

/* A value has no line feed, because that would begin another field. */
__attribute__((format(printf, 3, 4))) static void add(struct record *record, const char *name,
                                                      const char *format, ...)
{
    char value[640];
    va_list args;
    int length;

    va_start(args, format);
    vsnprintf(value, sizeof value, format, args);
    va_end(args);
    for (char *c = value; '\0' != *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    length = snprintf(record->text + record->used, sizeof record->text - record->used, "%s=%s\n",
                      name, value);
    if (record->used + (size_t)length < sizeof record->text) /* else leave out the field */
        record->used += (size_t)length;
}

/* The path of the most barriers. */
static gba_path_t main_path(const struct gba_common_counts *sum)
{
    int path = GBA_PATH_FALLBACK;

    for (int i = 0; i < GBA_COMMON_PATHS; i++)
        if (sum->barriers[i] > sum->barriers[path])
            path = i;
    return (gba_path_t)path;
}

static void record_send(const struct record *record)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int file;

    snprintf(address.sun_path, sizeof address.sun_path, "%s", gba_common.journal_path);
    file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (file < 0)
        return;
    (void)!sendto(file, record->text, record->used, MSG_NOSIGNAL, (const struct sockaddr *)&address,
                  sizeof address);
    close(file);
}

void gba_common_journal(const struct gba_common_counts *sum)
{
    const char *path = gba_path_name(main_path(sum));
    struct record record = {.used = 0};
    unsigned long long all = 0;
    char job[256], batch[GBA_BATCH_JOB];

    gba_compat_job_name(job, sizeof job);
    gba_batch_job(0, batch);
    for (int i = 0; i < GBA_COMMON_PATHS; i++)
        all += sum->barriers[i];
    add(&record, "MESSAGE", "%s: job %s%s%s: %llu barriers, most on path %s; failovers %llu%s%s",
        gba_common_framework.label, job, '\0' == batch[0] ? "" : ", ", batch, all, path,
        sum->failovers, '\0' == gba_common.why[0] ? "" : "; ", gba_common.why);
    add(&record, "PRIORITY", "6");
    add(&record, "SYSLOG_IDENTIFIER", "gba");
    add(&record, "GBA_COMPONENT", "%s", gba_common_framework.label);
    add(&record, "GBA_JOB", "%s", job);
    add(&record, "GBA_BATCH_JOB", "%s", batch);
    add(&record, "GBA_PATH", "%s", path);
    add(&record, "GBA_BARRIERS", "%llu", all);
    add(&record, "GBA_BARRIERS_DEVICE", "%llu",
        sum->barriers[GBA_PATH_DEVICE] + sum->barriers[GBA_PATH_SWITCH] +
            sum->barriers[GBA_PATH_SIM]);
    add(&record, "GBA_FAILOVERS", "%llu", sum->failovers);
    add(&record, "GBA_REASON", "%s", gba_common.why);
    record_send(&record);
}

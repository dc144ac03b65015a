/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trace of the switch: JSON, an array of the events of Google's Trace Event Format. A port is a
 * process of that format and a member a thread of it; the groups are the threads of one process.
 */
#include "sim/switch/diag/trace.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gba/base/json.h"

#define BUFFER_BYTES (1u << 20)
#define GROUPS_PID   (1u + GBA_PORTS_MAX) /* that of port 0 is 1, and so on */

struct gba_switch_trace {
    FILE *file;
    bool failed, begun;
    bool open[GBA_GROUPS];                         /* the slice of the round is open */
    bool named[GBA_GROUPS];                        /* the group has a track */
    uint16_t port_of[GBA_GROUPS][GBA_MEMBERS_MAX]; /* 1 + the port that has its track */
    bool waiting[GBA_GROUPS][GBA_MEMBERS_MAX];     /* the slice of the member is open */
};

struct track {
    uint32_t pid, tid; /* tid 0: the process itself */
};

static struct track port_track(uint32_t port)
{
    return (struct track){1 + port, 0};
}

/* text: a name that a client may have sent. */
static void write_name(struct gba_switch_trace *trace, struct track track, const char *text)
{
    FILE *file = trace->file;

    fprintf(file,
            "%s{\"ph\":\"M\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
            ",\"name\":\"%s_name\",\"args\":{\"name\":",
            trace->begun ? ",\n" : "[\n", track.pid, track.tid,
            track.tid == 0 ? "process" : "thread");
    gba_json_text(file, text);
    trace->failed |= fputs("}}", file) < 0;
    trace->begun = true;
}

/* phase: 'B' begins a slice, 'E' ends it, 'i' is an instant. name: NULL for 'E'. note: name of the
 * number `value`, or NULL. */
static void write_event(struct gba_switch_trace *trace, uint64_t time, char phase,
                        struct track track, const char *name, const char *note, uint64_t value)
{
    FILE *file = trace->file;

    fprintf(file, "%s{\"ph\":\"%c\",\"ts\":%" PRIu64 ".%03u,\"pid\":%" PRIu32 ",\"tid\":%" PRIu32,
            trace->begun ? ",\n" : "[\n", phase, time / 1000, (unsigned)(time % 1000), track.pid,
            track.tid);
    if (phase == 'i')
        fprintf(file, ",\"s\":\"%c\"", track.tid == 0 ? 'p' : 't');
    if (name != NULL)
        fprintf(file, ",\"name\":\"%s\"", name);
    if (note != NULL)
        fprintf(file, ",\"args\":{\"%s\":%" PRIu64 "}", note, value);
    trace->failed |= putc('}', file) == EOF;
    trace->begun = true;
}

/* The track of a member, below its port. */
static struct track get_member_track(struct gba_switch_trace *trace, uint32_t port, uint32_t group,
                                     uint32_t member)
{
    struct track track = {1 + port, 1 + group * GBA_MEMBERS_MAX + member};
    char name[64];

    if (trace->port_of[group][member] == 1 + port)
        return track;
    trace->port_of[group][member] = (uint16_t)(1 + port);
    trace->waiting[group][member] = false;
    snprintf(name, sizeof(name), "group %" PRIu32 " member %" PRIu32, group, member);
    write_name(trace, track, name);
    return track;
}

static struct track get_group_track(struct gba_switch_trace *trace, uint32_t group)
{
    struct track track = {GROUPS_PID, 1 + group};
    char name[32];

    if (!trace->named[group]) {
        snprintf(name, sizeof(name), "group %" PRIu32, group);
        write_name(trace, track, name);
        trace->named[group] = true;
    }
    return track;
}

/* --- Callbacks of the core --- */

static void on_link(void *context, uint64_t time, uint32_t port,
                    const struct gba_switch_identity *user, bool up)
{
    struct gba_switch_trace *trace = context;
    char name[128];

    if (up) {
        snprintf(name, sizeof(name), "port %" PRIu32 ": process %" PRIu32 "%s%s", port,
                 user->process, user->host[0] == '\0' ? "" : " ", user->host);
        write_name(trace, port_track(port), name);
    }
    write_event(trace, time, 'i', port_track(port), up ? "link up" : "link down", NULL, 0);
}

static void on_arrival(void *context, uint64_t time, const struct gba_switch_arrival *arrival)
{
    struct gba_switch_trace *trace = context;
    uint32_t group = arrival->group, member = arrival->member;
    char name[32];
    struct track track;

    if (member >= GBA_MEMBERS_MAX)
        return;
    if (!arrival->counted) {
        write_event(trace, time, 'i', port_track(arrival->port),
                    arrival->error != GBA_ERROR_NONE ? "refused arrival" : "repeated arrival",
                    "sequence", arrival->sequence);
        return;
    }
    track = get_member_track(trace, arrival->port, group, member);
    snprintf(name, sizeof(name), "round %" PRIu32, arrival->sequence);
    if (trace->waiting[group][member]) /* its release was lost */
        write_event(trace, time, 'E', track, NULL, NULL, 0);
    write_event(trace, time, 'B', track, name, NULL, 0);
    trace->waiting[group][member] = true;
    track = get_group_track(trace, group);
    if (arrival->first && trace->open[group]) /* a round that was abandoned */
        write_event(trace, time, 'E', track, NULL, NULL, 0);
    if (arrival->first)
        write_event(trace, time, 'B', track, name, NULL, 0);
    if (arrival->last)
        write_event(trace, time, 'E', track, NULL, "last member", member);
    trace->open[group] = !arrival->last;
}

static void on_release(void *context, uint64_t time, uint32_t port, uint32_t group, uint32_t member,
                       uint32_t sequence)
{
    struct gba_switch_trace *trace = context;
    struct track track = get_member_track(trace, port, group, member);

    if (trace->waiting[group][member])
        write_event(trace, time, 'E', track, NULL, NULL, 0);
    else
        write_event(trace, time, 'i', track, "repeated release", "sequence", sequence);
    trace->waiting[group][member] = false;
}

const struct gba_switch_observer gba_switch_trace_observer = {
    .link = on_link, .arrival = on_arrival, .release = on_release};

/* --- The file --- */

struct gba_switch_trace *gba_switch_trace_open(const char *path)
{
    struct gba_switch_trace *trace = calloc(1, sizeof(*trace));
    int fd;

    if (trace == NULL)
        return NULL;
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0600);
    trace->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (trace->file != NULL) {
        setvbuf(trace->file, NULL, _IOFBF, BUFFER_BYTES);
        return trace;
    }
    if (fd >= 0)
        close(fd);
    free(trace);
    return NULL;
}

bool gba_switch_trace_close(struct gba_switch_trace *trace)
{
    bool good;

    if (trace == NULL)
        return true;
    fputs(trace->begun ? "\n]\n" : "[]\n", trace->file);
    good = fclose(trace->file) == 0 && !trace->failed;
    free(trace);
    return good;
}

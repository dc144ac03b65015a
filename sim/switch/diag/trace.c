/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trace of the switch for Perfetto, with an encoder for the few messages of the format that it
 * needs. A file is a sequence of TracePackets. Numbers below are field numbers of Perfetto's
 * protos.
 */
#include "sim/switch/diag/trace.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Wire types of protobuf. */
enum { VARINT = 0, BYTES = 2 };

/* Trace.packet; TracePacket: */
enum { PACKET = 1, TIMESTAMP = 8, SEQUENCE_ID = 10, TRACK_EVENT = 11, TRACK_DESCRIPTOR = 60 };
/* TrackDescriptor */
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PARENT = 5 };
/* TrackEvent */
enum { EVENT_ANNOTATION = 4, EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_NAME = 23 };
/* DebugAnnotation */
enum { ANNOTATION_UINT = 3, ANNOTATION_NAME = 10 };
/* Values of EVENT_TYPE */
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3 };

#define BUFFER_BYTES (1u << 20)
#define MESSAGE_MAX  256u

struct gba_switch_trace {
    FILE *file;
    bool failed;
    bool open[GBA_GROUPS];                         /* the slice of the round is open */
    bool named[GBA_GROUPS];                        /* the group has a track */
    uint16_t port_of[GBA_GROUPS][GBA_MEMBERS_MAX]; /* 1 + the port that has its track */
    bool waiting[GBA_GROUPS][GBA_MEMBERS_MAX];     /* the slice of the member is open */
};

/* A message that is being encoded. */
struct message {
    uint32_t used;
    uint8_t bytes[MESSAGE_MAX];
};

static void put_varint(struct message *message, uint64_t value)
{
    do {
        message->bytes[message->used++] = (uint8_t)(value | (value > 127 ? 128 : 0));
        value >>= 7;
    } while (value != 0);
}

static void put_number(struct message *message, uint32_t field, uint64_t value)
{
    put_varint(message, field << 3 | VARINT);
    put_varint(message, value);
}

static void put_bytes(struct message *message, uint32_t field, const void *bytes, uint32_t count)
{
    put_varint(message, field << 3 | BYTES);
    put_varint(message, count);
    memcpy(message->bytes + message->used, bytes, count);
    message->used += count;
}

static void put_text(struct message *message, uint32_t field, const char *text)
{
    put_bytes(message, field, text, (uint32_t)strlen(text));
}

static void write_packet(struct gba_switch_trace *trace, const struct message *packet)
{
    struct message head = {.used = 0};

    put_varint(&head, PACKET << 3 | BYTES);
    put_varint(&head, packet->used);
    trace->failed |= fwrite(head.bytes, 1, head.used, trace->file) != head.used ||
                     fwrite(packet->bytes, 1, packet->used, trace->file) != packet->used;
}

/* Identities of tracks. They are not 0, and each track has its own. */
static uint64_t port_track(uint32_t port)
{
    return 1ull << 32 | port;
}

static uint64_t group_track(uint32_t group)
{
    return 2ull << 32 | group;
}

static uint64_t member_track(uint32_t port, uint32_t group, uint32_t member)
{
    return 3ull << 32 | port << 16 | group << 10 | member;
}
_Static_assert(GBA_MEMBERS_MAX <= 1u << 10 && GBA_GROUPS <= 1u << 6, "a track has its own number");

/* parent: 0 for none. */
static void write_track(struct gba_switch_trace *trace, uint64_t uuid, uint64_t parent,
                        const char *name)
{
    struct message track = {.used = 0}, packet = {.used = 0};

    put_number(&track, TRACK_UUID, uuid);
    put_text(&track, TRACK_NAME, name);
    if (parent != 0)
        put_number(&track, TRACK_PARENT, parent);
    put_number(&packet, SEQUENCE_ID, 1);
    put_bytes(&packet, TRACK_DESCRIPTOR, track.bytes, track.used);
    write_packet(trace, &packet);
}

/* An event of a track. name: NULL for SLICE_END. note: name of the number `value`, or NULL. */
static void write_event(struct gba_switch_trace *trace, uint64_t time, uint32_t type,
                        uint64_t track, const char *name, const char *note, uint64_t value)
{
    struct message event = {.used = 0}, annotation = {.used = 0}, packet = {.used = 0};

    put_number(&event, EVENT_TYPE, type);
    put_number(&event, EVENT_TRACK, track);
    if (name != NULL)
        put_text(&event, EVENT_NAME, name);
    if (note != NULL) {
        put_text(&annotation, ANNOTATION_NAME, note);
        put_number(&annotation, ANNOTATION_UINT, value);
        put_bytes(&event, EVENT_ANNOTATION, annotation.bytes, annotation.used);
    }
    put_number(&packet, TIMESTAMP, time);
    put_number(&packet, SEQUENCE_ID, 1);
    put_bytes(&packet, TRACK_EVENT, event.bytes, event.used);
    write_packet(trace, &packet);
}

/* The track of a member, below its port. */
static uint64_t get_member_track(struct gba_switch_trace *trace, uint32_t port, uint32_t group,
                                 uint32_t member)
{
    uint64_t track = member_track(port, group, member);
    char name[64];

    if (trace->port_of[group][member] == 1 + port)
        return track;
    trace->port_of[group][member] = (uint16_t)(1 + port);
    trace->waiting[group][member] = false;
    snprintf(name, sizeof(name), "group %" PRIu32 " member %" PRIu32, group, member);
    write_track(trace, track, port_track(port), name);
    return track;
}

static uint64_t get_group_track(struct gba_switch_trace *trace, uint32_t group)
{
    char name[32];

    if (!trace->named[group]) {
        snprintf(name, sizeof(name), "group %" PRIu32, group);
        write_track(trace, group_track(group), 0, name);
        trace->named[group] = true;
    }
    return group_track(group);
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
        write_track(trace, port_track(port), 0, name);
    }
    write_event(trace, time, INSTANT, port_track(port), up ? "link up" : "link down", NULL, 0);
}

static void on_arrival(void *context, uint64_t time, const struct gba_switch_arrival *arrival)
{
    struct gba_switch_trace *trace = context;
    uint32_t group = arrival->group, member = arrival->member;
    char name[32];
    uint64_t track;

    if (member >= GBA_MEMBERS_MAX)
        return;
    if (!arrival->counted) {
        write_event(trace, time, INSTANT, port_track(arrival->port),
                    arrival->error != GBA_ERROR_NONE ? "refused arrival" : "repeated arrival",
                    "sequence", arrival->sequence);
        return;
    }
    track = get_member_track(trace, arrival->port, group, member);
    snprintf(name, sizeof(name), "round %" PRIu32, arrival->sequence);
    if (trace->waiting[group][member]) /* its release was lost, or its group taken back */
        write_event(trace, time, SLICE_END, track, NULL, NULL, 0);
    write_event(trace, time, SLICE_BEGIN, track, name, NULL, 0);
    trace->waiting[group][member] = true;
    track = get_group_track(trace, group);
    if (arrival->first && trace->open[group]) /* a round that was abandoned */
        write_event(trace, time, SLICE_END, track, NULL, NULL, 0);
    if (arrival->first)
        write_event(trace, time, SLICE_BEGIN, track, name, NULL, 0);
    if (arrival->last)
        write_event(trace, time, SLICE_END, track, NULL, "last member", member);
    trace->open[group] = !arrival->last;
}

static void on_release(void *context, uint64_t time, uint32_t port, uint32_t group, uint32_t member,
                       uint32_t sequence)
{
    struct gba_switch_trace *trace = context;
    uint64_t track = get_member_track(trace, port, group, member);

    if (trace->waiting[group][member])
        write_event(trace, time, SLICE_END, track, NULL, NULL, 0);
    else
        write_event(trace, time, INSTANT, track, "repeated release", "sequence", sequence);
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
    good = fclose(trace->file) == 0 && !trace->failed;
    free(trace);
    return good;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The trace of gba-switchd, read with an independent decoder. */
#include "tests/switch/core_bench.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gba/base/clock.h"
#include "sim/switch/diag/trace.h"

#define EVENTS 256u

/* A message, or a field of one. */
struct part {
    const uint8_t *at, *end;
};

struct event {
    uint64_t time, type, track, note;
    char name[64];
};

static struct event events[EVENTS];
static unsigned count;
static struct {
    uint64_t uuid, parent;
    char name[128];
} tracks[EVENTS];
static unsigned track_count;

static uint64_t get_varint(struct part *part)
{
    uint64_t value = 0;
    unsigned shift = 0;

    do {
        assert_true(part->at < part->end && shift < 64);
        value |= (uint64_t)(*part->at & 127) << shift;
        shift += 7;
    } while ((*part->at++ & 128) != 0);
    return value;
}

/* The next field of a message: its number, and its value or contents. Returns 0 at the end. */
static uint32_t get_field(struct part *message, uint64_t *value, struct part *contents)
{
    uint64_t key;

    if (message->at == message->end)
        return 0;
    key = get_varint(message);
    *value = get_varint(message);
    assert_true((key & 7) == 0 || (key & 7) == 2);
    if ((key & 7) == 2) {
        assert_true(*value <= (uint64_t)(message->end - message->at));
        *contents = (struct part){message->at, message->at + *value};
        message->at += *value;
    }
    return (uint32_t)(key >> 3);
}

static void get_text(const struct part *part, char *text, size_t size)
{
    size_t length = 0;

    assert_true((size_t)(part->end - part->at) < size);
    for (const uint8_t *at = part->at; at != part->end && length + 1 < size; at++)
        text[length++] = (char)*at;
    text[length] = '\0';
}

static void read_track(struct part message)
{
    struct part contents = {NULL, NULL};
    uint64_t value;
    uint32_t field;

    assert_true(track_count < EVENTS);
    while ((field = get_field(&message, &value, &contents)) != 0) {
        if (field == 1)
            tracks[track_count].uuid = value;
        if (field == 2)
            get_text(&contents, tracks[track_count].name, sizeof(tracks[0].name));
        if (field == 5)
            tracks[track_count].parent = value;
    }
    track_count++;
}

static void read_event(struct part message, struct event *event)
{
    struct part contents = {NULL, NULL}, inner = {NULL, NULL};
    uint64_t value;
    uint32_t field;

    while ((field = get_field(&message, &value, &contents)) != 0) {
        if (field == 9)
            event->type = value;
        if (field == 11)
            event->track = value;
        if (field == 23)
            get_text(&contents, event->name, sizeof(event->name));
        if (field != 4)
            continue;
        while ((field = get_field(&contents, &value, &inner)) != 0) {
            if (field == 3)
                event->note = value;
        }
    }
}

static void read_packet(struct part message)
{
    struct event event = {.type = 0};
    struct part contents = {NULL, NULL};
    uint64_t value, sequence = 0;
    uint32_t field;

    while ((field = get_field(&message, &value, &contents)) != 0) {
        if (field == 8)
            event.time = value;
        if (field == 10)
            sequence = value;
        if (field == 60)
            read_track(contents);
        if (field == 11)
            read_event(contents, &event);
    }
    assert_int_not_equal(sequence, 0);
    if (event.type == 0)
        return;
    assert_true(count < EVENTS);
    assert_true(count == 0 || event.time >= events[count - 1].time);
    events[count++] = event;
}

static void read_trace(const char *path)
{
    static uint8_t bytes[1 << 16];
    FILE *file = fopen(path, "re");
    struct part all, contents = {NULL, NULL};
    uint64_t value;
    uint32_t field;

    assert_non_null(file);
    all = (struct part){bytes, bytes + fread(bytes, 1, sizeof(bytes), file)};
    fclose(file);
    count = track_count = 0;
    while ((field = get_field(&all, &value, &contents)) != 0) {
        assert_int_equal(field, 1);
        read_packet(contents);
    }
}

static const char *track_name(uint64_t uuid)
{
    for (unsigned i = 0; i < track_count; i++) {
        if (tracks[i].uuid == uuid)
            return tracks[i].name;
    }
    fail_msg("an event of a track without a name");
    return "";
}

/* Event i: of that type (1 begin, 2 end, 3 instant), track and name, at that time. */
static void expect(unsigned i, uint64_t type, const char *track, const char *name, uint64_t time)
{
    assert_true(i < count);
    assert_int_equal(events[i].type, type);
    assert_string_equal(track_name(events[i].track), track);
    assert_string_equal(events[i].name, name);
    assert_int_equal(events[i].time, time);
}

TEST(test_rounds)
{
    struct gba_switch_config config = bench_config;
    char path[] = "trace-XXXXXX";
    int fd = mkstemp(path);
    struct gba_switch_trace *trace;
    uint64_t begin;

    assert_return_code(fd, errno);
    close(fd);
    trace = gba_switch_trace_open(path);
    assert_non_null(trace);
    config.latency.down = 50;
    config.observer = &gba_switch_trace_observer;
    config.observer_context = trace;
    bench_start(&config);
    begin = bench.now;
    for (uint32_t i = 0; i < 2; i++)
        bench_attach(i, 0, 0);
    (void)bench_group(2);
    bench.now += 100;
    bench_arrive(1, 0, 1, 1);
    bench.now += 100;
    bench_arrive(1, 0, 1, 1);
    bench_arrive(1, 0, 0, 1);
    bench.now += 100;
    bench_arrive(0, 0, 0, 1);
    bench_run_until(begin + 1000);
    bench_end();
    assert_true(gba_switch_trace_close(trace));
    read_trace(path);
    unlink(path);

    expect(0, 3, "port 0: process 100 a", "link up", begin);
    expect(1, 3, "port 1: process 101 b", "link up", begin);
    expect(2, 1, "group 0 member 1", "round 1", begin + 100);
    expect(3, 1, "group 0", "round 1", begin + 100);
    expect(4, 3, "port 1: process 101 b", "repeated arrival", begin + 200);
    expect(5, 3, "port 1: process 101 b", "refused arrival", begin + 200);
    expect(6, 1, "group 0 member 0", "round 1", begin + 300);
    expect(7, 2, "group 0", "", begin + 300);
    assert_int_equal(events[7].note, 0); /* member 0 was last */
    expect(8, 2, "group 0 member 0", "", begin + 350);
    expect(9, 2, "group 0 member 1", "", begin + 350);
    expect(10, 3, "port 0: process 100 a", "link down", begin + 1000);
    expect(11, 3, "port 1: process 101 b", "link down", begin + 1000);
    assert_int_equal(count, 12);
    for (unsigned i = 0; i < track_count; i++) {
        if (strncmp(tracks[i].name, "group 0 member", 14) == 0)
            assert_ptr_equal(strstr(track_name(tracks[i].parent), "port "),
                             track_name(tracks[i].parent));
    }
}

/* A client of this host has not sent the name of its host. */
TEST(test_no_host)
{
    const struct gba_switch_identity user = {.process = 7};
    char path[] = "trace-XXXXXX";
    int fd = mkstemp(path);
    struct gba_switch_trace *trace;

    assert_return_code(fd, errno);
    close(fd);
    trace = gba_switch_trace_open(path);
    assert_non_null(trace);
    gba_switch_trace_observer.link(trace, 1, 0, &user, true);
    assert_true(gba_switch_trace_close(trace));
    read_trace(path);
    unlink(path);
    expect(0, 3, "port 0: process 7", "link up", 1);
}

/* The daemon reports that the disk of the trace is full. */
TEST(test_full_disk)
{
    struct gba_switch_trace *trace = gba_switch_trace_open("/dev/full");
    const struct gba_switch_identity user = {.process = 1};

    if (trace == NULL)
        skip();
    gba_switch_trace_observer.link(trace, 1, 0, &user, true);
    assert_false(gba_switch_trace_close(trace));
    assert_null(gba_switch_trace_open("/nonexistent/trace"));
}

/* Many events: 100,000, or GBA_TEST_EVENTS in the environment. Prints how long they took. */
TEST(test_many_events)
{
    enum { MEMBERS = 4, EVENTS_OF_ROUND = 2 + 2 * MEMBERS };
    const struct gba_switch_observer *observer = &gba_switch_trace_observer;
    const char *wanted = getenv("GBA_TEST_EVENTS");
    unsigned long rounds = (wanted == NULL ? 100000 : strtoul(wanted, NULL, 10)) / EVENTS_OF_ROUND;
    char path[] = "trace-XXXXXX";
    int fd = mkstemp(path);
    struct gba_switch_trace *trace;
    uint64_t begin = gba_clock_ns();
    struct stat file;

    assert_return_code(fd, errno);
    trace = gba_switch_trace_open(path);
    assert_non_null(trace);
    for (uint32_t round = 1; round <= rounds; round++) {
        for (uint32_t i = 0; i < MEMBERS; i++) {
            const struct gba_switch_arrival arrival = {.port = i,
                                                       .member = i,
                                                       .sequence = round,
                                                       .counted = true,
                                                       .first = i == 0,
                                                       .last = i == MEMBERS - 1};

            observer->arrival(trace, round * 1000, &arrival);
        }
        for (uint32_t i = 0; i < MEMBERS; i++)
            observer->release(trace, round * 1000 + 500, i, 0, i, round);
    }
    assert_true(gba_switch_trace_close(trace));
    begin = gba_clock_ns() - begin;
    assert_return_code(fstat(fd, &file), errno);
    close(fd);
    unlink(path);
    print_message("%lu events in %.2f s, %.1f MB\n", rounds * EVENTS_OF_ROUND, (double)begin / 1e9,
                  (double)file.st_size / 1e6);
    /* At least the time, the track and the type of each. */
    assert_true((uint64_t)file.st_size > rounds * EVENTS_OF_ROUND * 16);
}

TEST_MAIN()

/* SPDX-License-Identifier: BSD-3-Clause */
/* The trace of gba-switchd, line by line. */
#include "tests/switch/core_bench.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gba/base/clock.h"
#include "sim/switch/diag/trace.h"

#define GROUPS_PID (1u + GBA_PORTS_MAX)

static FILE *file;

static void read_trace(const char *path)
{
    char line[8];

    file = fopen(path, "re");
    unlink(path);
    assert_non_null(file);
    assert_string_equal(fgets(line, sizeof(line), file), "[\n");
}

/* The next line but for its comma. time: the prefix of an event; UINT64_MAX: a name. */
static void expect(char phase, uint64_t time, unsigned pid, unsigned tid, const char *rest)
{
    char line[256], start[64], wanted[256];

    start[0] = '\0';
    if (time != UINT64_MAX)
        snprintf(start, sizeof(start), "\"ts\":%llu.%03u,", (unsigned long long)time / 1000,
                 (unsigned)(time % 1000));
    snprintf(wanted, sizeof(wanted), "{\"ph\":\"%c\",%s\"pid\":%u,\"tid\":%u%s}", phase, start, pid,
             tid, rest);
    assert_non_null(fgets(line, sizeof(line), file));
    line[strcspn(line, "\n")] = '\0';
    if (line[strlen(line) - 1] == ',')
        line[strlen(line) - 1] = '\0';
    assert_string_equal(line, wanted);
}

static void expect_name(unsigned pid, unsigned tid, const char *name)
{
    char rest[128];

    snprintf(rest, sizeof(rest), ",\"name\":\"%s_name\",\"args\":{\"name\":\"%s\"}",
             tid == 0 ? "process" : "thread", name);
    expect('M', UINT64_MAX, pid, tid, rest);
}

static void expect_end(void)
{
    char line[8];

    assert_string_equal(fgets(line, sizeof(line), file), "]\n");
    assert_null(fgets(line, sizeof(line), file));
    fclose(file);
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
    expect_name(1, 0, "port 0: process 100 a");
    expect('i', begin, 1, 0, ",\"s\":\"p\",\"name\":\"link up\"");
    expect_name(2, 0, "port 1: process 101 b");
    expect('i', begin, 2, 0, ",\"s\":\"p\",\"name\":\"link up\"");
    expect_name(2, 2, "group 0 member 1");
    expect('B', begin + 100, 2, 2, ",\"name\":\"round 1\"");
    expect_name(GROUPS_PID, 1, "group 0");
    expect('B', begin + 100, GROUPS_PID, 1, ",\"name\":\"round 1\"");
    expect('i', begin + 200, 2, 0,
           ",\"s\":\"p\",\"name\":\"repeated arrival\",\"args\":{\"sequence\":1}");
    expect('i', begin + 200, 2, 0,
           ",\"s\":\"p\",\"name\":\"refused arrival\",\"args\":{\"sequence\":1}");
    expect_name(1, 1, "group 0 member 0");
    expect('B', begin + 300, 1, 1, ",\"name\":\"round 1\"");
    expect('E', begin + 300, GROUPS_PID, 1, ",\"args\":{\"last member\":0}");
    expect('E', begin + 350, 1, 1, "");
    expect('E', begin + 350, 2, 2, "");
    expect('i', begin + 1000, 1, 0, ",\"s\":\"p\",\"name\":\"link down\"");
    expect('i', begin + 1000, 2, 0, ",\"s\":\"p\",\"name\":\"link down\"");
    expect_end();
}

/* A client of this host has not sent the name of its host, and another one sent a name to break
 * out of the string. */
TEST(test_names)
{
    const struct gba_switch_identity user = {.process = 7};
    const struct gba_switch_identity hostile = {.process = 8, .host = "\"}\n"};
    char path[] = "trace-XXXXXX";
    int fd = mkstemp(path);
    struct gba_switch_trace *trace;

    assert_return_code(fd, errno);
    close(fd);
    trace = gba_switch_trace_open(path);
    assert_non_null(trace);
    gba_switch_trace_observer.link(trace, 1, 0, &user, true);
    gba_switch_trace_observer.link(trace, 1, 0, &hostile, true);
    assert_true(gba_switch_trace_close(trace));
    read_trace(path);
    expect_name(1, 0, "port 0: process 7");
    expect('i', 1, 1, 0, ",\"s\":\"p\",\"name\":\"link up\"");
    expect_name(1, 0, "port 0: process 8 \\\"}\\u000a");
    expect('i', 1, 1, 0, ",\"s\":\"p\",\"name\":\"link up\"");
    expect_end();
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
    struct stat size;

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
    assert_return_code(fstat(fd, &size), errno);
    close(fd);
    unlink(path);
    print_message("%lu events in %.2f s, %.1f MB\n", rounds * EVENTS_OF_ROUND, (double)begin / 1e9,
                  (double)size.st_size / 1e6);
    /* At least the time, the track and the type of each. */
    assert_true((uint64_t)size.st_size > rounds * EVENTS_OF_ROUND * 16);
}

TEST_MAIN()

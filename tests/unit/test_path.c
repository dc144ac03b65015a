/* SPDX-License-Identifier: BSD-3-Clause */
/* The text that names a device: the allowed values, and the message about all others. */

#include "gba/dev/path.h"
#include "tests/suite.h"

static struct gba_dev_path parsed;
static char message[288]; /* as long as in the library's own callers */

static void accepts(const char *text)
{
    message[0] = '\0';
    memset(&parsed, 0x5a, sizeof parsed);
    if (GBA_OK != gba_dev_path_parse(text, &parsed, message, sizeof message))
        fail_msg("%s", message);
}

/* The text is refused, nothing is set, and the one line names the parameter and contains this. */
static void refuses(const char *text, const char *why)
{
    struct gba_dev_path untouched;

    memset(&parsed, 0x5a, sizeof parsed);
    memset(&untouched, 0x5a, sizeof untouched);
    message[0] = '\0';
    assert_int_equal(gba_dev_path_parse(text, &parsed, message, sizeof message), GBA_ERR_PARAM);
    assert_memory_equal(&parsed, &untouched, sizeof parsed);
    if (strstr(message, why) == NULL || 0 != strncmp(message, "device_path=", 12))
        fail_msg("\"%s\" is not in: %s", why, message);
    assert_true(strlen(message) < sizeof message - 1); /* not cut */
    for (const char *c = message; '\0' != *c; c++)
        assert_true((unsigned char)*c >= ' ');
}

TEST(kinds)
{
    static const struct gba_sim_options no_options;

    accepts("none");
    assert_int_equal(parsed.kind, GBA_DEV_NONE);
    accepts("/dev/gba0");
    assert_int_equal(parsed.kind, GBA_DEV_CDEV);
    assert_string_equal(parsed.file, "/dev/gba0");
    accepts("/dev/foo?x=1"); /* a file name may contain these characters */
    assert_string_equal(parsed.file, "/dev/foo?x=1");
    accepts("sim");
    assert_int_equal(parsed.kind, GBA_DEV_SIM);
    assert_string_equal(parsed.name, "");
    assert_memory_equal(&parsed.sim, &no_options, sizeof no_options);
    accepts("sim:My.sim_1-x");
    assert_int_equal(parsed.kind, GBA_DEV_SIM);
    assert_string_equal(parsed.name, "My.sim_1-x");
    accepts("sim:a?groups=2");
    assert_string_equal(parsed.name, "a");
    assert_int_equal(parsed.sim.groups, 2);
    accepts("sim?full=1");
    assert_string_equal(parsed.name, "");
    assert_int_equal(parsed.sim.full, 1);
}

TEST(switches)
{
    static const char *const bad_files[] = {"switch:", "switch:/", "switch:socket", "switch:?a=1"};
    static const char *const bad_hosts[] = {"switch://",    "switch://:7",  "switch:///socket",
                                            "switch://a/b", "switch://u@h", "switch://[]",
                                            "switch://::1"};
    static const char *const bad_ports[] = {"switch://h:",     "switch://h:0",  "switch://h:65536",
                                            "switch://h:-1",   "switch://h:7x", "switch://[::1",
                                            "switch://[::1]7", "switch://h?",   "switch://h:1?a=b"};
    static const char *const bad_owners[] = {"switch:/s?", "switch:/s?owner",
                                             "switch:/s?owner=", "switch:/s?a=1",
                                             "switch:/s?owner=a-name-of-more-than-32-characters"};
    char text[300];

    accepts("switch:/run/gba/switch.sock");
    assert_int_equal(parsed.kind, GBA_DEV_SWITCH);
    assert_string_equal(parsed.file, "/run/gba/switch.sock");
    assert_string_equal(parsed.host, "");
    assert_string_equal(parsed.owner, "");
    accepts("switch:/run/gba/switch.sock?owner=alice");
    assert_string_equal(parsed.file, "/run/gba/switch.sock");
    assert_string_equal(parsed.owner, "alice");
    for (size_t i = 0; i < sizeof bad_owners / sizeof bad_owners[0]; i++)
        refuses(bad_owners[i], "after the path of a socket comes ?owner=USER, the name of");
    accepts("switch://host.example-1");
    assert_int_equal(parsed.kind, GBA_DEV_SWITCH);
    assert_string_equal(parsed.host, "host.example-1");
    assert_string_equal(parsed.file, "");
    assert_int_equal(parsed.port, 0);
    accepts("switch://10.0.0.1:65535");
    assert_string_equal(parsed.host, "10.0.0.1");
    assert_int_equal(parsed.port, 65535);
    accepts("switch://[fe80::1%eth0]:1");
    assert_string_equal(parsed.host, "fe80::1%eth0");
    assert_int_equal(parsed.port, 1);
    accepts("switch://[::1]");
    assert_string_equal(parsed.host, "::1");
    for (size_t i = 0; i < sizeof bad_files / sizeof bad_files[0]; i++)
        refuses(bad_files[i], "the absolute path of the socket of gba-switchd, or //HOST:PORT");
    for (size_t i = 0; i < sizeof bad_hosts / sizeof bad_hosts[0]; i++)
        refuses(bad_hosts[i], "after \"switch://\" comes HOST or HOST:PORT");
    for (size_t i = 0; i < sizeof bad_ports / sizeof bad_ports[0]; i++)
        refuses(bad_ports[i], "after the host comes \":PORT\", 1 to 65535, or nothing");
    memset(text, 'x', sizeof text);
    memcpy(text, "switch:/", 8);
    text[7 + 107] = '\0';
    accepts(text);
    text[7 + 107] = 'x';
    text[7 + 108] = '\0';
    refuses(text, "the path of a socket has at most 107 characters");
    memcpy(text, "switch://", 9);
    text[7 + 108] = 'x';
    text[9 + 254] = '\0';
    refuses(text, "after \"switch://\" comes HOST or HOST:PORT");
}

/* Options of two simulators are compared as bytes. */
TEST(equal_paths_are_equal_bytes)
{
    struct gba_dev_path first;

    accepts("sim:a?groups=2&seed=9");
    first = parsed;
    accepts("sim:a?seed=9&groups=2");
    assert_memory_equal(&first, &parsed, sizeof first);
}

TEST(every_option)
{
    accepts("sim?latency=1&jitter=2&seed=3&lose_arrival=4&lose_release=5&repeat_release=6&"
            "die_after=7&die_arrival=10&die_release=11&die_call=12&groups=8&full=1&refuse_rank=9&"
            "version=65536");
    assert_int_equal(parsed.sim.latency, 1);
    assert_int_equal(parsed.sim.jitter, 2);
    assert_int_equal(parsed.sim.seed, 3);
    assert_int_equal(parsed.sim.lose_arrival, 4);
    assert_int_equal(parsed.sim.lose_release, 5);
    assert_int_equal(parsed.sim.repeat_release, 6);
    assert_int_equal(parsed.sim.die_after, 7);
    assert_int_equal(parsed.sim.die_arrival, 10);
    assert_int_equal(parsed.sim.die_release, 11);
    assert_int_equal(parsed.sim.die_call, 12);
    assert_int_equal(parsed.sim.groups, 8);
    assert_int_equal(parsed.sim.full, 1);
    assert_int_equal(parsed.sim.refuse_rank, 10);
    assert_int_equal(parsed.sim.version, 65536);
    accepts("sim?refuse_rank=0");
    assert_int_equal(parsed.sim.refuse_rank, 1);
}

TEST(times_have_units)
{
    accepts("sim?latency=250&jitter=3us");
    assert_int_equal(parsed.sim.latency, 250);
    assert_int_equal(parsed.sim.jitter, 3000);
    accepts("sim?latency=7ns&jitter=1000ms");
    assert_int_equal(parsed.sim.latency, 7);
    assert_int_equal(parsed.sim.jitter, 1000000000);
    refuses("sim?latency=1001ms", "latency=1001ms is not valid; allowed: 0 to 1000000000 nanosec");
    refuses("sim?latency=1s", "ns, us, ms");
    refuses("sim?latency=us", "latency=us is not valid");
    refuses("sim?seed=1us", "seed=1us is not valid");
    refuses("sim?latency=18446744073709551615ms", "is not valid"); /* times 10^6 it would wrap */
}

TEST(ranges_of_options)
{
    accepts("sim?seed=4294967295&refuse_rank=707&groups=32&full=0");
    accepts("sim?groups=1");
    refuses("sim?seed=4294967296", "seed=4294967296 is not valid; allowed: 0 to 4294967295");
    refuses("sim?seed=99999999999999999999", "is not valid");
    refuses("sim?refuse_rank=708", "allowed: 0 to 707");
    refuses("sim?groups=0", "groups=0 is not valid; allowed: 1 to 32");
    refuses("sim?groups=33", "groups=33");
    refuses("sim?die_release=709", "allowed: 0 to 708");
    refuses("sim?full=2", "allowed: 0 to 1");
    refuses("sim?seed=-1", "seed=-1 is not valid");
    refuses("sim?seed=+1", "is not valid");
    refuses("sim?seed= 1", "is not valid");
    refuses("sim?seed=1x", "is not valid");
    refuses("sim?seed=0x10", "is not valid");
    refuses("sim?seed=", "seed= is not valid");
    refuses("sim?seed", "seed= is not valid");
}

TEST(unknown_options)
{
    static const char *const texts[] = {"sim?x=1",     "sim?",        "sim?seed=1&",
                                        "sim?&seed=1", "sim?Seed=1",  "sim?seed =1",
                                        "sim?=1",      "sim?seeds=1", "sim?latenc=1"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        refuses(texts[i], "allowed: latency, jitter, seed, lose_arrival, lose_release, "
                          "repeat_release, die_after, die_arrival, die_release, die_call, "
                          "groups, full, refuse_rank, version");
    refuses("sim?x=1", "unknown option \"x\"");
    refuses("sim?seed=1&seed=1", "option seed is given twice");
}

TEST(names_of_simulators)
{
    static const char *const texts[] = {"sim:",    "sim:?seed=1", "sim:a/b",      "sim:../x",
                                        "sim:a b", "sim:a:b",     "sim:a&seed=1", "sim:\xc3\xa4"};
    char text[512] = "sim:";

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        refuses(texts[i], "has 1 to 48 characters of A-Z, a-z, 0-9, '.', '_', '-'");
    memset(text + 4, 'n', 48);
    text[52] = '\0';
    accepts(text);
    assert_int_equal(strlen(parsed.name), 48);
    memset(text + 4, 'n', 49);
    text[53] = '\0';
    refuses(text, "has 1 to 48 characters");
    memset(text + 4, 'n', 300);
    text[304] = '\0';
    refuses(text, "has 1 to 48 characters");
}

/* Existing simulators by the number of their job or process, as gba_device_list names them. */
TEST(keys_of_simulators)
{
    static const char *const bad[] = {"sim:@",
                                      "sim:@12x",
                                      "sim:@7?seed=1",
                                      "sim:@12345678901",
                                      "sim:@0123456789ABCDEF",
                                      "sim:@0123456789abcdef0"};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refuses(bad[i], "after \"sim:@\" comes the number of a job or of a process");
    accepts("sim:@7");
    assert_string_equal(parsed.name, "@7");
    accepts("sim:@0123456789abcdef");
    assert_string_equal(parsed.name, "@0123456789abcdef");
}

TEST(no_devices_at_all)
{
    static const char *const texts[] = {"",         "simulator", "sims",   "Sim",  "gba0",
                                        "dev/gba0", "none ",     "./gba0", " sim", "sim/abc"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        refuses(texts[i],
                "not a device; allowed: an absolute path such as /dev/gba0, switch:/path, "
                "switch://host:port, sim, sim:NAME, each sim with ?OPTION=VALUE&..., or none");
}

TEST(long_texts)
{
    char text[2048];

    memset(text, 'x', sizeof text);
    text[0] = '/';
    text[255] = '\0';
    accepts(text);
    assert_string_equal(parsed.file, text);
    text[255] = 'x';
    text[256] = '\0';
    refuses(text, "a path has at most 255 characters");
    text[256] = 'x';
    text[sizeof text - 1] = '\0';
    refuses(text, "a path has at most 255 characters");
    text[0] = 'x';
    refuses(text, "not a device");
    memcpy(text, "sim?", 4);
    refuses(text, "511 characters of options");
    text[4 + 511] = '\0';
    refuses(text, "unknown option \"xxxxxxxxxxxxxxxxxxxxxxxx\"; allowed: latency");
    memcpy(text, "sim?latency=", 12);
    refuses(text, "or with a unit: ns, us, ms");
}

TEST(one_line_for_any_input)
{
    refuses("a\nb\tc\x1b[31m\x7f", "device_path=a?b?c?[31m?:");
    refuses("sim?a\nb=1", "unknown option \"a?b\"");
}

TEST(short_buffers)
{
    char small[20] = "0123456789012345678";

    assert_int_equal(gba_dev_path_parse("foo", &parsed, small, 16), GBA_ERR_PARAM);
    assert_string_equal(small, "device_path=foo");
    assert_string_equal(small + 16, "678"); /* the bytes behind the buffer are unchanged */
    assert_int_equal(gba_dev_path_parse("foo", &parsed, small, 1), GBA_ERR_PARAM);
    assert_string_equal(small, "");
}

TEST_MAIN()

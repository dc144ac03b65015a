/* SPDX-License-Identifier: BSD-3-Clause */
/* The text that names a device: the allowed values, and the message about all others. */

#include "gba/dev/device_path.h"
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

/* The text is refused, nothing is set, and the one line contains this. */
static void refuses(const char *text, const char *why)
{
    struct gba_dev_path untouched;

    memset(&parsed, 0x5a, sizeof parsed);
    memset(&untouched, 0x5a, sizeof untouched);
    message[0] = '\0';
    assert_int_equal(gba_dev_path_parse(text, &parsed, message, sizeof message), GBA_ERR_PARAM);
    assert_memory_equal(&parsed, &untouched, sizeof parsed);
    if (strstr(message, why) == NULL)
        fail_msg("\"%s\" is not in: %s", why, message);
    assert_true(strlen(message) < sizeof message - 1); /* not cut */
    for (const char *c = message; '\0' != *c; c++)
        assert_true((unsigned char)*c >= ' ');
}

/* The whole structure: paths are compared as bytes, with those of other processes. */
static const struct {
    const char *text;
    struct gba_dev_path path;
} accepted[] = {
    {"none", {.kind = GBA_DEV_NONE}},
    {"/dev/gba0", {.kind = GBA_DEV_CDEV, .file = "/dev/gba0"}},
    {"/dev/foo?x=1", {.kind = GBA_DEV_CDEV, .file = "/dev/foo?x=1"}}, /* allowed in a file name */
    {"sim", {.kind = GBA_DEV_SIM}},
    {"sim:My.sim_1-x", {.kind = GBA_DEV_SIM, .name = "My.sim_1-x"}},
    {"sim:a?groups=2", {.kind = GBA_DEV_SIM, .name = "a", .sim = {.groups = 2}}},
    {"sim?full=1", {.kind = GBA_DEV_SIM, .sim = {.full = 1}}},
    {"switch:/run/s.sock", {.kind = GBA_DEV_SWITCH, .file = "/run/s.sock"}},
    {"switch:/s?owner=alice", {.kind = GBA_DEV_SWITCH, .file = "/s", .owner = "alice"}},
    {"switch://host.example-1", {.kind = GBA_DEV_SWITCH, .host = "host.example-1"}},
    {"switch://10.0.0.1:65535", {.kind = GBA_DEV_SWITCH, .host = "10.0.0.1", .port = 65535}},
    {"switch://[fe80::1%eth0]:1", {.kind = GBA_DEV_SWITCH, .host = "fe80::1%eth0", .port = 1}},
    {"switch://[::1]", {.kind = GBA_DEV_SWITCH, .host = "::1"}},
    /* Existing simulators by the number of their process or job, as gba_device_list names them. */
    {"sim:@7", {.kind = GBA_DEV_SIM, .name = "@7"}},
    {"sim:@0123456789abcdef", {.kind = GBA_DEV_SIM, .name = "@0123456789abcdef"}},
    {"sim:a?groups=2&seed=9", {.kind = GBA_DEV_SIM, .name = "a", .sim = {.groups = 2, .seed = 9}}},
    {"sim:a?seed=9&groups=2", {.kind = GBA_DEV_SIM, .name = "a", .sim = {.groups = 2, .seed = 9}}},
    {"sim?latency=1&jitter=2&seed=3&lose_arrival=4&lose_release=5&die_after=7&"
     "die_arrival=10&die_release=11&die_call=12&groups=8&full=1&refuse_rank=9",
     {.kind = GBA_DEV_SIM,
      .sim = {.latency = 1,
              .jitter = 2,
              .seed = 3,
              .lose_arrival = 4,
              .lose_release = 5,
              .die_after = 7,
              .die_arrival = 10,
              .die_release = 11,
              .die_call = 12,
              .groups = 8,
              .full = 1,
              .refuse_rank = 10}}},
    {"sim?refuse_rank=0", {.kind = GBA_DEV_SIM, .sim = {.refuse_rank = 1}}},
    {"sim?latency=250&jitter=3us", {.kind = GBA_DEV_SIM, .sim = {.latency = 250, .jitter = 3000}}},
    {"sim?latency=7ns&jitter=1000ms",
     {.kind = GBA_DEV_SIM, .sim = {.latency = 7, .jitter = 1000000000}}},
    {"sim?seed=4294967295&refuse_rank=707&groups=32&full=0",
     {.kind = GBA_DEV_SIM, .sim = {.seed = UINT32_MAX, .refuse_rank = 708, .groups = 32}}},
    {"sim?latency=0.25s", {.kind = GBA_DEV_SIM, .sim = {.latency = 250000000}}},
    {"sim?groups=1", {.kind = GBA_DEV_SIM, .sim = {.groups = 1}}},
};

TEST(what_is_accepted)
{
    for (size_t i = 0; i < sizeof accepted / sizeof accepted[0]; i++) {
        const void *expected = &accepted[i].path, *found = &parsed; /* all bytes of both */

        accepts(accepted[i].text);
        if (0 != memcmp(found, expected, sizeof parsed))
            fail_msg("%s is another path", accepted[i].text);
    }
}

/* What the message has for each of the texts. */
static const struct {
    const char *why, *texts[10];
} refused[] = {
    {"after the path of a socket comes ?owner=USER, the name of",
     {"switch:/s?", "switch:/s?owner", "switch:/s?owner=", "switch:/s?a=1",
      "switch:/s?owner=a-name-of-more-than-32-characters"}},
    {"the absolute path of the socket of gba-switchd, or //HOST:PORT",
     {"switch:", "switch:/", "switch:socket", "switch:?a=1"}},
    {"after \"switch://\" comes HOST or HOST:PORT",
     {"switch://", "switch://:7", "switch:///socket", "switch://a/b", "switch://u@h", "switch://[]",
      "switch://::1"}},
    {"after the host comes \":PORT\", 1 to 65535, or nothing",
     {"switch://h:", "switch://h:0", "switch://h:65536", "switch://h:-1", "switch://h:7x",
      "switch://[::1", "switch://[::1]7", "switch://h?", "switch://h:1?a=b"}},
    {"latency=1001ms is invalid; allowed: 0 to 1000000000 ns, or with a unit",
     {"sim?latency=1001ms"}},
    {"ns, us, ms, s, m, h", {"sim?latency=2s", "sim?latency=0.5", "sim?jitter=1h"}},
    {"latency=us is invalid", {"sim?latency=us"}},
    {"seed=1us is invalid", {"sim?seed=1us"}},
    {"seed=4294967296 is invalid; allowed: 0 to 4294967295", {"sim?seed=4294967296"}},
    {"allowed: 0 to 707", {"sim?refuse_rank=708"}},
    {"groups=0 is invalid; allowed: 1 to 32", {"sim?groups=0"}},
    {"groups=33", {"sim?groups=33"}},
    {"allowed: 0 to 708", {"sim?die_release=709"}},
    {"allowed: 0 to 1", {"sim?full=2"}},
    {"seed=-1 is invalid", {"sim?seed=-1"}},
    {"seed= is invalid", {"sim?seed=", "sim?seed"}},
    {"is invalid",
     {"sim?seed=99999999999999999999", "sim?seed=+1", "sim?seed= 1", "sim?seed=1x", "sim?seed=0x10",
      "sim?latency=18446744073709551615ms"}}, /* times 10^6 it would wrap */
    {"allowed: latency, jitter, seed, lose_arrival, lose_release, die_after, "
     "die_arrival, die_release, die_call, groups, full, refuse_rank",
     {"sim?x=1", "sim?", "sim?seed=1&", "sim?&seed=1", "sim?Seed=1", "sim?seed =1", "sim?=1",
      "sim?seeds=1", "sim?latenc=1"}},
    {"unknown option \"x\"", {"sim?x=1"}},
    {"option seed is given twice", {"sim?seed=1&seed=1"}},
    {"has 1 to 48 characters of A-Z, a-z, 0-9, '.', '_', '-'",
     {"sim:", "sim:?seed=1", "sim:a/b", "sim:../x", "sim:a b", "sim:a:b", "sim:a&seed=1",
      "sim:\xc3\xa4"}},
    {"after \"sim:@\" comes the number of a job or of a process",
     {"sim:@", "sim:@12x", "sim:@7?seed=1", "sim:@12345678901", "sim:@0123456789ABCDEF",
      "sim:@0123456789abcdef0"}},
    {"not a device; allowed: an absolute path such as /dev/gba0, switch:/path, switch://host:port, "
     "sim, sim:NAME, each sim with ?OPTION=VALUE&..., or none",
     {"", "simulator", "sims", "Sim", "gba0", "dev/gba0", "none ", "./gba0", " sim", "sim/abc"}},
};

TEST(what_is_refused)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        for (int k = 0; k < 10 && refused[i].texts[k] != NULL; k++)
            refuses(refused[i].texts[k], refused[i].why);
}

/* A prefix and a number of characters in all, of which one more is refused. */
TEST(long_texts)
{
    static const struct {
        const char *prefix;
        size_t most;
        const char *why, *far; /* far: of 2000 characters */
    } rows[] = {
        {"/", 255, "a path has at most 255 characters", "a path has at most 255 characters"},
        {"sim:", 4 + 48, "has 1 to 48 characters", "has 1 to 48 characters"},
        {"switch:/", 7 + 107, "the path of a socket has at most 107 characters", "switch"},
        {"switch://", 0, "after \"switch://\" comes HOST or HOST:PORT", "switch"},
        {"sim?", 0, "unknown option \"xxxxxxxxxxxxxxxxxxxxxxxx\"; allowed: latency",
         "511 characters of options"},
        {"sim?latency=", 0, "or with a unit: ns, us, ms", "511 characters of options"},
        {"x", 0, "not a device", "not a device"},
    };
    char text[2001];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const size_t more = 0 == rows[i].most ? (3 == i ? 9 + 254 : 4 + 511) : rows[i].most + 1;

        memset(text, 'x', sizeof text);
        memcpy(text, rows[i].prefix, strlen(rows[i].prefix));
        text[2000] = '\0';
        refuses(text, rows[i].far);
        text[more] = '\0';
        refuses(text, rows[i].why);
        if (0 == rows[i].most)
            continue;
        text[more - 1] = '\0';
        accepts(text);
        assert_string_equal('s' == *text && ':' == text[3] ? parsed.name : parsed.file,
                            '/' == *text ? text : text + (0 == strncmp(text, "sim", 3) ? 4 : 7));
    }
}

TEST(one_line_for_any_input)
{
    refuses("a\nb\tc\x1b[31m\x7f", "a?b?c?[31m?:");
    refuses("sim?a\nb=1", "unknown option \"a?b\"");
}

TEST(short_buffers)
{
    char small[20] = "0123456789012345678";

    assert_int_equal(gba_dev_path_parse("foo", &parsed, small, 16), GBA_ERR_PARAM);
    assert_string_equal(small, "foo: not a devi");
    assert_string_equal(small + 16, "678"); /* the bytes behind the buffer are unchanged */
    assert_int_equal(gba_dev_path_parse("foo", &parsed, small, 1), GBA_ERR_PARAM);
    assert_string_equal(small, "");
}

TEST_MAIN()

/* SPDX-License-Identifier: BSD-3-Clause */
/* device_list, device_map, and the words about distances that processes exchange. */
#define _GNU_SOURCE
#include <sys/stat.h>
#include <unistd.h>

#include "gba/dev/choose.h"
#include "gba/dev/selection.h"
#include "gba/gba.h"
#include "tests/suite.h"

TEST(lists)
{
    static const char *const good[] = {"all",
                                       "gba0",
                                       "gba0,gba2",
                                       "^gba1",
                                       "^gba1,/dev/gba3",
                                       "sim:a,sim:b?groups=2",
                                       "/dev/null,switch:/tmp/s,switch://host:7114",
                                       "sim"};
    static const struct {
        const char *list, *error;
    } bad[] = {{"", "is not a device"},
               {"gba", "is not a device"},
               {"gba0,", "is not a device"},
               {"gba0,gba0", "given twice"},
               {"gba1,/dev/gba1", "given twice"},
               {"none", "is not a device"},
               {"^sim:a", "is not a device"},
               {"^", "is not a device"},
               {"all,gba1", "is not a device"},
               {"sim:a?bogus=1", "is not a device"},
               {"gba0,g\nba1", "device_list=gba0,g?ba1: "},
               {"gba0,gba1,gba2,gba3,gba4,gba5,gba6,gba7,gba8,gba9,gba10,gba11,gba12,gba13,gba14,"
                "gba15,gba16",
                "more than 16 devices"}};
    char message[512];

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_int_equal(gba_device_list_check(good[i], message, sizeof message), GBA_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(gba_device_list_check(bad[i].list, message, sizeof message),
                         GBA_ERR_PARAM);
        assert_ptr_equal(strstr(message, "device_list="), message);
        assert_non_null(strstr(message, bad[i].error));
    }
}

TEST(maps)
{
    static const char *const bad[] = {"",       "gba0",    "gba0:",   "gba0:0", "gba0:65536",
                                      "gba0:x", "gba0:-1", "gba0:1,", ":3",     "none:1"};
    char none[] = "none", bad_map[] = "gba0:3,gba1:5x", bad_list[] = "gba0;gba1";
    gba_params_t params;
    char message[512];

    assert_int_equal(gba_device_map_check("none", message, sizeof message), GBA_OK);
    assert_int_equal(
        gba_device_map_check("gba0:3,gba1:65535,gba0:1,sim:a:2", message, sizeof message), GBA_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(gba_device_map_check(bad[i], message, sizeof message), GBA_ERR_PARAM);
        assert_ptr_equal(strstr(message, "device_map="), message);
    }
    /* As parameters. */
    gba_params_default(&params);
    assert_int_equal(gba_params_check(&params, message, sizeof message), GBA_OK);
    params.device_map = bad_map;
    assert_int_equal(gba_params_check(&params, message, sizeof message), GBA_ERR_PARAM);
    assert_non_null(strstr(message, "\"gba1:5x\" is not DEVICE:COUNT"));
    params.device_map = none;
    params.device_list = bad_list;
    assert_int_equal(gba_params_check(&params, message, sizeof message), GBA_ERR_PARAM);
    assert_non_null(strstr(message, "device_list=gba0;gba1: "));
}

TEST(found)
{
    gba_device_choices_t choices;

    gba_device_choices_find("sim:b,/dev/null,gba77777,/dev/no-such-file,sim:a", &choices);
    assert_int_equal(choices.count, 3); /* files that do not exist are none */
    assert_string_equal(choices.list[0].path, "sim:b");
    assert_string_equal(choices.list[1].path, "/dev/null");
    assert_string_equal(choices.list[2].path, "sim:a");
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(choices.list[i].distance, GBA_DISTANCE_SYS);
}

/* The user's path, the first of the user's list, or none of it. */
TEST(first)
{
    gba_device_choices_t choices;
    const char *path;

    assert_string_equal(gba_device_choices_first("sim:c", "sim:a,sim:b", &choices), "sim:c");
    assert_int_equal(choices.count, 0);
    assert_string_equal(gba_device_choices_first(NULL, "sim:b,sim:a", &choices), "sim:b");
    assert_int_equal(choices.count, 2);
    assert_string_equal(gba_device_choices_first(NULL, "/dev/no-such-file", &choices), "none");
    assert_int_equal(choices.count, 0);
    path = gba_device_choices_first(NULL, NULL, &choices);
    assert_true((path == NULL) == (0 == choices.count)); /* by the files of the machine */
}

/* A file that the user may not open is left out, unless nothing else is left. access(2) is about
 * the real user, and some runs of this test are those of root. */
TEST(denied)
{
    char path[] = "/tmp/gba-choices-XXXXXX", list[64];
    const bool root = 0 == getuid();
    gba_device_choices_t among, alone;
    int file = mkstemp(path);

    assert_true(file >= 0);
    assert_int_equal(fchmod(file, 0), 0);
    close(file);
    snprintf(list, sizeof list, "%s,sim:a", path);
    if (root)
        assert_int_equal(setreuid(65534, (uid_t)-1), 0);
    gba_device_choices_find(list, &among);
    gba_device_choices_find(path, &alone);
    if (root)
        assert_int_equal(setreuid(0, (uid_t)-1), 0);
    unlink(path);
    assert_int_equal(among.count, 1);
    assert_string_equal(among.list[0].path, "sim:a");
    assert_int_equal(alone.count, 1);
    assert_string_equal(alone.list[0].path, path);
}

static gba_device_choices_t choices_of(const char *list, gba_distance_t a, gba_distance_t b)
{
    gba_device_choices_t choices;

    gba_device_choices_find(list, &choices);
    choices.list[0].distance = a;
    choices.list[1].distance = b;
    return choices;
}

/* The choices of all processes of a host, each made alone. */
static void choose_all(const gba_device_choices_t *choices, const char *map, const uint64_t *words,
                       uint32_t processes, uint32_t *index)
{
    char why[128];

    for (uint32_t p = 0; p < processes; p++)
        assert_int_equal(
            gba_device_choose(&choices[p], map, words, processes, p, &index[p], why, sizeof why),
            GBA_OK);
}

TEST(alike_on_all)
{
    gba_device_choices_t choices[6];
    uint64_t words[6];
    uint32_t index[6];

    /* Four processes are as near to both devices, two to the first one alone. */
    for (uint32_t p = 0; p < 6; p++) {
        choices[p] = choices_of("sim:a,sim:b", GBA_DISTANCE_PIX,
                                p < 4 ? GBA_DISTANCE_PIX : GBA_DISTANCE_SYS);
        words[p] = gba_device_choices_word(&choices[p]);
        assert_true(0 != words[p]);
    }
    choose_all(choices, "none", words, 6, index);
    for (uint32_t p = 0, first = 0; p < 6; p++) {
        first += 0 == index[p];
        if (p >= 4)
            assert_int_equal(index[p], 0);
        if (5 == p)
            assert_int_equal(first, 3); /* the choices fit together */
    }
    choose_all(choices, "sim:b:2,sim:a:1,sim:c:7", words, 6, index);
    for (uint32_t p = 0; p < 6; p++)
        assert_int_equal(index[p], p % 3 < 2 ? 1 : 0);
    choose_all(choices, "gba9:1", words, 6, index); /* names no choice: by distance */
    assert_int_equal(index[5], 0);
}

/* Without the words of others a process takes them to be like itself, so equal ones still balance.
 * The word of a process with other choices is not read as distances to these. */
TEST(unknown_words)
{
    gba_device_choices_t choices[4], other = choices_of("sim:x,sim:b", 0, GBA_DISTANCE_SYS);
    uint64_t words[4] = {0, 0, gba_device_choices_word(&other), 0};
    uint32_t index[4];

    for (uint32_t p = 0; p < 4; p++)
        choices[p] = choices_of("sim:a,sim:b", GBA_DISTANCE_PHB, GBA_DISTANCE_PHB);
    choose_all(choices, "none", words, 4, index);
    for (uint32_t p = 0; p < 4; p++)
        assert_int_equal(index[p], p % 2);
}

TEST_MAIN()

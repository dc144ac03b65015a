/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of parameters: it is consistent, and every value out of range is reported with its
 * name. */
#define _GNU_SOURCE /* strcasestr */
#include <inttypes.h>
#include <limits.h>

#include "gba/base/param_default.h"
#include "gba/gba.h"
#include "tests/suite.h"

static gba_params_t params;
static char message[256];

static const gba_param_t *find(const char *name)
{
    for (const gba_param_t *param = gba_params_table(); param->name != NULL; param++)
        if (0 == strcmp(param->name, name))
            return param;
    fail_msg("there is no parameter %s", name);
    return NULL;
}

static void *field_of(const gba_param_t *param)
{
    return (char *)&params + param->offset;
}

TEST(the_table_makes_sense)
{
    for (const gba_param_t *a = gba_params_table(); a->name != NULL; a++) {
        size_t size = GBA_PARAM_STRING == a->type ? sizeof(char *) : sizeof(int);

        assert_true(a->offset + size <= sizeof params);
        assert_true(a->level >= 1 && a->level <= 9);
        assert_non_null(a->help);
        assert_true(strlen(a->help) > 30);
        assert_true(a->min <= a->max);
        assert_int_equal(a->string_default != NULL, GBA_PARAM_STRING == a->type);
        assert_int_equal(a->values != NULL, GBA_PARAM_ENUM == a->type);
        if (GBA_PARAM_INT == a->type || GBA_PARAM_UINT == a->type || GBA_PARAM_BOOL == a->type)
            assert_true(gba_param_in_range(a, a->value_default));
        if (GBA_PARAM_INT == a->type)
            assert_true(a->min >= INT_MIN && a->max <= INT_MAX);
        if (GBA_PARAM_UINT == a->type)
            assert_true(a->min >= 0 && a->max <= UINT32_MAX);
        if (GBA_PARAM_BOOL == a->type)
            assert_true(0 == a->min && 1 == a->max);
        for (const gba_param_t *b = gba_params_table(); b != a; b++) {
            assert_string_not_equal(a->name, b->name);
            assert_true(a->offset != b->offset);
        }
    }
}

/* Names and defaults of the reference, which its users know. */
TEST(the_reference)
{
    assert_int_equal(find("priority")->value_default, 100);
    assert_int_equal(find("priority")->max, 100); /* Open MPI's coll framework cuts at this value */
    assert_int_equal(find("disable")->value_default, 0);
    assert_string_equal(find("device_path")->string_default, "/dev/gba0");
    assert_int_equal(find("min_comm_size")->value_default, 2);
    assert_int_equal(find("verbose")->value_default, 0);
    assert_int_equal(find("retry_after")->value_default, 0);
    assert_true(find("first_sequence")->hidden);
    /* Parameters that decide the path: a rank with its own value would take another path. */
    assert_true(find("priority")->all_same);
    assert_true(find("disable")->all_same);
    assert_true(find("min_comm_size")->all_same);
}

/* Each help text names the range, and the rank whose value is used, if that is not the process
 * itself. */
TEST(help_has_the_range)
{
    static const char *const rank0[] = {"offload_after", "max_groups", "sw_algorithm",
                                        "sw_radix",      "hierarchy",  "first_sequence"};
    char most[32];

    for (const gba_param_t *param = gba_params_table(); param->name != NULL; param++) {
        snprintf(most, sizeof most, "%" PRId64, param->max);
        if ((GBA_PARAM_INT == param->type && INT32_MAX != param->max) ||
            GBA_PARAM_UINT == param->type)
            assert_non_null(strstr(param->help, most));
        for (const gba_param_value_t *v = param->values; v != NULL && v->name != NULL; v++)
            assert_non_null(strstr(param->help, v->name));
    }
    for (size_t i = 0; i < sizeof rank0 / sizeof rank0[0]; i++)
        assert_non_null(strcasestr(find(rank0[i])->help, "rank 0"));
}

TEST(defaults_are_allowed)
{
    memset(&params, 0xff, sizeof params);
    gba_params_default(&params);
    for (const gba_param_t *param = gba_params_table(); param->name != NULL; param++)
        if (GBA_PARAM_STRING == param->type)
            assert_string_equal(*(char **)field_of(param), param->string_default);
        else
            assert_int_equal(*(int *)field_of(param), (int)param->value_default);
    message[0] = '\0';
    assert_int_equal(gba_params_check(&params, message, sizeof message), GBA_OK);
    assert_string_equal(message, "");
}

/* This value, in an int or unsigned field; all other fields have their defaults. */
static gba_status_t check_value(const gba_param_t *param, int64_t value)
{
    gba_params_default(&params);
    if (GBA_PARAM_UINT == param->type)
        *(unsigned int *)field_of(param) = (unsigned int)value;
    else
        *(int *)field_of(param) = (int)value;
    message[0] = '\0';
    return gba_params_check(&params, message, sizeof message);
}

static void out_of_range(const gba_param_t *param, int64_t value)
{
    char expected[160];

    assert_int_equal(check_value(param, value), GBA_ERR_PARAM);
    snprintf(expected, sizeof expected,
             "%s=%" PRId64 " is invalid; allowed: %s%" PRId64 " to %" PRId64, param->name, value,
             param->or_zero ? "0, " : "", param->min, param->max);
    assert_memory_equal(message, expected, strlen(expected));
}

TEST(ends_of_every_range)
{
    for (const gba_param_t *param = gba_params_table(); param->name != NULL; param++) {
        int64_t least = GBA_PARAM_UINT == param->type ? 0 : INT_MIN;
        int64_t most = GBA_PARAM_UINT == param->type ? (int64_t)UINT32_MAX : INT_MAX;

        if (GBA_PARAM_STRING == param->type || GBA_PARAM_ENUM == param->type)
            continue;
        assert_int_equal(check_value(param, param->min), GBA_OK);
        assert_int_equal(check_value(param, param->max), GBA_OK);
        if (param->min > least) {
            out_of_range(param, param->min - 1);
            out_of_range(param, least);
        }
        if (param->max < most) {
            out_of_range(param, param->max + 1);
            out_of_range(param, most);
        }
    }
}

TEST(values_of_enumerations)
{
    for (const gba_param_t *param = gba_params_table(); param->name != NULL; param++) {
        const gba_param_value_t *v;
        int most = INT_MIN;

        if (GBA_PARAM_ENUM != param->type)
            continue;
        for (v = param->values; v->name != NULL; v++) {
            assert_int_equal(check_value(param, v->value), GBA_OK);
            most = v->value > most ? v->value : most;
        }
        assert_int_equal(check_value(param, most + 1), GBA_ERR_PARAM);
        assert_int_equal(strncmp(message, param->name, strlen(param->name)), 0);
        for (v = param->values; v->name != NULL; v++) /* the message has all of them */
            assert_non_null(strstr(message, v->name));
        assert_int_equal(check_value(param, -1), GBA_ERR_PARAM);
    }
}

TEST(device_paths)
{
    static char wrong[] = "/no/../such", bad[] = "sim?x=1", empty[] = "";

    gba_params_default(&params);
    params.device_path = wrong; /* the text is valid; the check does not open the file */
    assert_int_equal(gba_params_check(&params, message, sizeof message), GBA_OK);
    params.device_path = bad;
    assert_int_equal(gba_params_check(&params, message, sizeof message), GBA_ERR_PARAM);
    assert_non_null(strstr(message, "device_path=sim?x=1: unknown option \"x\"; allowed:"));
    params.device_path = empty;
    assert_int_equal(gba_params_check(&params, message, sizeof message), GBA_ERR_PARAM);
    assert_non_null(strstr(message, "device_path=\"\": not a device; allowed:"));
}

/* A text is a value of the parameter, and is all of it. */
static void is_value(const char *name, const char *text, int64_t value)
{
    const gba_param_t *param = gba_params_table();

    while (0 != strcmp(param->name, name))
        param++;
    gba_params_default(&params);
    *(int *)field_of(param) = -1;
    assert_int_equal(gba_param_set(param, &params, text), value >= 0);
    assert_int_equal(*(int *)field_of(param), value);
    gba_param_refuse(param, "NAME", text, message, sizeof message);
    assert_memory_equal(message, "NAME=", 5);
    assert_non_null(strstr(message, " is invalid; allowed: "));
}

TEST(values_from_texts)
{
    static const char *const none[] = {"",   "abc", "1x",   "-1",        "+1",
                                       " 1", "1 ",  "1e3",  "0x10",      "99999999999999999999",
                                       "1.", "1.5", "1.5x", "1000000001"};

    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        is_value("max_groups", none[i], -1);
        is_value("stuck_after", none[i], -1);
        is_value("wait", none[i], -1);
        is_value("sw_enable", none[i], -1);
    }
    is_value("max_groups", "32", 32);
    is_value("max_groups", "33", -1);
    is_value("max_groups", "1s", -1);
    is_value("stuck_after", "1h", 3600);
    is_value("stuck_after", "2m", 120);
    is_value("stuck_after", "1.5m", 90);
    is_value("stuck_after", "2000ms", 2);
    is_value("stuck_after", "1500ms", -1);
    is_value("stuck_after", "721h", -1);
    is_value("retry_after", "1s", 1000);
    is_value("retry_after", "20", 20);
    is_value("wait", "sleep", GBA_WAIT_SLEEP);
    is_value("sw_algorithm", "radix", GBA_ALGORITHM_V2);
    is_value("sw_enable", "off", 0);
    is_value("sw_enable", "TRUE", 1);
}

TEST(the_first_of_two_is_named)
{
    gba_params_default(&params);
    params.priority = 101;
    params.min_comm_size = 0;
    assert_int_equal(gba_params_check(&params, message, sizeof message), GBA_ERR_PARAM);
    assert_string_equal(message, "priority=101 is invalid; allowed: 0 to 100");
    params.priority = 0;
    assert_int_equal(gba_params_check(&params, message, sizeof message), GBA_ERR_PARAM);
    assert_string_equal(message, "min_comm_size=0 is invalid; allowed: 2 to 2147483647");
}

TEST_MAIN()

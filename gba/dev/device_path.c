/* SPDX-License-Identifier: BSD-3-Clause */
/* Parser of the text that names a device. */
#include "gba/dev/device_path.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gba/base/number.h"
#include "gba/params.h"
#include "gba/spec/gba_regs.h"

/* The characters of an invalid text, and of an option in it, that a message shows. They are enough
 * to recognise it, and a message with the list of all options still fits in 288 bytes. */
#define SHOWN        40
#define OPTION_SHOWN 24

#define ALLOWED                                                                            \
    "allowed: an absolute path such as /dev/gba0, switch:/path, switch://host:port, sim, " \
    "sim:NAME, each sim with ?OPTION=VALUE&..., "                                          \
    "or none"

#define OPTION(field, most)                                                                    \
    .name = #field, .type = GBA_PARAM_UINT, .offset = offsetof(struct gba_sim_options, field), \
    .max = (most)

static const gba_param_t options[] = {
    {OPTION(latency, 1000000000), .unit = 1},
    {OPTION(jitter, 1000000000), .unit = 1},
    {OPTION(seed, UINT32_MAX)},
    {OPTION(lose_arrival, UINT32_MAX)},
    {OPTION(lose_release, UINT32_MAX)},
    {OPTION(die_after, UINT32_MAX)},
    {OPTION(die_arrival, UINT32_MAX)},
    {OPTION(die_release, GBA_MEMBERS_MAX)},
    {OPTION(die_call, UINT32_MAX)},
    {OPTION(groups, GBA_GROUPS), .min = 1},
    {OPTION(full, 1)},
    {OPTION(refuse_rank, GBA_MEMBERS_MAX - 1)},
};
#define OPTIONS (sizeof options / sizeof options[0])
_Static_assert(OPTIONS * sizeof(uint32_t) == sizeof(struct gba_sim_options),
               "all options are in the table");

/* The text being parsed, for messages. */
struct parse {
    const char *text;
    char *message;
    size_t len;
};

gba_status_t gba_dev_refuse(const char *parameter, const char *text, char *message, size_t len,
                            const char *format, ...)
{
    char what[400];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    snprintf(message, len, "%s%s%.*s%s: %s", parameter, '\0' == *parameter ? "" : "=", SHOWN,
             '\0' == *text ? "\"\"" : text, strlen(text) > SHOWN ? "..." : "", what);
    /* Print one line for any input: no newline, and no control character that a terminal
     * executes. */
    for (char *c = message; len > 0 && '\0' != *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = '?';
    return GBA_ERR_PARAM;
}

#define REFUSE(parse, ...) \
    gba_dev_refuse("", (parse)->text, (parse)->message, (parse)->len, __VA_ARGS__)

/* All options, for a message. */
static void options_list(char *text, size_t len)
{
    size_t used = 0;

    for (size_t i = 0; i < OPTIONS && used < len; i++)
        used +=
            (size_t)snprintf(text + used, len - used, "%s%s", 0 == i ? "" : ", ", options[i].name);
}

void gba_sim_options_print(const struct gba_sim_options *set, char *text, size_t len)
{
    size_t used = 0;

    snprintf(text, len, "no options");
    for (size_t i = 0; i < OPTIONS && used < len; i++) {
        const uint32_t *value = (const void *)((const char *)set + options[i].offset);

        if (0 != *value)
            used +=
                (size_t)snprintf(text + used, len - used, "%s%s=%" PRIu32, 0 == used ? "?" : "&",
                                 options[i].name, *value - (value == &set->refuse_rank));
    }
}

/* Parse one "name=value". seen: the options given so far, to detect a duplicate. */
static gba_status_t option_parse(const struct parse *parse, char *text, bool *seen,
                                 struct gba_sim_options *sim)
{
    char *value = strchr(text, '='), known[256];

    if (value != NULL)
        *value++ = '\0';
    for (size_t i = 0; i < OPTIONS; i++) {
        if (0 != strcmp(text, options[i].name))
            continue;
        if (seen[i])
            return REFUSE(parse, "option %s is given twice", text);
        seen[i] = true;
        if (value == NULL || !gba_param_set(&options[i], sim, value)) {
            gba_param_refuse(&options[i], text, value == NULL ? "" : value, known, sizeof known);
            return REFUSE(parse, "%s", known);
        }
        /* 0 means that it is not given. */
        if (offsetof(struct gba_sim_options, refuse_rank) == options[i].offset)
            sim->refuse_rank++;
        return GBA_OK;
    }
    options_list(known, sizeof known);
    return REFUSE(parse, "unknown option \"%.*s\"; allowed: %s", OPTION_SHOWN, text, known);
}

static gba_status_t options_parse(const struct parse *parse, const char *text,
                                  struct gba_sim_options *sim)
{
    bool seen[OPTIONS] = {false};
    char copy[512], *rest = copy, *one;
    gba_status_t status;

    if (strlen(text) >= sizeof copy)
        return REFUSE(parse, "more than %zu characters of options", sizeof copy - 1);
    strcpy(copy, text);
    while ((one = strsep(&rest, "&")) != NULL) {
        status = option_parse(parse, one, seen, sim);
        if (GBA_OK != status)
            return status;
    }
    return GBA_OK;
}

static bool name_character(char c)
{
    return isalnum((unsigned char)c) || '.' == c || '_' == c || '-' == c;
}

/* Parse what follows "sim:@": the number of a job or of a process, as gba_device_list prints it. */
static gba_status_t key_parse(const struct parse *parse, const char *key, struct gba_dev_path *path)
{
    size_t len = strlen(key);

    if (GBA_SIM_KEY_JOB == len ? len != strspn(key, "0123456789abcdef")
                               : 0 == len || len > 10 || len != strspn(key, "0123456789"))
        return REFUSE(parse, "after \"sim:@\" comes the number of a job or of a process, as "
                             "\"gba_info --list\" prints it");
    snprintf(path->name, sizeof path->name, "@%s", key);
    return GBA_OK;
}

/* Parse what follows "sim": nothing, ":NAME", "?options" or both; or ":@KEY". */
static gba_status_t sim_parse(const struct parse *parse, const char *rest,
                              struct gba_dev_path *path)
{
    size_t len = 0;

    path->kind = GBA_DEV_SIM;
    if (':' == rest[0] && '@' == rest[1])
        return key_parse(parse, rest + 2, path);
    if (':' == *rest) {
        rest++;
        while (name_character(rest[len]))
            len++;
        if (0 == len || len > GBA_SIM_NAME_MAX || ('\0' != rest[len] && '?' != rest[len]))
            return REFUSE(parse,
                          "the name of a simulated device has 1 to %d characters of A-Z, a-z, 0-9, "
                          "'.', '_', '-'",
                          GBA_SIM_NAME_MAX);
        memcpy(path->name, rest, len);
        rest += len;
    }
    if ('?' == *rest)
        return options_parse(parse, rest + 1, &path->sim);
    return GBA_OK;
}

/* Whether the text is "sim" with a valid separator after it, and not "simulator". */
static bool is_sim(const char *text)
{
    return 0 == strncmp(text, "sim", 3) && ('\0' == text[3] || ':' == text[3] || '?' == text[3]);
}

/* Parse the part after "switch://": HOST, HOST:PORT, [ADDRESS] or [ADDRESS]:PORT. */
static gba_status_t tcp_parse(const struct parse *parse, const char *rest,
                              struct gba_dev_path *path)
{
    const bool brackets = '[' == rest[0]; /* an address of IPv6 has colons */
    const char *host = rest + brackets;
    const size_t len = strcspn(host, brackets ? "]?" : ":?");
    const char *port = host + len;
    uint64_t number = 0;

    if (brackets && ']' == *port)
        port++;
    else if (brackets)
        port = "/";
    if (0 == len || len > GBA_SWITCH_HOST_MAX || len > strcspn(host, "/?#@ \t"))
        return REFUSE(parse, "after \"switch://\" comes HOST or HOST:PORT");
    if ('\0' != *port && (':' != *port || !gba_count_parse(port + 1, 1, UINT16_MAX, &number)))
        return REFUSE(parse, "after the host comes \":PORT\", 1 to 65535, or nothing");
    memcpy(path->host, host, len);
    path->port = (uint32_t)number;
    return GBA_OK;
}

/* Parse the option of a socket, "owner=USER", which follows the "?". */
static gba_status_t owner_parse(const struct parse *parse, const char *text,
                                struct gba_dev_path *path)
{
    const char *user = text + strlen("owner=");

    if (0 != strncmp(text, "owner=", strlen("owner=")) || '\0' == *user ||
        strlen(user) > GBA_SWITCH_OWNER_MAX)
        return REFUSE(parse,
                      "after the path of a socket comes ?owner=USER, the name of at most %d "
                      "characters or the number of the user who runs gba-switchd, or nothing",
                      GBA_SWITCH_OWNER_MAX);
    strcpy(path->owner, user);
    return GBA_OK;
}

/* Parse the part after "switch:": an absolute path and its option, or "//" with a host. */
static gba_status_t switch_parse(const struct parse *parse, const char *rest,
                                 struct gba_dev_path *path)
{
    const size_t len = strcspn(rest, "?");

    path->kind = GBA_DEV_SWITCH;
    if (0 == strncmp(rest, "//", 2))
        return tcp_parse(parse, rest + 2, path);
    if ('/' != rest[0] || len < 2)
        return REFUSE(parse, "after \"switch:\" comes the absolute path of the socket of "
                             "gba-switchd, or //HOST:PORT");
    if (len > GBA_SWITCH_FILE_MAX)
        return REFUSE(parse, "the path of a socket has at most %d characters", GBA_SWITCH_FILE_MAX);
    memcpy(path->file, rest, len);
    return '?' == rest[len] ? owner_parse(parse, rest + len + 1, path) : GBA_OK;
}

gba_status_t gba_dev_path_parse(const char *text, struct gba_dev_path *path, char *message,
                                size_t len)
{
    struct parse parse = {text, message, len};
    struct gba_dev_path parsed;
    gba_status_t status = GBA_OK;

    memset(&parsed, 0, sizeof parsed); /* options are compared as bytes */
    if (0 == strcmp(text, "none")) {
        parsed.kind = GBA_DEV_NONE;
    } else if ('/' == text[0]) {
        parsed.kind = GBA_DEV_CDEV;
        if (strlen(text) >= sizeof parsed.file)
            return REFUSE(&parse, "a path has at most %zu characters", sizeof parsed.file - 1);
        strcpy(parsed.file, text);
    } else if (is_sim(text)) {
        status = sim_parse(&parse, text + 3, &parsed);
    } else if (0 == strncmp(text, "switch:", 7)) {
        status = switch_parse(&parse, text + 7, &parsed);
    } else {
        status = REFUSE(&parse, "not a device; " ALLOWED);
    }
    if (GBA_OK == status)
        *path = parsed;
    return status;
}

/* FNV-1a, 64 bits (Fowler, Noll, Vo): the name of a job has any length and any characters. */
uint64_t gba_dev_job(const char *job)
{
    uint64_t hash = 0xcbf29ce484222325u;

    if (job == NULL)
        return (uint64_t)getpid();
    for (; '\0' != *job; job++)
        hash = (hash ^ (unsigned char)*job) * 0x100000001b3u;
    return hash;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The exchange of a bootstrap, call by call, among real processes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gba/bootstrap.h"
#include "tests/limit.h"

#define LENGTH_MAX      1000000u
#define SIZE_MAX_TESTED 8u

static const char help[] =
    "usage: exchange MODE [SIZE]\n"
    "\n"
    "With SIZE: as many processes with a unique id, made by a process that is no member. Without:\n"
    "one process, of a job that a launcher has started.\n"
    "\n"
    "  verify    each operation, with many lengths and roots, returns the right data\n"
    "  leave     rank 1 leaves before a call: the others learn that\n"
    "  late      rank 1 does not come to a call: the others learn that, after the timeout\n"
    "  mismatch  rank 1 makes another call: all learn that\n"
    "  twice     two processes are rank 1: one of them is refused, and the others go on\n"
    "  several   two bootstraps at a time; one is left before the other (not with SIZE)\n"
    "  choice    rank 1 makes another call while members choose a device: all learn that\n"
    "  teams     barriers of two teams meet, with GBA_SW_ENABLE=0: all learn that\n"
    "  key       a team on a switch, whose key file the program names: GBA_TEST_KEY_FILE\n";

#define CHECK(what)                                                              \
    do {                                                                         \
        if (!(what)) {                                                           \
            fprintf(stderr, "exchange: line %d: not so: %s\n", __LINE__, #what); \
            return 1;                                                            \
        }                                                                        \
    } while (0)

static int verify_length(const gba_oob_t *oob, size_t bytes)
{
    static uint8_t in[LENGTH_MAX + 1], out[SIZE_MAX_TESTED * LENGTH_MAX + 1];
    uint32_t root = (uint32_t)(bytes % oob->size);

    CHECK(bytes <= LENGTH_MAX && oob->size <= SIZE_MAX_TESTED);
    memset(in, (int)(oob->rank + bytes) & 0xFF, bytes);
    out[bytes * oob->size] = 0x5A;
    CHECK(GBA_OK == oob->allgather(oob->ctx, in, out, bytes));
    for (size_t i = 0; i < bytes * oob->size; i++)
        CHECK(out[i] == ((i / bytes + bytes) & 0xFF));
    CHECK(0x5A == out[bytes * oob->size]);
    CHECK(GBA_OK == gba_bootstrap_bcast(oob->ctx, in, bytes, root));
    for (size_t i = 0; i < bytes; i++)
        CHECK(in[i] == ((root + bytes) & 0xFF));
    return 0;
}

static int verify(const gba_oob_t *oob)
{
    static const size_t lengths[] = {0, 1, 2, 3, 8, 1000, 65537, LENGTH_MAX};
    uint64_t words[3] = {oob->rank + 5, UINT64_MAX - oob->rank,
                         oob->rank + 1 == oob->size ? 7 : UINT64_MAX};

    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        if (0 != verify_length(oob, lengths[i]))
            return 1;
    CHECK(GBA_OK == oob->min(oob->ctx, words, 3) && GBA_OK == oob->test(oob->ctx));
    CHECK(5 == words[0] && UINT64_MAX - oob->size + 1 == words[1] && 7 == words[2]);
    for (int i = 0; i < 20; i++)
        CHECK(GBA_OK == gba_bootstrap_barrier(oob->ctx));
    return 0;
}

/* The others make a call without rank 1; the cause has that text, and a second call fails, too. */
static int without_one(const gba_bootstrap_t *bootstrap, const char *text)
{
    const gba_oob_t *oob = gba_bootstrap_oob(bootstrap);

    CHECK(GBA_ERR_OOB == gba_bootstrap_barrier(oob->ctx));
    if (strstr(gba_bootstrap_message(bootstrap), text) == NULL)
        fprintf(stderr, "exchange: not \"%s\": %s\n", text, gba_bootstrap_message(bootstrap));
    CHECK(strstr(gba_bootstrap_message(bootstrap), text) != NULL);
    CHECK(GBA_ERR_OOB == gba_bootstrap_barrier(oob->ctx));
    return 0;
}

/* The calls of two bootstraps are apart, and the first continues when the second is left. */
static int several(const gba_oob_t *first)
{
    gba_bootstrap_t *bootstrap;
    const gba_oob_t *second;
    char message[256];
    int wrong;

    CHECK(GBA_OK == gba_bootstrap_init(NULL, &bootstrap, message, sizeof message));
    second = gba_bootstrap_oob(bootstrap);
    CHECK(second->rank == first->rank && second->size == first->size);
    wrong = verify_length(second, 8) | verify_length(first, 3000) | verify_length(second, 3000);
    gba_bootstrap_destroy(bootstrap);
    return wrong | verify_length(first, 8);
}

static int key(gba_bootstrap_t *bootstrap)
{
    gba_team_t *team;
    gba_params_t params;
    char message[256];
    bool on_switch;

    gba_params_default(&params);
    CHECK(GBA_OK == gba_params_environment(&params, message, sizeof message));
    params.switch_key_file = getenv("GBA_TEST_KEY_FILE");
    CHECK(GBA_OK == gba_bootstrap_team_create(bootstrap, &params, &team, message, sizeof message));
    on_switch = GBA_PATH_SWITCH == gba_team_path(team);
    gba_team_destroy(team);
    CHECK(on_switch);
    return 0;
}

/* As by two threads, which ranks run in different orders. No rank leaves early. */
static int teams(gba_bootstrap_t *bootstrap)
{
    gba_team_t *team[2];
    char message[256];

    for (int i = 0; i < 2; i++)
        CHECK(GBA_OK ==
              gba_bootstrap_team_create(bootstrap, NULL, &team[i], message, sizeof message));
    CHECK(GBA_OK == gba_barrier(team[0]));
    CHECK(GBA_ERR_BUSY == gba_barrier(team[0 == gba_bootstrap_oob(bootstrap)->rank]));
    CHECK(strstr(gba_bootstrap_message(bootstrap), "several teams") != NULL);
    gba_team_destroy(team[1]);
    gba_team_destroy(team[0]);
    return 0;
}

static int choice(gba_bootstrap_t *bootstrap)
{
    const gba_oob_t *oob = gba_bootstrap_oob(bootstrap);
    uint64_t words[] = {1, 0}; /* ready, with several choices */
    gba_team_t *team;
    char message[256], byte = 0;

    if (1 == oob->rank) {
        CHECK(GBA_OK == oob->min(oob->ctx, words, 2));
        CHECK(GBA_ERR_OOB == gba_bootstrap_bcast(oob->ctx, &byte, 1, 0));
        return 0;
    }
    CHECK(GBA_ERR_OOB ==
          gba_bootstrap_team_create(bootstrap, NULL, &team, message, sizeof message));
    CHECK(strstr(message, "not in step") != NULL);
    return 0;
}

static int member(const char *mode, const gba_bootstrap_uid_t *uid, uint32_t rank, uint32_t size)
{
    const gba_bootstrap_attr_t attr = {.uid = uid, .rank = rank, .size = size};
    gba_bootstrap_t *bootstrap;
    const gba_oob_t *oob;
    char message[256], byte = 0;
    int status = 0;

    if (GBA_OK != gba_bootstrap_init(&attr, &bootstrap, message, sizeof message)) {
        fprintf(stderr, "exchange: %s\n", message);
        return 3;
    }
    oob = gba_bootstrap_oob(bootstrap);
    if (0 == strcmp(mode, "verify") || 0 == strcmp(mode, "twice"))
        status = verify(oob);
    else if (0 == strcmp(mode, "several"))
        status = several(oob);
    else if (0 == strcmp(mode, "key"))
        status = key(bootstrap);
    else if (0 == strcmp(mode, "teams"))
        status = teams(bootstrap);
    else if (0 == strcmp(mode, "choice"))
        status = choice(bootstrap);
    else if (0 == strcmp(mode, "leave") && 1 != oob->rank)
        status = without_one(bootstrap, "rank 1 ");
    else if (0 == strcmp(mode, "late") && 1 != oob->rank)
        status = without_one(bootstrap, uid == NULL ? "timeout: some of" : "timeout: rank 1 of");
    else if (0 == strcmp(mode, "late"))
        sleep(test_limit(3)); /* longer than the timeout, see run */
    else if (0 == strcmp(mode, "mismatch") && 1 != oob->rank)
        status = without_one(bootstrap, "not in step");
    else if (0 == strcmp(mode, "mismatch"))
        status = GBA_ERR_OOB != gba_bootstrap_bcast(oob->ctx, &byte, 1, 0);
    gba_bootstrap_destroy(bootstrap);
    return status;
}

/* Start a member. On error it is not in this process's list of children. */
static pid_t start(const char *mode, const gba_bootstrap_uid_t *uid, uint32_t rank, uint32_t size)
{
    pid_t child = fork();

    if (0 == child)
        _exit(member(mode, uid, rank, size));
    return child;
}

static int all(const char *mode, uint32_t size)
{
    bool twice = 0 == strcmp(mode, "twice");
    uint32_t children = 0;
    gba_bootstrap_root_t *root;
    gba_bootstrap_uid_t uid;
    char message[256];
    int refused = 0, wrong = 0;

    if (GBA_OK != gba_bootstrap_uid_get(&uid, &root, message, sizeof message)) {
        fprintf(stderr, "exchange: %s\n", message);
        return 1;
    }
    /* Two processes claim rank 1, and rank 0 comes last, so that one of the two is refused before
     * all join. */
    if (twice) {
        children += start(mode, &uid, 1, size) > 0;
        children += start(mode, &uid, 1, size) > 0;
    }
    for (uint32_t rank = twice ? 2 : 0; rank < size; rank++)
        children += start(mode, &uid, rank, size) > 0;
    for (; children > 0; children--) {
        int status;

        if (wait(&status) < 0)
            break;
        if (twice && 0 == refused && WIFEXITED(status) && 3 == WEXITSTATUS(status)) {
            refused = 1;
            children += start(mode, &uid, 0, size) > 0;
        } else if (0 != status) {
            wrong++;
        }
    }
    gba_bootstrap_root_close(root, true);
    CHECK(0 == wrong && 0 == children && refused == (twice ? 1 : 0));
    return 0;
}

int main(int argc, char **argv)
{
    if (2 == argc && 0 == strcmp(argv[1], "--help"))
        return fputs(help, stdout) < 0;
    if (2 == argc)
        return member(argv[1], NULL, 0, 0);
    if (3 == argc && atoi(argv[2]) > 0)
        return all(argv[1], (uint32_t)atoi(argv[2]));
    fputs(help, stderr);
    return 2;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A whole runtime (gba/runtime.h), from `shared` to `prepare`: its members are processes that share
 * memory. Their barriers go on when the device dies.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gba/base/order.h"
#include "gba/gba.h"
#include "tests/limit.h"
#include "tests/suite.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define MEMBERS 3u

static struct {
    struct letter {
        gba_word_t state; /* 0: empty; 1: sent; 2: over */
        gba_notification_t notification;
    } box[MEMBERS][MEMBERS][64]; /* [to][from] */
    gba_word_t posted[MEMBERS], entered[MEMBERS], ended;
    unsigned char board[2][MEMBERS][8192];
} * shared;

static struct { /* this member */
    uint32_t rank, sent[MEMBERS];
    uint64_t operations, agreements;
    gba_device_t *device;
    gba_params_t params;
    gba_team_t *team;
} me;

static void send_to(uint32_t to, const gba_notification_t *notification)
{
    struct letter *letter = &shared->box[to][me.rank][me.sent[to]++];

    letter->notification = *notification;
    gba_word_store_release(&letter->state, 1);
}

/* Take what has come, and answer what can be answered. */
static int progress(void *ctx)
{
    for (uint32_t i = 0; i < 64 * MEMBERS; i++) {
        struct letter *letter = &shared->box[me.rank][i % MEMBERS][i / MEMBERS];
        gba_status_t status = GBA_OK;
        gba_notification_t answer;

        if (1 != gba_word_load_acquire(&letter->state))
            continue;
        (void)gba_notification_take(&letter->notification);
        if (!letter->notification.completed &&
            GBA_OK == (status = gba_notification_answer(&letter->notification, &answer)))
            send_to(i % MEMBERS, &answer);
        if (GBA_INPROGRESS != status)
            gba_word_store_relaxed(&letter->state, 2);
    }
    return 0;
}

static gba_status_t notify(void *ctx, bool complete)
{
    gba_notification_t notification;
    uint32_t to;

    while (GBA_OK == gba_team_notification(me.team, &notification, &to))
        send_to(to, &notification);
    return GBA_OK; /* what is sent has left this member */
}

/* Two boards: a member that writes to one has seen that all have read it. */
static gba_status_t allgather(void *ctx, const void *in, void *out, size_t bytes)
{
    me.operations++;
    memcpy(shared->board[me.operations % 2][me.rank], in, bytes);
    gba_word_store_release(&shared->posted[me.rank], me.operations);
    for (uint32_t r = 0; r < MEMBERS; r++) {
        while (gba_word_load_acquire(&shared->posted[r]) < me.operations)
            (void)progress(ctx); /* another member may need an answer to come here */
        memcpy((char *)out + r * bytes, shared->board[me.operations % 2][r], bytes);
    }
    return GBA_OK;
}

static gba_status_t min(void *ctx, uint64_t *words, uint32_t count)
{
    uint64_t all[MEMBERS * GBA_OOB_WORDS];
    const gba_status_t status = allgather(ctx, words, all, count * sizeof *words);

    for (uint32_t i = 0; i < MEMBERS * count; i++)
        words[i % count] = all[i] < words[i % count] ? all[i] : words[i % count];
    return status;
}

static gba_status_t test(void *ctx)
{
    return GBA_OK; /* the operations are complete when they return */
}

static void name_member(void *ctx, uint32_t rank, char *text, size_t len)
{
    snprintf(text, len, "process %u", rank);
}

static gba_status_t prepare(void *ctx, gba_due_t due, gba_team_attr_t *attr, gba_oob_t *oob)
{
    *attr = (gba_team_attr_t){.name = "all", .params = &me.params, .device = me.device};
    attr->id = ++me.agreements;
    attr->runtime = (gba_runtime_t){.progress = progress, .notify = notify, .prepare = prepare};
    *oob = (gba_oob_t){.rank = me.rank, .size = MEMBERS, .name_member = name_member};
    oob->min = min;
    oob->allgather = allgather;
    oob->test = test;
    return GBA_OK;
}

/* ------------------------------------------------------------------------------- its user --- */

#define ROUNDS 40u

static bool all_have_entered(uint64_t round)
{
    bool all = true;

    for (uint32_t r = 0; r < MEMBERS; r++)
        all = all && gba_word_load_relaxed(&shared->entered[r]) >= round;
    return all;
}

/* Returns the number of errors. */
static int member(const char *path)
{
    gba_team_attr_t attr;
    gba_oob_t oob;
    int errors;

    gba_params_default(&me.params);
    errors = GBA_OK != gba_device_init(path, NULL, &me.device);
    (void)prepare(NULL, GBA_DUE_CREATE, &attr, &oob);
    errors += GBA_OK != gba_team_create(&attr, &oob, &me.team);
    errors += GBA_PATH_SIM != gba_team_path(me.team);
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        gba_word_store_relaxed(&shared->entered[me.rank], round);
        errors += GBA_OK != gba_barrier(me.team) || !all_have_entered(round);
    }
    errors += GBA_PATH_SOFTWARE != gba_team_path(me.team);
    gba_word_add_relaxed(&shared->ended, 1);
    while (gba_word_load_relaxed(&shared->ended) < MEMBERS)
        (void)progress(NULL); /* another member may need an answer */
    gba_team_destroy(me.team);
    gba_device_fini(me.device);
    return errors;
}

/* In each order: the device releases some members in its last round. */
TEST(test_whole_runtime)
{
    char path[96];
    int status;

    for (uint32_t released = 0; released < MEMBERS; released++) {
        snprintf(path, sizeof path, "sim:runtime-%ld-%u?die_after=%u&die_release=%u",
                 (long)getpid(), released, ROUNDS / 2, released);
        shared =
            mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(shared, MAP_FAILED);
        for (uint32_t r = 0; r < MEMBERS; r++)
            if (0 == fork()) {
                alarm(test_limit(60));
                me.rank = r;
                _exit(member(path));
            }
        for (uint32_t r = 0; r < MEMBERS; r++) {
            assert_true(wait(&status) > 0);
            assert_int_equal(status, 0);
        }
        munmap(shared, sizeof *shared);
    }
}

TEST_MAIN()

/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/gpu/members.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/limit.h"

static gba_status_t oob_allgather(void *ctx, const void *in, void *out, size_t bytes)
{
    struct member *me = ctx;
    struct members *all = me->all;

    if (bytes > sizeof all->board[0])
        return GBA_ERR_OOB;
    memcpy(all->board[me->oob.rank], in, bytes);
    all->bytes[me->oob.rank] = bytes;
    pthread_barrier_wait(&all->barrier);
    for (uint32_t rank = 0; rank < all->size; rank++)
        if (all->bytes[rank] != bytes) {
            fprintf(stderr, "rank %u passes %zu bytes, rank %u %zu\n", me->oob.rank, bytes, rank,
                    all->bytes[rank]);
            return GBA_ERR_OOB;
        }
    for (uint32_t rank = 0; rank < all->size; rank++)
        memcpy((unsigned char *)out + rank * bytes, all->board[rank], bytes);
    pthread_barrier_wait(&all->barrier);
    return GBA_OK;
}

static gba_status_t oob_min(void *ctx, uint64_t *words, uint32_t count)
{
    const struct member *me = ctx;
    uint64_t every[MEMBERS_MAX][GBA_OOB_WORDS] = {{0}};

    if (GBA_OK != oob_allgather(ctx, words, every, count * sizeof *words))
        return GBA_ERR_OOB;
    for (uint32_t rank = 0; rank < me->oob.size; rank++)
        for (uint32_t i = 0; i < count; i++) {
            const uint64_t theirs = ((uint64_t *)every)[rank * count + i];

            words[i] = theirs < words[i] ? theirs : words[i];
        }
    return GBA_OK;
}

static gba_status_t oob_test(void *ctx)
{
    (void)ctx;
    return GBA_OK;
}

static void oob_name_member(void *ctx, uint32_t rank, char *text, size_t len)
{
    (void)ctx;
    snprintf(text, len, "rank %u", rank);
}

struct members *members_new(uint32_t size)
{
    struct members *all =
        mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_barrierattr_t shared;

    all->size = size;
    snprintf(all->job, sizeof all->job, "gpu-tests-%d", (int)getpid());
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&all->barrier, &shared, size);
    return all;
}

void member_init(struct member *me, struct members *all, uint32_t rank)
{
    *me = (struct member){.all = all,
                          .oob = {.ctx = me,
                                  .rank = rank,
                                  .size = all->size,
                                  .min = oob_min,
                                  .allgather = oob_allgather,
                                  .test = oob_test,
                                  .name_member = oob_name_member}};
}

int members_run(uint32_t size, int (*body)(struct member *me, void *arg), void *arg)
{
    struct members *all = members_new(size);
    struct member me;
    pid_t pids[MEMBERS_MAX];
    int failed = 0, status;

    fflush(NULL);
    for (uint32_t rank = 0; rank < size; rank++) {
        pids[rank] = fork();
        if (0 != pids[rank])
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* also if it is stopped */
        member_init(&me, all, rank);
        alarm(test_limit(60));
        status = body(&me, arg);
        fflush(NULL);
        _exit(status);
    }
    for (uint32_t left = size, waits = 0; left > 0;) {
        const pid_t ended = waitpid(-1, &status, 0 == failed ? 0 : WNOHANG);

        left -= ended > 0;
        failed += ended > 0 && 0 != status;
        for (uint32_t rank = 0; rank < size; rank++)
            pids[rank] = pids[rank] == ended ? 0 : pids[rank];
        if (ended > 0)
            continue;
        /* The others may wait for one that has failed. */
        usleep(10000);
        waits++;
        for (uint32_t rank = 0; waits == 100 * test_limit(8) && rank < size; rank++)
            if (0 != pids[rank])
                kill(pids[rank], SIGKILL);
    }
    munmap(all, sizeof *all);
    return failed;
}

/* An id of a team: unique enough in a test. */
static uint64_t new_id(const struct member *me)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + me->oob.rank;
}

gba_status_t member_team(struct member *me, const char *path, bool gpu)
{
    const gba_device_attr_t device = {.job = me->all->job};
    const uint32_t cores = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    char message[256];

    gba_params_default(&me->params);
    if (GBA_OK != gba_params_environment(&me->params, message, sizeof message)) {
        fprintf(stderr, "%s\n", message);
        return GBA_ERR_PARAM;
    }
    me->notices = (gba_notices_t){.oob = &me->oob, .all = me->gathered};
    if (path != NULL)
        me->device_status = gba_device_init(path, &device, &me->device);
    me->attr = (gba_team_attr_t){.name = "all",
                                 .params = &me->params,
                                 .device = me->device,
                                 .device_status = me->device_status,
                                 .remote = me->remote,
                                 .gpu = gpu,
                                 .oversubscribed = me->oob.size > cores / 2,
                                 .name_member = me->oob.name_member,
                                 .name_ctx = me->oob.ctx,
                                 .id = new_id(me)};
    return gba_team_create(&me->attr, &me->oob, &me->team);
}

void member_end(struct member *me)
{
    gba_team_destroy(me->team);
    gba_device_fini(me->device);
}

gba_status_t member_barrier(struct member *me)
{
    uint64_t word = 0;
    gba_status_t status;
    gba_due_t due;

    if (GBA_PATH_FALLBACK == gba_team_path(me->team)) {
        (void)me->oob.min(me->oob.ctx, &word, 1);
        status = gba_team_count(me->team);
    } else {
        status = gba_barrier_wait(me->team, NULL, NULL);
    }
    if (GBA_ERR_DEAD == status)
        status = gba_notices_complete(&me->notices, me->team);
    due = status < GBA_OK ? GBA_DUE_NOTHING : gba_team_due(me->team, true);
    if (GBA_DUE_NOTHING == due)
        return status < GBA_OK ? status : GBA_OK;
    status = gba_notices_meet(&me->notices, me->team);
    if (GBA_OK != status)
        return status;
    me->notices.latest = (gba_notification_t){0};
    me->attr.id = new_id(me);
    return (GBA_DUE_RECOVER == due ? gba_team_recover
            : GBA_DUE_TRIAL == due ? gba_team_trial
                                   : gba_team_renegotiate)(me->team, &me->attr, &me->oob);
}

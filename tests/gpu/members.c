/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/gpu/members.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tests/limit.h"

struct members *members_new(uint32_t size)
{
    struct members *all =
        mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    all->size = size;
    return all;
}

int members_run(uint32_t size, int (*body)(struct member *me, void *arg), void *arg)
{
    struct members *all = members_new(size);
    struct member me = {.all = all};
    int failed = (int)size, status; /* also one that could not begin */

    fflush(NULL);
    for (; me.rank < size; me.rank++) {
        if (0 != fork())
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* also if it is stopped */
        alarm(test_limit(60));
        status = body(&me, arg);
        fflush(NULL);
        _exit(status);
    }
    while (wait(&status) > 0)
        failed -= 0 == status;
    munmap(all, sizeof *all);
    return failed;
}

bool member_team(struct member *me, const char *device, bool gpu)
{
    const gba_bootstrap_attr_t attr = {.kind = GBA_BOOTSTRAP_UID,
                                       .uid = &me->all->uid,
                                       .rank = me->rank,
                                       .size = me->all->size,
                                       .gpu = gpu};
    char message[256] = "";
    gba_params_t params;
    gba_status_t status;

    gba_params_default(&params);
    status = gba_params_environment(&params, message, sizeof message);
    if (device != NULL)
        params.device_path = (char *)(uintptr_t)device; /* is not written to */
    if (GBA_OK == status && me->bootstrap == NULL && 0 == me->rank) {
        status = gba_bootstrap_uid_get(&me->all->uid, &me->root, message, sizeof message);
        word_set(&me->all->there, 1);
    }
    if (GBA_OK == status && me->bootstrap == NULL) {
        word_await(&me->all->there, 1);
        status = gba_bootstrap_init(&attr, &me->bootstrap, message, sizeof message);
    }
    if (GBA_OK == status)
        status =
            gba_bootstrap_team_create(me->bootstrap, &params, &me->team, message, sizeof message);
    if (GBA_OK != status)
        return fprintf(stderr, "FAIL: rank %u: %s\n", me->rank, message) < 0;
    me->attr = (gba_gpu_attr_t){0};
    return true;
}

void member_end(struct member *me)
{
    gba_team_destroy(me->team);
    gba_bootstrap_destroy(me->bootstrap);
    gba_bootstrap_root_close(me->root, true);
    *me = (struct member){.all = me->all, .rank = me->rank};
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of the simulator. A process may be killed at any instruction, also while it holds a lock.
 * The locks are robust: the next owner receives EOWNERDEAD and undoes the unfinished change from
 * the journal. An undone change never happened. It is a lost arrival, which the member's retry
 * repairs, or a call of a dead process.
 */
#include <errno.h>
#include <string.h>

#include "gba/base/log.h"
#include "sim/model/control.h"
#include "sim/model/event.h"
#include "sim/shm/fault.h"
#include "sim/shm/lock.h"

int gba_sim_lock_init(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attr;
    int err = pthread_mutexattr_init(&attr);

    if (0 != err)
        return err;
    err = pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    if (0 == err)
        err = pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    if (0 == err)
        err = pthread_mutex_init(lock, &attr);
    pthread_mutexattr_destroy(&attr);
    return err;
}

/* Copy a group. Only the entries of its members can differ from 0, because a command changes no
 * other one. A copy of three members is a quarter of the whole. */
static void group_copy(struct gba_model_group *to, const struct gba_model_group *from)
{
    const uint32_t members = from->record.members;

    to->core = from->core;
    memcpy(to->table, from->table, members * sizeof from->table[0]);
    memcpy(to->bound, from->bound, members * sizeof from->bound[0]);
    to->record = from->record;
}

/* Make the journal valid: from here on an undo uses the copies. */
static void journal_open(struct gba_sim_journal *journal, uint32_t what)
{
    gba_fence_compiler(); /* the copies are complete before the journal is valid */
    gba_word_store_relaxed(&journal->what, what);
    gba_fence_compiler(); /* the journal is valid before the first change */
}

void gba_sim_journal_begin(struct gba_sim_segment *segment, uint32_t group, uint32_t what)
{
    struct gba_sim_journal *journal = &segment->group[group].journal;
    const struct gba_model_group *model = &segment->model.group[group];

    if (0 != (what & GBA_SIM_JOURNAL_CORE))
        journal->group.core = model->core;
    if (0 != (what & GBA_SIM_JOURNAL_GROUP))
        group_copy(&journal->group, model);
    journal_open(journal, what);
}

void gba_sim_journal_end(struct gba_sim_segment *segment, uint32_t group)
{
    gba_fence_compiler(); /* all changes precede the commit */
    gba_word_store_relaxed(&segment->group[group].journal.what, 0);
    gba_fence_compiler(); /* the commit precedes the first release store */
}

/* Restartable: the journal stays valid until the end. If the holder dies here, the next lock owner
 * repeats the undo. */
void gba_sim_journal_undo(struct gba_sim_segment *segment, uint32_t group)
{
    struct gba_sim_journal *journal = &segment->group[group].journal;
    struct gba_model_group *model = &segment->model.group[group];
    uint64_t what = gba_word_load_relaxed(&journal->what);

    gba_fence_compiler(); /* pairs with the first fence of journal_open */
    if (0 != (what & GBA_SIM_JOURNAL_CORE))
        model->core = journal->group.core;
    if (0 != (what & GBA_SIM_JOURNAL_GROUP))
        group_copy(model, &journal->group);
    gba_sim_journal_end(segment, group);
}

static gba_status_t lock_failed(int err)
{
    gba_log(GBA_LOG_ERROR, "sim: cannot lock the simulated device: %s", strerror(err));
    return GBA_ERR_IO;
}

/* The attempts before a sleep. A holder keeps the lock for a few hundred ns. pthread_mutex_lock on
 * a robust mutex sleeps at once, which takes longer. */
#define LOCK_SPINS 100

static int lock_take(pthread_mutex_t *lock)
{
    int err = pthread_mutex_trylock(lock);

    for (int i = 0; EBUSY == err && i < LOCK_SPINS; i++) {
        gba_cpu_pause();
        err = pthread_mutex_trylock(lock);
    }
    return EBUSY == err ? pthread_mutex_lock(lock) : err;
}

gba_status_t gba_sim_group_lock(struct gba_sim_segment *segment, uint32_t group)
{
    pthread_mutex_t *lock = &segment->group[group].lock;
    int err = lock_take(lock);

    if (__builtin_expect(0 == err, 1))
        return GBA_OK;
    if (EOWNERDEAD != err)
        return lock_failed(err);
    gba_log(GBA_LOG_DEBUG,
            "sim: group %u: the holder of the lock was killed; the group was repaired", group);
    gba_sim_journal_undo(segment, group);
    pthread_mutex_consistent(lock);
    return GBA_OK;
}

gba_status_t gba_sim_group_lock_alive(struct gba_sim_segment *segment, uint32_t group)
{
    gba_status_t status = gba_sim_group_lock(segment, group);

    if (GBA_OK == status && gba_sim_dead(segment)) {
        gba_sim_group_unlock(segment, group);
        status = GBA_ERR_DEAD;
    }
    return status;
}

void gba_sim_group_unlock(struct gba_sim_segment *segment, uint32_t group)
{
    pthread_mutex_unlock(&segment->group[group].lock);
}

gba_status_t gba_sim_device_lock(struct gba_sim_segment *segment)
{
    int err = pthread_mutex_lock(&segment->lock);

    /* No repair is needed: the lock guards ports, whose claim can be repeated. */
    if (EOWNERDEAD == err)
        err = pthread_mutex_consistent(&segment->lock);
    return 0 == err ? GBA_OK : lock_failed(err);
}

void gba_sim_device_unlock(struct gba_sim_segment *segment)
{
    pthread_mutex_unlock(&segment->lock);
}

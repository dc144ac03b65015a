/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of the simulator. A process may be killed at any instruction, also while it holds one: the
 * lock is robust, so the next in line is told, and takes back from the journal what the dead one
 * had half done. What is taken back never happened: a lost arrival, which the retry of its sender
 * mends, or a call of somebody who is dead.
 */
#include <errno.h>
#include <string.h>

#include "gba/base/log.h"
#include "gba/dev/sim.h"

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

/* The others have no memory reserved, and no call changes them. */
static bool has_seat(const struct gba_driver_record *record, uint32_t member)
{
    return member < record->head.members;
}

/* What was copied counts from here on. */
static void journal_open(struct gba_sim_journal *journal, uint32_t what)
{
    gba_fence_compiler(); /* the copies are whole before the journal counts */
    gba_word_store_relaxed(&journal->what, what);
    gba_fence_compiler(); /* and it counts before the first change */
}

void gba_sim_journal_begin(struct gba_sim_segment *segment, uint32_t group, uint32_t what,
                           uint32_t place, uint32_t member)
{
    struct gba_sim_journal *journal = &segment->group[group].journal;
    const struct gba_model_group *model = &segment->model.group[group];
    const struct gba_driver_record *record = &segment->place[place].record;

    journal->place = place;
    if (0 != (what & GBA_SIM_JOURNAL_CORE))
        journal->core = model->core;
    if (0 != (what & GBA_SIM_JOURNAL_HEAD))
        journal->head = record->head;
    if (0 != (what & GBA_SIM_JOURNAL_SEAT)) {
        journal->member = member;
        if (has_seat(record, member))
            journal->seat = record->seat[member];
        journal->address = model->table[member];
    }
    journal_open(journal, what);
}

void gba_sim_journal_reclaim(struct gba_sim_segment *segment, uint32_t group, uint32_t next)
{
    struct gba_sim_journal *journal = &segment->group[group].journal;

    journal->place = segment->group[group].place;
    journal->next = next;
    journal->reclaims = segment->group[group].reclaims + 1;
    journal_open(journal, GBA_SIM_JOURNAL_RECLAIM);
}

void gba_sim_journal_end(struct gba_sim_segment *segment, uint32_t group)
{
    gba_fence_compiler(); /* all changes are made before they stand */
    gba_word_store_relaxed(&segment->group[group].journal.what, 0);
    gba_fence_compiler(); /* and they stand before a release store tells of them */
}

/* Complete a RESET that began: the journal has no copy of the release table. */
static void reset_again(struct gba_sim_segment *segment, uint32_t group)
{
    const struct gba_model_access reset = {
        .write = true,
        .width = 4,
        .address = GBA_GROUP_REG(group, GBA_REG_CONTROL),
        .value = GBA_CONTROL_RESET,
    };
    struct gba_model_effects effects;

    gba_model_access(&segment->model, &reset, &effects);
}

/* Whoever is killed in here leaves it to the next to begin anew: the journal counts to the end. */
void gba_sim_journal_undo(struct gba_sim_segment *segment, uint32_t group)
{
    struct gba_sim_journal *journal = &segment->group[group].journal;
    struct gba_model_group *model = &segment->model.group[group];
    struct gba_driver_record *record = &segment->place[journal->place].record;
    uint64_t what = gba_word_load_relaxed(&journal->what);

    gba_fence_compiler(); /* pairs with the first fence of journal_open */
    if (0 != (what & GBA_SIM_JOURNAL_RECLAIM))
        gba_sim_reclaim(segment, group);
    if (0 != (what & GBA_SIM_JOURNAL_CORE))
        model->core = journal->core;
    if (0 != (what & GBA_SIM_JOURNAL_RESET))
        reset_again(segment, group);
    if (0 != (what & GBA_SIM_JOURNAL_HEAD))
        record->head = journal->head;
    if (0 != (what & GBA_SIM_JOURNAL_SEAT)) {
        if (has_seat(record, journal->member))
            record->seat[journal->member] = journal->seat;
        model->table[journal->member] = journal->address;
    }
    /* A reaper takes several seats at a time: the counts follow the seats. What is free and not the
     * group's place needs no repair, and must not get it: that resets the group. */
    if (0 != (what & GBA_SIM_JOURNAL_HEAD) &&
        (journal->place == segment->group[group].place || GBA_GROUP_FREE != record->head.state))
        gba_driver_repair(record, model);
    gba_sim_journal_end(segment, group);
}

static gba_status_t lock_failed(int err)
{
    gba_log(GBA_LOG_ERROR, "sim: cannot lock the simulated device: %s", strerror(err));
    return GBA_ERR_IO;
}

/* A holder is done in a few hundred ns: sleeping, as a robust mutex does at once, takes longer. */
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
    gba_log(GBA_LOG_DEBUG, "sim: group %u: the holder of its lock was killed, repaired", group);
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

    /* What it guards is one word of the device page, which is written at once, and places that were
     * taken and not used yet, which gba_sim_reap finds: there is nothing to repair. */
    if (EOWNERDEAD == err)
        err = pthread_mutex_consistent(&segment->lock);
    return 0 == err ? GBA_OK : lock_failed(err);
}

void gba_sim_device_unlock(struct gba_sim_segment *segment)
{
    pthread_mutex_unlock(&segment->lock);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of the simulator. A process may be killed at any instruction, also while it holds a lock
 * and has changed a part of what the lock guards. The locks are robust: the next process receives
 * EOWNERDEAD. It marks the group as damaged and the device as dead before anything that the lock
 * guards is read.
 */
#include <errno.h>
#include <string.h>

#include "gba/base/log.h"
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
    struct gba_sim_group *g = &segment->group[group];
    int err = lock_take(&g->lock);

    if (__builtin_expect(0 == err && !g->damaged, 1))
        return GBA_OK;
    if (!gba_sim_dead(segment))
        gba_log(GBA_LOG_DEBUG, "sim: group %u: %s; the device is dead", group,
                EOWNERDEAD == err ? "the holder of the lock was killed" : strerror(err));
    gba_word_store_relaxed(&segment->dead, 1);
    if (EOWNERDEAD == err) {
        g->damaged = true;
        /* glibc's pthread_mutex_trylock of a lock that is not made consistent fails with
         * ENOTRECOVERABLE and keeps it. */
        err = pthread_mutex_consistent(&g->lock);
    }
    if (0 == err)
        pthread_mutex_unlock(&g->lock);
    return GBA_ERR_DEAD;
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

/* In ascending order, so that two processes do not wait for each other. */
gba_status_t gba_sim_lock_all(struct gba_sim_segment *segment)
{
    for (uint32_t group = 0; group < GBA_GROUPS; group++)
        if (GBA_OK != gba_sim_group_lock_alive(segment, group)) {
            while (group-- > 0)
                gba_sim_group_unlock(segment, group);
            return GBA_ERR_DEAD;
        }
    return GBA_OK;
}

void gba_sim_unlock_all(struct gba_sim_segment *segment)
{
    for (uint32_t group = GBA_GROUPS; group-- > 0;)
        gba_sim_group_unlock(segment, group);
}

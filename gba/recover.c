/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of rounds that a dead device leaves behind.
 *
 * Dead for this team, that is: to its members a group that was taken back for another team is the
 * same. It completes no round any more either, whichever round a member was in.
 *
 * Some members may have seen a round's release and gone on, to a receive from a member that has
 * not, or to MPI_Finalize: nobody can be asked to join a collective call. So members tell each
 * other what they know, in notices that the runtime carries and takes in whatever call it is in:
 *
 *   arrived n: I am in round n, and do not count on the device any more;
 *   over n:    the answer, as soon as it is so: I have completed round n, or have left the team,
 *              and nobody leaves a team before all its rounds are complete.
 *
 * Round n is over for a member in it when the device says so after all, when another member says
 * "over n", or when all others have said "arrived n" or later. Each of the three means that all
 * have arrived at n. Nobody ever says that a round is not over, so nothing that was said can turn
 * out wrong, in whatever order notices and a late release come in. (An exchange of "no" needs every
 * member to be held where it is, against its own device and its own threads.)
 *
 * That nobody is left behind: a member that cannot see the end of n tells all others. Each either
 * has completed n, and answers; or is in n or comes to it, and is told that the device is lost, so
 * it tells all others in turn. If nobody has completed n all tell all, and that completes it. If n
 * was already over for the teller itself, it answers what it is asked.
 *
 * Members differ by one round at most, as ever, so "arrived n + 1" says "arrived n" as well.
 *
 * When to leave the device together. That takes a collective call, so all must choose the same
 * round m. A member that knows at the start of a round that the device is lost does not arrive
 * there: "aside since s" is in all its notices. If anybody is aside in m, the device cannot release
 * m, so nobody completes m without notices: either all the members' own, or an "over m" of one that
 * had these; all of them carry the least s that is known, and so everybody knows, when it completes
 * m, of an s <= m. If nobody is aside in m there is no s <= m to know of. So "s <= m" is the same
 * on all members when they complete m, however they do. All are in the same call then, so that if
 * it is one that may block, they agree there (gba_team_recover), and all have completed the same
 * rounds. A member that has left the team says nothing of s: it has gone through no such m, or it
 * would have been in that agreement until all came; or m was the last round of all.
 *
 * Until then, from m + 1 on, rounds end without notices (interim.c). All know at its beginning that
 * m + 1 is such a round, so all of its messages are sent and taken. Questions about m and what came
 * before are answered as ever.
 *
 * Several islands (software_islands.c): the round of all this is a barrier, of two rounds of the
 * islands' groups, and "the device says so" is the release of the second; that of the first says
 * only that one island has arrived. So whatever way a member hears that n is over, all have arrived
 * at n. Three things are different.
 *
 * The device of one island dies, and those of others only stay silent. Whoever is in the group of
 * the dead one looks at its registers while it waits, and tells all members of the team. They are
 * lost then, as if it were their own device, and tell all in turn.
 *
 * The heads of the islands owe each other messages. Nobody may leave the team with one of them
 * missing or on its way, for what comes next over the same connection would take it for its own. So
 * the head of an island leaves n when n is over and the barrier among the heads is complete for it
 * (gba_software_finish). If notices were faster than its island it begins that barrier then: all
 * have arrived at n, so what it tells the other heads is true. It ends, since each head has been
 * through the heads' barrier of n, or is in n and is told that n is over: a head that waits like
 * this is lost and tells all, as everybody does who is lost and cannot leave.
 *
 * Such messages must not make a device release m where somebody, say X, is aside: who completes m
 * by that release may not have heard of s yet. So a head that is lost does not arrive at the second
 * round, nor leave without notices if it is alone on its island (gba_software_hold). Then nobody
 * completes m by a release. That takes the part of every head in the heads' barrier of m; the head
 * of X's island has its part only when it knows by notices that m is over; and whoever knew that
 * first had been told by all others, heads included, that they are in m and lost.
 */
#include <pthread.h>
#include <string.h>

#include "gba/engine.h"
#include "gba/recover.h"

struct gba_recovery {
    uint64_t id;
    gba_word_t lost; /* 1: somebody has found the device dead */
    bool aside;      /* the round under way was begun after that */
    /* Under the lock: */
    uint64_t since; /* the first round known that somebody began after that */
    uint64_t over;  /* the last round that somebody said is over */
    const struct gba_team *team;
    struct gba_recovery *next, **link; /* of those registered; link NULL: not one of them */
    uint32_t size;
    uint64_t arrived[]; /* the last round of each member that it is known to have arrived at */
};

/* Notices come in from any thread, and for all teams of the process. Held for a few loads only. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gba_recovery *registered;

size_t gba_recovery_bytes(uint32_t size)
{
    return sizeof(struct gba_recovery) + size * sizeof(uint64_t);
}

void gba_recovery_register(struct gba_team *team, uint64_t id)
{
    struct gba_recovery *recovery = (struct gba_recovery *)(team + 1);

    /* It is not the first one perhaps, but the one before is not registered any more. */
    memset(recovery, 0, gba_recovery_bytes(team->size));
    recovery->size = team->size;
    recovery->since = UINT64_MAX;
    team->recovery = recovery;
    if (0 == id)
        return;
    pthread_mutex_lock(&lock);
    recovery->id = id;
    recovery->team = team;
    recovery->next = registered;
    recovery->link = &registered;
    if (NULL != recovery->next)
        recovery->next->link = &recovery->next;
    registered = recovery;
    pthread_mutex_unlock(&lock);
}

void gba_recovery_end(struct gba_team *team)
{
    struct gba_recovery *recovery = team->recovery;

    if (NULL == recovery)
        return;
    pthread_mutex_lock(&lock);
    if (NULL != recovery->link) {
        *recovery->link = recovery->next;
        if (NULL != recovery->next)
            recovery->next->link = recovery->link;
    }
    pthread_mutex_unlock(&lock);
    team->recovery = NULL;
    gba_interim_close(team);
}

static struct gba_recovery *recovery_find(uint64_t id)
{
    struct gba_recovery *recovery = registered;

    while (NULL != recovery && recovery->id != id)
        recovery = recovery->next;
    return recovery;
}

/* Whether this team can do without its device. */
static bool recovery_has(const struct gba_team *team)
{
    return NULL != team->recovery && NULL != team->recovery->link;
}

void gba_recovery_lose(struct gba_team *team)
{
    if (recovery_has(team))
        gba_word_store_relaxed(&team->recovery->lost, 1);
}

bool gba_recovery_lost(const struct gba_team *team)
{
    return NULL != team->recovery && 0 != gba_word_load_relaxed(&team->recovery->lost);
}

void gba_recovery_begin(struct gba_team *team)
{
    struct gba_recovery *recovery = team->recovery;

    recovery->aside = true;
    pthread_mutex_lock(&lock);
    if (recovery->since > gba_team_rounds(team) + 1)
        recovery->since = gba_team_rounds(team) + 1;
    pthread_mutex_unlock(&lock);
}

/* Whether notices say that all members have arrived at round n. */
static bool round_over(const struct gba_recovery *recovery, uint64_t n)
{
    if (recovery->over >= n)
        return true;
    for (uint32_t member = 0; member < recovery->size; member++)
        if (member != recovery->team->rank && recovery->arrived[member] < n)
            return false;
    return true;
}

bool gba_recovery_arrived(const struct gba_team *team, uint32_t member)
{
    bool arrived;

    if (member == team->rank)
        return true;
    pthread_mutex_lock(&lock);
    arrived = team->recovery->arrived[member] > gba_team_rounds(team);
    pthread_mutex_unlock(&lock);
    return arrived;
}

gba_status_t gba_recovery_test(struct gba_team *team)
{
    struct gba_recovery *recovery = team->recovery;
    bool over;

    /* The lock is the acquire: a thread that took the notice has released it since. What the
     * members wrote before they arrived is ordered before their notices by the runtime. */
    pthread_mutex_lock(&lock);
    over = round_over(recovery, gba_team_rounds(team) + 1);
    pthread_mutex_unlock(&lock);
    if (over)
        return NULL != team->software ? gba_software_finish(team->software) : GBA_OK;
    if (recovery->aside)
        return GBA_INPROGRESS;
    if (NULL == team->software)
        return gba_poll_release(team->state);
    gba_software_hold(team->software);
    return gba_software_test(team->software);
}

gba_status_t gba_team_notice(const gba_team_t *team, gba_notice_t *notice)
{
    if (!gba_recovery_lost(team) || !team->under_way || team->interim.under_way)
        return GBA_ERR_BUSY;
    pthread_mutex_lock(&lock);
    *notice = (gba_notice_t){.team = team->recovery->id,
                             .round = gba_team_rounds(team) + 1,
                             .since = team->recovery->since,
                             .member = team->rank};
    pthread_mutex_unlock(&lock);
    return GBA_OK;
}

gba_status_t gba_notice_take(const gba_notice_t *notice)
{
    struct gba_recovery *recovery;
    gba_status_t status = GBA_ERR_STALE;

    pthread_mutex_lock(&lock);
    recovery = recovery_find(notice->team);
    if (NULL != recovery) {
        status = notice->member < recovery->size ? GBA_OK : GBA_ERR_PARAM;
        if (GBA_OK == status) {
            uint64_t *known = notice->over ? &recovery->over : &recovery->arrived[notice->member];

            if (*known < notice->round)
                *known = notice->round;
            if (recovery->since > notice->since)
                recovery->since = notice->since;
            /* For the others it is dead, and what one member does not arrive at does not end. */
            gba_word_store_relaxed(&recovery->lost, 1);
        }
    }
    pthread_mutex_unlock(&lock);
    return status;
}

gba_status_t gba_notice_answer(const gba_notice_t *notice, gba_notice_t *answer)
{
    const struct gba_recovery *recovery;
    gba_status_t status = GBA_OK;
    uint64_t since = UINT64_MAX;

    pthread_mutex_lock(&lock);
    recovery = recovery_find(notice->team);
    if (NULL != recovery) {
        /* Another thread may be counting: then it is seen next time. Acquire: pairs with
         * gba_team_complete. */
        if (gba_word_load_acquire(&recovery->team->rounds) < notice->round)
            status = GBA_INPROGRESS;
        since = recovery->since;
    }
    pthread_mutex_unlock(&lock);
    if (GBA_OK == status)
        *answer =
            (gba_notice_t){.team = notice->team, .round = notice->round, .since = since, .over = 1};
    return status;
}

bool gba_team_recover_due(const gba_team_t *team)
{
    bool due = false;

    if (NULL == team || !gba_recovery_lost(team))
        return false;
    pthread_mutex_lock(&lock);
    due = team->recovery->since <= gba_team_rounds(team);
    pthread_mutex_unlock(&lock);
    return due;
}

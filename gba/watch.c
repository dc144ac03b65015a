/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The watchdog of a barrier that does not end: it mends what got lost on the way to or from the
 * device, and says who is missing. It runs in gba_barrier_progress, so only in barriers that take
 * longer than a few looks, and the fast path pays nothing for it.
 */
#include <stdio.h>
#include <string.h>

#include "gba/base/clock.h"
#include "gba/base/log.h"
#include "gba/engine.h"

/* The pauses between two looks at the registers double up to this many times retry_after. */
#define RETRY_FACTOR_MAX 16u

/* Missing members that a line names; a longer list helps nobody. */
#define NAMED 8u

/* Without the device: by notices all tell each other, and that is all there is to see; by messages
 * they tell only their neighbours. */
static enum gba_arrived lost_arrived(const struct gba_team *team, uint32_t member)
{
    if (!team->interim.under_way)
        return gba_recovery_arrived(team, member) ? GBA_ARRIVED_YES : GBA_ARRIVED_NO;
    return member == team->rank ? GBA_ARRIVED_YES : GBA_ARRIVED_UNKNOWN;
}

/* Who is late, of those that this member waits for over messages, or UINT32_MAX. */
static uint32_t late_source(const struct gba_team *team)
{
    if (team->interim.under_way)
        return gba_interim_late_source(team);
    return NULL == team->software ? UINT32_MAX : gba_software_late_source(team->software);
}

/* Whether a member has arrived in the round under way, as far as this one can see. group: as
 * stuck_tell. */
static enum gba_arrived team_arrived(const struct gba_team *team, const gba_group_state_t *group,
                                     uint32_t member)
{
    if (gba_recovery_lost(team))
        return lost_arrived(team, member);
    if (NULL != team->software)
        return gba_software_arrived(team->software, group, member);
    if (NULL == group)
        return member == team->rank ? GBA_ARRIVED_YES : GBA_ARRIVED_UNKNOWN;
    if (group->arrived_mask[member / 64] >> (member % 64) & 1)
        return GBA_ARRIVED_YES;
    return GBA_ARRIVED_NO;
}

static void name_member(const struct gba_team *team, uint32_t member, char *text, size_t len)
{
    if (NULL != team->name_member)
        team->name_member(team->name_ctx, member, text, len);
    else
        snprintf(text, len, "member %u", member);
}

/* The same for one that has not arrived, or for whom nobody knows which of his node has not. */
static void name_missing(const struct gba_team *team, uint32_t member, char *text, size_t len)
{
    size_t used;

    name_member(team, member, text, len);
    used = strlen(text);
    if (NULL != team->software && !gba_recovery_lost(team))
        snprintf(text + used, len - used, "%s", gba_software_stands_for(team->software, member));
}

/* What one member can see of a round that does not end. */
struct picture {
    uint32_t arrived, unknown, missing;
    uint32_t first; /* lowest that has arrived */
    char names[640];
};

static void picture_take(struct picture *picture, const struct gba_team *team,
                         const gba_group_state_t *group)
{
    char one[128];
    size_t used = 0;

    memset(picture, 0, sizeof *picture);
    picture->first = team->size;
    for (uint32_t member = 0; member < team->size; member++) {
        enum gba_arrived state = team_arrived(team, group, member);

        picture->unknown += GBA_ARRIVED_UNKNOWN == state;
        picture->arrived += GBA_ARRIVED_YES == state;
        if (GBA_ARRIVED_YES == state && member < picture->first)
            picture->first = member;
        if (GBA_ARRIVED_NO != state || picture->missing++ >= NAMED || used >= sizeof picture->names)
            continue;
        name_missing(team, member, one, sizeof one);
        used += (size_t)snprintf(picture->names + used, sizeof picture->names - used, "%s%s",
                                 0 == used ? "" : ", ", one);
    }
    if (picture->missing > NAMED && used < sizeof picture->names)
        snprintf(picture->names + used, sizeof picture->names - used, " and %u more",
                 picture->missing - NAMED);
}

/*
 * Who share a host, or a device, see the same picture, and the lowest of those that have arrived
 * speaks for all. If they miss nobody, the members of other hosts know better who is late; but
 * there may be nobody, so who waits for that host's first signal speaks. Who cannot look at its
 * group sees nothing that others would see, too, and speaks for itself.
 */
static bool stuck_speaks(const struct gba_team *team, const gba_group_state_t *group,
                         struct picture *picture)
{
    uint32_t source;

    if (picture->missing > 0)
        return picture->first == team->rank;
    source = late_source(team);
    if (UINT32_MAX == source)
        return NULL == group;
    name_missing(team, source, picture->names, sizeof picture->names);
    return true;
}

/* group: what its registers say, NULL if they could not be looked at; nobody asks that of a lost
 * team. now: ns. */
static void stuck_tell(struct gba_team *team, const gba_group_state_t *group, uint64_t now)
{
    uint64_t seconds = (now - team->began) / 1000000000u;
    struct picture picture;
    char unknown[64] = "";

    team->stuck_due = UINT64_MAX; /* once */
    picture_take(&picture, team, group);
    team->stuck_told = stuck_speaks(team, group, &picture);
    if (!team->stuck_told)
        return;
    if (picture.unknown > 0)
        snprintf(unknown, sizeof unknown, " (of %u it is not known here)", picture.unknown);
    gba_log(GBA_LOG_TEAM,
            "%s: barrier %llu (%s%s) has not ended for %llu s: %u of %u members have "
            "arrived%s%s%s",
            team->name, (unsigned long long)team->watched, gba_path_name(team->path),
            gba_recovery_lost(team) ? ", lost" : "", (unsigned long long)seconds, picture.arrived,
            team->size, unknown, '\0' == picture.names[0] ? "" : "; missing: ", picture.names);
}

/* A barrier that was told of has come to its end, or the next one is under way. */
void gba_watch_over(struct gba_team *team)
{
    if (team->stuck_told)
        gba_log(GBA_LOG_TEAM, "%s: barrier %llu has ended after %llu s", team->name,
                (unsigned long long)team->watched,
                (unsigned long long)((gba_clock_ns() - team->began) / 1000000000u));
    team->stuck_told = false;
}

/* Ask the device what became of this round, and mend what was lost. */
static gba_status_t watch_mend(struct gba_team *team, const gba_group_state_t *group)
{
    struct gba_local_state *state = gba_team_awaits(team);
    bool over;

    if (NULL == state)
        return GBA_INPROGRESS; /* a leader that gathers: it has not arrived */
    over = GBA_SEQ_REACHED(group->sequence, state->sequence);
    if (over) {
        /* The round is over, and yet the flag does not say so: ask for the release again. It may
         * have come since we last looked, and then a second one does no harm. */
        if (GBA_OK == gba_poll_release(state))
            return GBA_INPROGRESS; /* the caller's next test sees it */
        team->stats.retries_release++;
    } else if (0 == (group->arrived_mask[state->member / 64] >> (state->member % 64) & 1)) {
        team->stats.retries_arrival++;
    } else {
        return GBA_INPROGRESS; /* the others are late */
    }
    gba_log(GBA_LOG_INFO, "%s: round %u: %s was lost, sent the arrival again", team->name,
            state->sequence, over ? "a release" : "an arrival");
    gba_resend_arrival(state);
    return GBA_INPROGRESS;
}

/* Look at the registers, if there are any. GBA_OK, GBA_ERR_DEAD, GBA_ERR_RECLAIMED; GBA_INPROGRESS:
 * it cannot. */
static gba_status_t watch_inspect(struct gba_team *team, gba_group_state_t *group)
{
    gba_status_t status;

    memset(group, 0, sizeof *group);
    if (NULL == gba_team_group(team))
        return GBA_OK;
    status = gba_group_inspect(gba_team_group(team), group);
    if (GBA_OK == status || GBA_ERR_DEAD == status || GBA_ERR_RECLAIMED == status)
        return status;
    /* Not a reason to give up the round: the device may still release it. */
    if (!team->inspect_failed)
        gba_log(GBA_LOG_ERROR, "%s: cannot look at the registers of its group: %s", team->name,
                gba_status_text(status));
    team->inspect_failed = true;
    return GBA_INPROGRESS;
}

/* The first look of a round. */
static void watch_begin(struct gba_team *team, uint64_t now)
{
    gba_watch_over(team);
    team->watched = gba_team_rounds(team) + 1;
    team->began = now;
    team->retry_factor = 1;
    team->retry_due = now + team->retry_after;
    team->stuck_due = 0 == team->stuck_after ? UINT64_MAX : now + team->stuck_after;
}

/* This member has found that the group is of no use any more. loss: GBA_ERR_DEAD or
 * GBA_ERR_RECLAIMED. */
static gba_status_t watch_lost(struct gba_team *team, gba_status_t loss)
{
    team->loss = loss;
    if (NULL != team->software)
        gba_software_tell_death(team->software);
    gba_recovery_lose(team);
    return GBA_ERR_DEAD;
}

gba_status_t gba_watch(struct gba_team *team)
{
    const struct gba_local_state *state = gba_team_state(team);
    gba_group_state_t group;
    uint64_t now = gba_clock_ns();
    bool retry, stuck;
    gba_status_t status;

    /* Rounds are counted when they end, so this is a new one if the count says so: the fast path
     * need not tell us. */
    if (team->watched != gba_team_rounds(team) + 1)
        watch_begin(team, now);
    /* It can be that the node was released before its leader found the device dead, and that this
     * member has not seen it yet: gba_team_recover completes the round then. */
    if (NULL != team->software && gba_software_dead(team->software)) {
        gba_recovery_lose(team);
        if (!gba_recovery_lost(team))
            return GBA_ERR_DEAD; /* a team without notices */
    }
    retry = NULL != gba_team_group(team) && now >= team->retry_due;
    stuck = now >= team->stuck_due;
    if (gba_recovery_lost(team)) {
        memset(&group, 0, sizeof group);
        if (stuck)
            stuck_tell(team, &group, now);
        return team->interim.under_way ? GBA_INPROGRESS : GBA_ERR_DEAD;
    }
    if (NULL != state && gba_state_reclaimed(state))
        return watch_lost(team, GBA_ERR_RECLAIMED);
    if (!retry && !stuck)
        return GBA_INPROGRESS;

    status = watch_inspect(team, &group);
    if (stuck && (GBA_OK == status || GBA_INPROGRESS == status))
        stuck_tell(team, GBA_OK == status ? &group : NULL, now);
    if (retry) {
        if (team->retry_factor < RETRY_FACTOR_MAX)
            team->retry_factor *= 2;
        team->retry_due = now + team->retry_after * team->retry_factor;
        if (GBA_OK == status)
            status = watch_mend(team, &group);
    }
    return GBA_ERR_DEAD == status || GBA_ERR_RECLAIMED == status ? watch_lost(team, status)
                                                                 : GBA_INPROGRESS;
}

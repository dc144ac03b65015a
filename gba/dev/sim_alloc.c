/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who gets a group of the simulated device: ALLOC, with all that it may have to do first. Groups
 * come back from processes that are dead, and from teams that hardly use theirs.
 */
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "gba/base/log.h"
#include "gba/dev/sim.h"

void gba_sim_place_put(struct gba_sim_segment *segment, uint32_t group, uint32_t place)
{
    if (segment->group[group].place == place ||
        GBA_GROUP_FREE != segment->place[place].record.head.state)
        return;
    /* Release: pairs with place_find; who takes the place next comes after all that was done there.
     * Nobody polls a flag of it any more. */
    gba_word_store_release(&segment->home[place], 0);
}

/* A place that was taken by somebody who was killed before he used it is put back here, too. */
static uint32_t reap_place(struct gba_sim_segment *segment, uint32_t group, uint32_t place)
{
    struct gba_driver_record *record = &segment->place[place].record;
    uint32_t taken = 0;

    if (GBA_OK != gba_sim_group_lock(segment, group))
        return 0;
    if (1 + group == gba_word_load_relaxed(&segment->home[place])) {
        gba_sim_journal_begin(segment, group, GBA_SIM_JOURNAL_GROUP, place, 0);
        taken = gba_driver_reap(record, &segment->model.group[group], gba_sim_process_alive);
        gba_sim_journal_end(segment, group);
        gba_sim_place_put(segment, group, place);
    }
    gba_sim_group_unlock(segment, group);
    return taken;
}

void gba_sim_reap(struct gba_sim_dev *dev)
{
    for (uint32_t place = 0; place < GBA_SIM_PLACES; place++) {
        uint32_t home = (uint32_t)gba_word_load_acquire(&dev->segment->home[place]);
        uint32_t taken = 0 == home ? 0 : reap_place(dev->segment, home - 1, place);

        if (0 != taken)
            gba_log(GBA_LOG_DEBUG, "sim: group %u: took back %u seats of dead processes", home - 1,
                    taken);
    }
}

/* Each step can be made twice: whoever was killed in here leaves it to the next to begin anew. */
void gba_sim_reclaim(struct gba_sim_segment *segment, uint32_t group)
{
    const struct gba_sim_journal *journal = &segment->group[group].journal;
    struct gba_sim_place *place = &segment->place[journal->place];

    gba_driver_reclaim(&place->record, &segment->model.group[group]);
    for (uint32_t member = 0; member < place->record.head.members; member++) {
        struct gba_sim_slot *slot = &place->slot[member];

        if (GBA_SEAT_MAPPED != place->record.seat[member].state)
            continue;
        /* What is on its way comes first, as it would be pushed by the read that ends a withdrawal
         * [HOST-6]. After it nothing is stored here but the mark, by whom the lock allows. */
        gba_sim_fault_flush(slot);
        /* Release: a member that sees the mark finds the group gone. */
        gba_word_store_release(&slot->flag,
                               gba_word_load_relaxed(&slot->flag) | GBA_FLAG_RECLAIMED);
        /* The half of the flag that it sleeps on is the same as before: who is falling asleep now
         * wakes by its timeout. */
        gba_word_unpark(&slot->flag, &slot->sleeper);
    }
    segment->group[group].place = journal->next;
    segment->group[group].reclaims = journal->reclaims;
}

/* The first free place, since its memory may be reserved already. Under the device's lock. */
static uint32_t place_find(struct gba_sim_segment *segment)
{
    uint32_t place = 0;

    /* Acquire: pairs with gba_sim_place_put. */
    while (place < GBA_SIM_PLACES && 0 != gba_word_load_acquire(&segment->home[place]))
        place++;
    return place;
}

/*
 * Take the group back. Under the device's lock. GBA_OK: it is free. GBA_ERR_BUSY: somebody has come
 * to a barrier since we looked, or there is no place, or no memory for one, for those who lose it.
 */
static gba_status_t take_back(struct gba_sim_dev *dev, uint32_t group,
                              const struct gba_driver_request *request)
{
    struct gba_sim_segment *segment = dev->segment;
    struct gba_driver_record *record = gba_sim_record(segment, group);
    uint32_t next = place_find(segment), rate = 0;
    gba_status_t status;
    bool taken;

    if (GBA_SIM_PLACES == next || GBA_OK != gba_sim_record_reserve(dev, next, 1))
        return GBA_ERR_BUSY;
    status = gba_sim_group_lock_alive(segment, group);
    if (GBA_OK != status)
        return status;
    taken = gba_driver_can_reclaim(record, &segment->model.group[group], request);
    if (taken) {
        rate = record->head.rate;
        gba_word_store_relaxed(&segment->home[next], 1 + group);
        segment->place[next].record.head = (struct gba_driver_head){
            .state = GBA_GROUP_FREE, .generation = record->head.generation};
        gba_sim_journal_reclaim(segment, group, next);
        gba_sim_reclaim(segment, group);
        gba_sim_journal_end(segment, group);
    } else if (GBA_GROUP_FREE != record->head.state) {
        status = GBA_ERR_BUSY;
    }
    gba_sim_group_unlock(segment, group);
    if (taken)
        gba_log(GBA_LOG_DEBUG, "sim: group %u: taken back at %u rounds a second for a team of %u",
                group, rate, request->heat);
    return status;
}

/* Which group is free, or is made so. Under the device's lock. As gba_driver_decide, take_back. */
static gba_status_t choose(struct gba_sim_dev *dev, const struct gba_driver_request *request,
                           uint32_t *group)
{
    struct gba_sim_segment *segment = dev->segment;
    struct gba_driver_survey survey;
    gba_status_t status;
    bool reclaim;

    gba_driver_survey_init(&survey);
    for (uint32_t i = 0; i < segment->model.groups; i++) {
        status = gba_sim_group_lock(segment, i);
        if (GBA_OK != status)
            return status;
        /* No journal: it changes samples only, and half of one makes at worst one bad choice. */
        gba_driver_survey(&survey, gba_sim_record(segment, i), &segment->model.group[i], i,
                          request);
        gba_sim_group_unlock(segment, i);
    }
    status = gba_driver_decide(&survey, request, group, &reclaim);
    if (GBA_OK == status && reclaim)
        status = take_back(dev, *group, request);
    return status;
}

/* Take a group that is free. Without memory for it there is none, for now: as NO_GROUP who asks
 * comes back later, as NOMEM never. Under the device's lock. */
static gba_status_t take(struct gba_sim_dev *dev, uint32_t group,
                         const struct gba_driver_request *request, gba_ticket_t *ticket)
{
    struct gba_sim_segment *segment = dev->segment;
    uint32_t place = segment->group[group].place;
    struct gba_driver_record *record = &segment->place[place].record;
    gba_status_t status;

    if (GBA_OK != gba_sim_record_reserve(dev, place, request->members))
        return GBA_ERR_NO_GROUP;
    status = gba_sim_group_lock_alive(segment, group);
    if (GBA_OK != status)
        return status;
    gba_sim_journal_begin(segment, group, GBA_SIM_JOURNAL_GROUP, place, 0);
    status = gba_driver_alloc(record, &segment->model.group[group], request);
    ticket->group = group;
    ticket->generation = record->head.generation;
    gba_sim_journal_end(segment, group);
    gba_sim_group_unlock(segment, group);
    return status;
}

static bool is_refused(gba_status_t status)
{
    return GBA_ERR_NO_GROUP == status || GBA_ERR_LIMIT == status;
}

/* Under the device's lock: groups of a job are counted and taken in one. [DRV-11] */
static gba_status_t alloc(struct gba_sim_dev *dev, struct gba_driver_request *request,
                          gba_ticket_t *ticket)
{
    uint32_t heat = request->heat, group;
    gba_status_t status, refused;

    /* What nobody has comes before what somebody hardly uses. */
    request->heat = 0;
    status = choose(dev, request, &group);
    if (is_refused(status)) {
        gba_sim_reap(dev);
        status = choose(dev, request, &group);
    }
    if (is_refused(status) && 0 != heat) {
        refused = status;
        request->heat = heat;
        status = choose(dev, request, &group);
        if (GBA_ERR_BUSY == status)
            status = refused;
    }
    return GBA_OK == status ? take(dev, group, request, ticket) : status;
}

gba_status_t gba_sim_alloc(struct gba_dev *d, const gba_group_request_t *asked,
                           gba_ticket_t *ticket)
{
    struct gba_sim_dev *dev = (struct gba_sim_dev *)d;
    gba_ticket_t t = {.members = asked->members};
    struct gba_driver_request request = {.members = asked->members,
                                         .groups_max = asked->groups_max,
                                         .heat = asked->heat,
                                         .uid = (uint32_t)geteuid(),
                                         .job = dev->job,
                                         .owner = gba_sim_caller(dev)};
    gba_status_t status;

    gba_sim_fault_call(dev->segment);
    if (gba_sim_dead(dev->segment))
        return GBA_ERR_DEAD;
    if (0 != dev->segment->header.options.full)
        return GBA_ERR_NO_GROUP;
    if (sizeof t.key != getrandom(&t.key, sizeof t.key, 0)) {
        gba_log(GBA_LOG_ERROR, "sim: cannot get random numbers for the key of a group");
        return GBA_ERR_IO;
    }
    request.key = t.key;
    status = gba_sim_device_lock(dev->segment);
    if (GBA_OK != status)
        return status;
    request.now = gba_sim_clock_ns(); /* under the lock, so that it never goes back */
    status = alloc(dev, &request, &t);
    gba_sim_device_unlock(dev->segment);
    if (GBA_OK != status)
        return status;
    memcpy(t.uuid, dev->segment->model.uuid, sizeof t.uuid);
    *ticket = t;
    return GBA_OK;
}

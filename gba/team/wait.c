/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/team/wait.h"

#include <sched.h>
#include <time.h>

#include "gba/base/clock.h"
#include "gba/base/park.h"
#include "gba/base/traffic.h"
#include "gba/path/busy.h"
#include "gba/team/watchdog.h"

/* The first sleep of a member that leaves the core to its node's leader, see wait_may_park. Other
 * work of its process that needs progress is delayed by no more than this. */
#define PARK_NS 50000u

/* A sleep that nothing ends early lasts this part of the time waited so far, and at most
 * GBA_WAIT_SLEEP_NS. So it prolongs no wait by more than that part. */
#define NAP_PART 8u

static bool wait_yields(const struct gba_team *team)
{
    return gba_wait_yields(team->waiting.mode, team->waiting.oversubscribed);
}

/* The number of polls between two calls of the runtime's progress, if the member spins. */
static uint32_t spins_of(const struct gba_path_base *path)
{
    const struct gba_local_state *state = path->state;

    return state != NULL && 0 != state->ops->spins ? state->ops->spins : GBA_WAIT_SPINS;
}

uint32_t gba_wait_spins(const struct gba_team *team)
{
    return wait_yields(team) ? 1 : spins_of(team->path);
}

/*
 * Whether this member may sleep at once until its node's leader wakes it: if other work needs the
 * core, see busy.h. The leader needs a core to receive from other hosts, and members that test and
 * yield would take it again and again. If no other work needs it, polling is faster, because the
 * wake-ups cost more than the turns. (If all members are on one host, testing is always faster.)
 */
static bool wait_may_park(const struct gba_team *team)
{
    return team->path->waits_for_leader && GBA_WAIT_AUTO == team->waiting.mode && wait_yields(team);
}

static uint64_t awaited_load(const struct gba_awaited *awaited)
{
    return awaited->flag != NULL ? gba_flag_load_relaxed(awaited->flag)
                                 : gba_word_load_relaxed(awaited->word);
}

static void awaited_park(const struct gba_awaited *awaited, uint64_t seen, uint64_t timeout)
{
    if (awaited->flag != NULL)
        gba_flag_park(awaited->flag, seen, timeout, awaited->sleepers);
    else
        gba_word_park(awaited->word, seen, timeout, awaited->sleepers);
}

/* The next sleep of a member that has waited since `began` and may sleep for `most` ns. A lost
 * arrival or release wakes no member, so the member is awake when a reading of the registers is
 * due.
 */
static uint64_t wait_nap(const struct gba_team *team, uint64_t most, uint64_t now)
{
    uint64_t patience = gba_watchdog_patience(team, now);

    return patience < most ? patience : most;
}

/* Sleep until the device wakes this member, for at most `most` ns. If it wakes no process, and for
 * the runtime's messages (state: NULL), take a nap. */
static void wait_device(const struct gba_local_state *state, uint64_t waited, uint64_t most)
{
    uint64_t part = waited / NAP_PART;
    const struct timespec nap = {.tv_nsec = part < most ? (long)part : (long)most};

    if (state == NULL || GBA_OK != state->ops->sleep(state->membership, state->sequence, most))
        nanosleep(&nap, NULL);
}

/*
 * Sleep for at most `most` ns, because the runtime's messages need progress. Through shared memory
 * the awaited member wakes this one. A device with interrupts does, too. The runtime's messages do
 * not.
 */
static gba_status_t wait_sleep(struct gba_team *team, const struct gba_wait_steps *steps,
                               uint64_t waited, uint64_t most)
{
    const struct gba_awaited awaited = team->path->ops->awaited(team->path);
    struct gba_awaited now;
    gba_status_t status;
    uint64_t seen;

    if (awaited.word == NULL && awaited.flag == NULL) {
        wait_device(awaited.state, waited, most);
        return steps->test(team);
    }
    seen = awaited_load(&awaited);
    /* A store before that load would not wake this member. And the barrier may have advanced, and
     * now wait for another location. */
    status = steps->test(team);
    now = team->path->ops->awaited(team->path);
    if (GBA_INPROGRESS != status || now.word != awaited.word || now.flag != awaited.flag)
        return status;
    awaited_park(&awaited, seen, most);
    return steps->test(team);
}

/* How a member waits. */
struct manner {
    bool yields;
    bool may_park; /* it may sleep until its node's leader wakes it */
    bool parks;    /* it does so in this wait */
    struct gba_service service;
};

/* Whether only progress delivers the message that the member waits for. */
static bool wait_listens(const struct gba_team *team)
{
    const struct gba_path_base *path = team->path;

    return path->ops->listens != NULL && path->ops->listens(path);
}

/* The number of tests between two calls of the runtime's progress. */
static uint32_t wait_tests(const struct gba_team *team, const struct manner *manner)
{
    if (manner->parks || wait_listens(team))
        return 1;
    return gba_service_tests(&manner->service, manner->yields,
                             manner->yields ? GBA_WAIT_YIELDS : spins_of(team->path));
}

/* Leave the core to the others, and see how long they keep it. */
static void wait_yield(struct gba_team *team, struct manner *manner)
{
    uint64_t began;

    if (!manner->may_park) {
        sched_yield();
        return;
    }
    began = gba_clock_ns();
    sched_yield();
    manner->parks =
        gba_busy_turn(&team->waiting.busy, gba_team_rounds(team), gba_clock_ns() - began);
}

/*
 * Test until progress is due. The caller tested shortly before. Each test may advance the barrier:
 * a leader that has sent its message to other hosts needs progress from then on, and not after the
 * tests that were right for the gathering of its node.
 */
static gba_status_t wait_look(struct gba_team *team, const struct gba_wait_steps *steps,
                              struct manner *manner)
{
    gba_status_t status;
    uint32_t tests = 0;

    do {
        if (!manner->yields)
            gba_cpu_pause();
        else if (!manner->service.sleeps)
            wait_yield(team, manner);
        status = steps->test(team);
        tests++;
    } while (GBA_INPROGRESS == status && tests < wait_tests(team, manner));
    return status;
}

/* Whether the wait is too short for a sleep, or the runtime has done something in the last time. */
static bool service_awake(const struct gba_service *service, bool parks)
{
    uint64_t after = parks ? 0 : service->after;

    if (0 == service->awake)
        return service->now - service->began < after;
    if (after < GBA_WAIT_AWAKE_NS)
        after = GBA_WAIT_AWAKE_NS;
    return service->now - service->awake < after;
}

/* Call progress, and while it serves others, again: as they wait for it, no barrier is complete. */
static void service_again(int (*progress)(void *), void *arg)
{
    uint64_t end = gba_clock_ns() + GBA_WAIT_IDLE_NS;

    for (uint32_t calls = 0, idle = 0; calls < GBA_WAIT_CALLS_MOST; calls++) {
        if (progress(arg) > 0) {
            idle = 0;
            end = gba_clock_ns() + GBA_WAIT_IDLE_NS;
        } else if (++idle == GBA_WAIT_IDLE_CALLS || gba_clock_ns() > end) {
            return;
        }
    }
}

void gba_service_turn(struct gba_service *service, int (*progress)(void *), void *arg, bool parks,
                      bool listens)
{
    const int served = progress != NULL ? progress(arg) : 0;

    service->calls++;
    if (served > 0 && !listens)
        service_again(progress, arg);
    if (0 == service->after && served <= 0)
        return;
    service->now = gba_clock_ns();
    if (0 == service->began)
        service->began = service->now;
    if (served > 0)
        service->served = service->now;
    if (0 != served)
        service->awake = service->now;
    service->sleeps = 0 != service->after && !service_awake(service, parks);
    if (service->sleeps && service->now - service->began >= GBA_WAIT_TRAFFIC_NS &&
        gba_traffic_grew(&service->read)) {
        service->served = service->awake = service->now;
        service->sleeps = false;
    }
}

gba_status_t gba_wait(struct gba_team *team, const struct gba_wait_steps *steps,
                      int (*progress)(void *), void *arg)
{
    struct manner manner = {.yields = wait_yields(team),
                            .may_park = wait_may_park(team),
                            .service.after = gba_wait_sleep_after(team->waiting.mode)};
    struct gba_service *service = &manner.service;
    uint64_t most = manner.may_park ? PARK_NS : GBA_WAIT_SLEEP_NS;
    gba_status_t status;

    manner.parks = manner.may_park && gba_busy_sleeps(&team->waiting.busy, gba_team_rounds(team));
    service->sleeps = manner.parks;
    for (;;) {
        status = wait_look(team, steps, &manner);
        if (GBA_INPROGRESS == status && service->sleeps) {
            status = wait_sleep(team, steps, service->now - service->began,
                                wait_nap(team, most, service->now));
            if (most < GBA_WAIT_SLEEP_NS)
                most *= 2;
        }
        if (GBA_INPROGRESS != status)
            return status;
        gba_service_turn(service, progress, arg, manner.parks, wait_listens(team));
        if (service->served > team->waiting.served)
            team->waiting.served = service->served;
        status = steps->progress(team);
        if (GBA_INPROGRESS != status)
            return status;
    }
}

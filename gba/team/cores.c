/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers of all cores of all members: gather the cores in a counter, cross by core 0, release.
 * The counter is that of a node (node_barrier.h), in memory of the process. Without a barrier of
 * the processes the last core to arrive releases the others, so no core waits for core 0 to run.
 */
#include "gba/team/cores_steps.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gba/base/clock.h"
#include "gba/base/log.h"
#include "gba/team/wait.h"

/* --------------------------------------------------------------------------------- reports --- */

/* What a report looks at: the round of the core that waits. */
struct sight {
    const struct gba_cores *cores;
    uint64_t round;
};

static gba_arrived_t sight_arrived(void *ctx, uint32_t index)
{
    const struct sight *sight = ctx;

    return gba_word_load_relaxed(&sight->cores->core[index].mark) < sight->round ? GBA_ARRIVED_NO
                                                                                 : GBA_ARRIVED_YES;
}

static void sight_name(void *ctx, uint32_t index, char *text, size_t len)
{
    (void)ctx;
    snprintf(text, len, "core %u", index);
}

/*
 * Report the stalled round, if this core is the lowest that waits. If all cores have arrived, core
 * 0 crosses, and the watchdog of the team names the missing members; a barrier of the runtime may
 * not.
 */
static void core_report(struct gba_cores *cores, const struct core *core, gba_stall_t *stall,
                        uint64_t now)
{
    struct sight sight = {cores, stall->place.number};
    const gba_stall_view_t view = {.name = cores->name,
                                   .path = "cores",
                                   .of = "cores",
                                   .ctx = &sight,
                                   .size = cores->count,
                                   .rank = (uint32_t)(core - cores->core),
                                   .arrived = sight_arrived,
                                   .name_member = sight_name};
    gba_stall_seen_t seen;

    gba_stall_see(stall, &view, &seen);
    if (0 == seen.missing && (cores->team != NULL || !cores->joined))
        return;
    if (view.rank == (0 == seen.missing ? 1 : seen.first))
        gba_stall_report(stall, &view, &seen,
                         0 == seen.missing ? "; core 0 waits for the other processes" : "", now);
}

/* --------------------------------------------------------------------------------- waiting --- */

/* Sleep until the awaited word changes. A store before its load would not wake this core, so the
 * caller looks once more in between: the sleep then ends with SLEEP_NS at most. */
static gba_status_t core_sleep(struct gba_cores *cores, struct core *core)
{
    gba_word_t *word = cores->joined && core == cores->core ? &cores->arrived : &cores->release;
    const uint64_t seen = gba_word_load_relaxed(word);
    gba_status_t status = core_look(cores, core);

    if (GBA_INPROGRESS == status)
        gba_word_park(word, seen, GBA_WAIT_SLEEP_NS, &cores->sleepers);
    return status;
}

/* progress: this core calls the runtime's after it. */
static gba_status_t core_spin(struct gba_cores *cores, struct core *core,
                              const struct gba_service *service, bool progress)
{
    const uint32_t most = cores->yields ? GBA_WAIT_YIELDS : GBA_WAIT_SPINS;
    gba_status_t status = GBA_INPROGRESS;

    for (uint32_t tests = progress ? gba_service_tests(service, cores->yields, most) : most;
         GBA_INPROGRESS == status && tests > 0; tests--) {
        if (cores->yields)
            sched_yield();
        else
            gba_cpu_pause();
        status = core_look(cores, core);
    }
    return status;
}

/* Not inlined, so that the fast path saves no registers for it. */
static gba_status_t __attribute__((noinline)) core_wait(struct gba_cores *cores, struct core *core)
{
    const bool progress = core == cores->core && cores->attr.progress != NULL;
    struct gba_service service = {.after = cores->sleep_after};
    gba_stall_t stall = {.reported = false};
    gba_status_t status;
    uint64_t now;

    for (;;) {
        status = core_spin(cores, core, &service, progress);
        if (GBA_INPROGRESS == status && service.sleeps)
            status = core_sleep(cores, core);
        if (GBA_INPROGRESS != status)
            break;
        gba_service_turn(&service, progress ? cores->attr.progress : NULL, cores->attr.ctx, false,
                         false);
        now = gba_clock_ns();
        if (0 == stall.place.number)
            gba_stall_begin(&stall, gba_word_load_relaxed(&core->mark), cores->report_after, 0,
                            now);
        if (gba_stall_look(&stall, now, NULL, NULL))
            core_report(cores, core, &stall, now);
    }
    if (stall.reported)
        gba_stall_end(&stall, cores->name, GBA_OK == status, gba_clock_ns());
    return status;
}

gba_status_t gba_cores_barrier(gba_cores_t *cores, uint32_t index)
{
    struct core *core = &cores->core[index];
    gba_status_t status = cores->status;

    if (__builtin_expect(GBA_OK != status, 0))
        return status; /* of an earlier barrier */
    core_arrive(cores, core);
    status = core_look(cores, core);
    return __builtin_expect(GBA_INPROGRESS != status, 1) ? status : core_wait(cores, core);
}

/* -------------------------------------------------------------------------- create, destroy --- */

static void name_process(struct gba_cores *cores)
{
    const gba_team_t *team = cores->team;
    const char *rank = getenv("PMIX_RANK"); /* of mpirun, oshrun and srun with PMIx */
    char member[96] = "";

    if (cores->attr.name != NULL) {
        snprintf(cores->name, sizeof cores->name, "%s", cores->attr.name);
    } else if (team == NULL) {
        (void)gethostname(member, sizeof member - 1);
        snprintf(cores->name, sizeof cores->name, "%s %ld on %s", rank != NULL ? "rank" : "process",
                 rank != NULL ? atol(rank) : (long)getpid(), member);
    } else {
        gba_team_member(team, team->rank, member, sizeof member);
        snprintf(cores->name, sizeof cores->name, "%s: %s", team->name, member);
    }
}

/* The parameters `wait` and `stuck_after`. */
static gba_status_t choose_params(const gba_team_t *team, int *wait, uint64_t *report_after)
{
    gba_params_t params;
    char message[256];

    if (team != NULL) {
        *wait = team->waiting.mode;
        *report_after = team->watchdog.report_after;
        return GBA_OK;
    }
    gba_params_default(&params);
    if (GBA_OK != gba_params_environment(&params, message, sizeof message)) {
        gba_log(GBA_LOG_ERROR, "no barriers of cores: %s", message);
        return GBA_ERR_PARAM;
    }
    *wait = params.wait;
    *report_after = (uint64_t)params.stuck_after * 1000000000u;
    return GBA_OK;
}

gba_status_t gba_cores_create(uint32_t count, gba_team_t *team, const gba_cores_attr_t *attr,
                              gba_cores_t **cores)
{
    static const gba_cores_attr_t none = {0};
    const gba_cores_attr_t *given = attr == NULL ? &none : attr;
    const size_t bytes = sizeof **cores + count * sizeof(struct core);
    struct gba_cores *made = NULL;
    gba_processors_t processors;
    bool oversubscribed;
    uint64_t report_after;
    gba_status_t status;
    int wait;

    if (count < 1 || count > GBA_CORES_MAX) {
        gba_log(GBA_LOG_ERROR, "no barriers of %u cores: 1 to %u are allowed", count,
                GBA_CORES_MAX);
        return GBA_ERR_PARAM;
    }
    status = choose_params(team, &wait, &report_after);
    if (GBA_OK != status)
        return status;
    made = aligned_alloc(GBA_CORES_LINE, bytes);
    if (made == NULL)
        return GBA_ERR_NOMEM;
    memset(made, 0, bytes);
    gba_processors_get(&processors);
    oversubscribed = count > (0 != given->cpus ? given->cpus : gba_processors_count(&processors)) ||
                     (team != NULL && team->waiting.oversubscribed);
    made->count = count;
    made->yields = gba_wait_yields(wait, oversubscribed);
    made->sleep_after = gba_wait_sleep_after(wait);
    made->report_after = report_after;
    made->joined = team != NULL || given->barrier != NULL;
    made->team = team;
    made->attr = *given;
    name_process(made);
    made->attr.name = NULL;
    for (uint32_t i = 0; i < count; i++)
        made->core[i].node = (struct gba_node_barrier){.arrived = &made->arrived,
                                                       .release = &made->release,
                                                       .sleepers = &made->sleepers,
                                                       .members = count};
    if (team != NULL) {
        made->attr.progress = team->runtime.progress;
        made->attr.ctx = team->runtime.ctx;
        /* Core 0 must not keep a CPU that a core of another member needs. */
        team->waiting.oversubscribed |= oversubscribed;
        gba_barrier_init(team);
    }
    *cores = made;
    return GBA_OK;
}

void gba_cores_destroy(gba_cores_t *cores)
{
    free(cores);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Performance variables of waits, and of single communicators. The latter are bound to a
 * communicator (MPI_T_BIND_MPI_COMM in MPI_T). ompi/mca/common/gba/params.c has the counts of the
 * process.
 */
#include "ompi/mca/coll/gba_barrier/module.h"

#include "opal/mca/base/mca_base_pvar.h"

enum {
    BARRIERS,
    FALLBACKS,
    RETRIES,
    FAILOVERS,
    RECLAIMS,
    RENEGOTIATIONS,
    SAMPLED,
    WAIT_NS,
    WAIT_MAX_NS,
    PATH,
    VALUES
};

#define FLAGS (MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS)

static struct variable {
    const char *name, *help;
    int class, value;
    bool process, communicator; /* the bindings that it has */
} variables[] = {
    {"barriers", "barriers through a device or a software barrier of this component",
     MCA_BASE_PVAR_CLASS_COUNTER, BARRIERS, false, true},
    {"fallbacks", "barriers on the fallback, the component that was selected before this one",
     MCA_BASE_PVAR_CLASS_COUNTER, FALLBACKS, false, true},
    {"retries", "lost arrivals and releases that were recovered", MCA_BASE_PVAR_CLASS_COUNTER,
     RETRIES, false, true},
    {"failovers", "device failures after which it continued without the failed device",
     MCA_BASE_PVAR_CLASS_COUNTER, FAILOVERS, false, true},
    {"reclaims", "times that its barrier group was taken back for a busier team",
     MCA_BASE_PVAR_CLASS_COUNTER, RECLAIMS, false, true},
    {"renegotiations", "times that it requested a barrier group again", MCA_BASE_PVAR_CLASS_COUNTER,
     RENEGOTIATIONS, false, true},
    {"barriers_sampled", "blocking barriers that were measured, see the parameter sample",
     MCA_BASE_PVAR_CLASS_COUNTER, SAMPLED, true, true},
    {"wait_ns",
     "nanoseconds between arrival and release of this process, in the barriers that were measured",
     MCA_BASE_PVAR_CLASS_TIMER, WAIT_NS, true, true},
    {"imbalance_max_ns",
     "the longest of these waits, in nanoseconds: this process was at most that early",
     MCA_BASE_PVAR_CLASS_HIGHWATERMARK, WAIT_MAX_NS, true, true},
    {"path", "path of the barriers: 0 device, 1 sim, 2 software, 3 fallback or none yet",
     MCA_BASE_PVAR_CLASS_LEVEL, PATH, false, true},
};

static unsigned long long value_of(const struct gba_common_counts *counts, gba_path_t path,
                                   int value)
{
    unsigned long long values[VALUES] = {
        [FALLBACKS] = counts->barriers[GBA_PATH_FALLBACK],
        [RETRIES] = counts->retries_arrival + counts->retries_release,
        [FAILOVERS] = counts->failovers,
        [RECLAIMS] = counts->reclaims,
        [RENEGOTIATIONS] = counts->renegotiations,
        [SAMPLED] = counts->waits.sampled,
        [WAIT_NS] = counts->waits.ns,
        [WAIT_MAX_NS] = counts->waits.max_ns,
        [PATH] = path,
    };

    for (int i = 0; i < GBA_PATH_FALLBACK; i++)
        values[BARRIERS] += counts->barriers[i];
    return values[value];
}

static int process_read(const struct mca_base_pvar_t *pvar, void *value, void *object)
{
    const struct variable *variable = pvar->ctx;
    struct gba_common_counts counts;

    (void)object;
    gba_common_counts_sum(&counts);
    *(unsigned long long *)value = value_of(&counts, GBA_PATH_FALLBACK, variable->value);
    return OPAL_SUCCESS;
}

/* A communicator that this component does not serve has no counts here. */
static int communicator_read(const struct mca_base_pvar_t *pvar, void *value, void *object)
{
    const struct variable *variable = pvar->ctx;
    struct gba_common_counts counts = {.failovers = 0};
    gba_path_t path = GBA_PATH_FALLBACK;

    opal_mutex_lock(&gba_common.lock);
    for (const struct gba_common_module *m = gba_common.modules; m != NULL; m = m->next) {
        const gba_coll_module_t *module = m->owner;

        if (module->comm == object) {
            gba_common_counts_add(&counts, m);
            path = m->path;
        }
    }
    opal_mutex_unlock(&gba_common.lock);
    *(unsigned long long *)value = value_of(&counts, path, variable->value);
    return OPAL_SUCCESS;
}

static void variable_register(struct variable *variable, bool communicator)
{
    char name[64], help[192];

    snprintf(name, sizeof name, "%s%s", communicator ? "comm_" : "", variable->name);
    snprintf(help, sizeof help, "Of %s: %s", communicator ? "a communicator" : "the process",
             variable->help);
    (void)mca_base_component_pvar_register(
        &gba_coll->super.collm_version, name, help, OPAL_INFO_LVL_5, variable->class,
        MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, NULL,
        communicator ? MCA_BASE_VAR_BIND_MPI_COMM : MCA_BASE_VAR_BIND_NO_OBJECT, FLAGS,
        communicator ? communicator_read : process_read, NULL, NULL, variable);
}

void gba_coll_pvars_register(void)
{
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        if (variables[i].process)
            variable_register(&variables[i], false);
        if (variables[i].communicator)
            variable_register(&variables[i], true);
    }
}

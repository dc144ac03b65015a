/* SPDX-License-Identifier: BSD-3-Clause */
/* The performance variables, of the process and of single communicators (MPI_T_BIND_MPI_COMM). */
#include "ompi/mca/common/gba/open.h"
#include "ompi/mca/common/gba/module.h"

#include <stdio.h>

#include "opal/mca/base/mca_base_pvar.h"

/* Whose variable it is: the process's, or a communicator's, which coll alone has. */
enum owner { PROCESS, COMM };

#define COUNTER   MCA_BASE_PVAR_CLASS_COUNTER
#define COUNTS(n) offsetof(struct gba_common_counts, n)

static struct variable {
    const char *name, *help;
    enum owner owner;
    int class;
    size_t offset;    /* of its count in struct gba_common_counts, */
    unsigned further; /* to which so many behind it are added */
} variables[] = {
    {"barriers_device", "Barriers on a barrier group of a device", PROCESS, COUNTER,
     COUNTS(barriers[GBA_PATH_DEVICE]), 0},
    {"barriers_switch", "Barriers on a barrier group of a gba-switchd", PROCESS, COUNTER,
     COUNTS(barriers[GBA_PATH_SWITCH]), 0},
    {"barriers_sim", "Barriers on a barrier group of a simulated device", PROCESS, COUNTER,
     COUNTS(barriers[GBA_PATH_SIM]), 0},
    {"barriers_software", "Barriers on a software barrier of this component", PROCESS, COUNTER,
     COUNTS(barriers[GBA_PATH_SOFTWARE]), 0},
    {"barriers_fallback",
     "Barriers on the fallback, the component that was selected before this one", PROCESS, COUNTER,
     COUNTS(barriers[GBA_PATH_FALLBACK]), 0},
    {"retries_arrival", "Arrivals that were lost on the way to the device and resent", PROCESS,
     COUNTER, COUNTS(retries_arrival), 0},
    {"retries_release", "Releases that were lost on the way from the device and requested again",
     PROCESS, COUNTER, COUNTS(retries_release), 0},
    {"failovers",
     "Device failures after which a communicator or active set continued without the device",
     PROCESS, COUNTER, COUNTS(failovers), 0},
    {"renegotiations",
     "Times that a communicator or active set without a barrier group requested one again", PROCESS,
     COUNTER, COUNTS(renegotiations), 0},
    {"comm_barriers", "barriers through a device or a software barrier of this component", COMM,
     COUNTER, COUNTS(barriers), GBA_PATH_FALLBACK - 1},
    {"comm_fallbacks", "barriers on the fallback, the component that was selected before this one",
     COMM, COUNTER, COUNTS(barriers[GBA_PATH_FALLBACK]), 0},
    {"comm_retries", "lost arrivals and releases that were recovered", COMM, COUNTER,
     COUNTS(retries_arrival), 1},
    {"comm_failovers", "device failures after which it continued without the failed device", COMM,
     COUNTER, COUNTS(failovers), 0},
    {"comm_renegotiations", "times that it requested a barrier group again", COMM, COUNTER,
     COUNTS(renegotiations), 0},
    {"comm_path",
     "path of the barriers: 0 device, 1 switch, 2 sim, 3 software, 4 fallback or none yet", COMM,
     MCA_BASE_PVAR_CLASS_LEVEL, COUNTS(path), 0},
};

/* Computed at each read, because counting in one place would slow down the barrier. */
static int variable_read(const struct mca_base_pvar_t *pvar, void *value, void *object)
{
    const struct variable *variable = pvar->ctx;
    const unsigned long long *count;
    struct gba_common_counts sum;
    unsigned long long *all = value;

    gba_common_counts_sum(&sum, COMM == variable->owner ? object : NULL);
    count = (const void *)((const char *)&sum + variable->offset);
    *all = 0;
    for (unsigned i = 0; i <= variable->further; i++)
        *all += count[i];
    return OPAL_SUCCESS;
}

static void variable_register(const mca_base_component_t *component, struct variable *variable)
{
    const bool communicator = COMM == variable->owner;
    char help[192];

    snprintf(help, sizeof help, "%s%s", communicator ? "Of a communicator: " : "", variable->help);
    (void)mca_base_component_pvar_register(
        component, variable->name, help,
        PROCESS == variable->owner ? OPAL_INFO_LVL_4 : OPAL_INFO_LVL_5, variable->class,
        MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, NULL,
        communicator ? MCA_BASE_VAR_BIND_MPI_COMM : MCA_BASE_VAR_BIND_NO_OBJECT,
        MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS, variable_read, NULL, NULL,
        variable);
}

void gba_common_pvars_register(const mca_base_component_t *component)
{
    const bool coll = GBA_COMMON_IDS_COLL == gba_common_framework.ids;

    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        if (coll || PROCESS == variables[i].owner)
            variable_register(component, &variables[i]);
}

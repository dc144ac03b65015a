/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a component, its open and close, and its check of Open MPI. */
#include "ompi/mca/common/gba/module.h"
#include "ompi/mca/common/gba/open.h"
#include "ompi/mca/common/gba/report.h"

#include <string.h>

#include "gba/base/mca_names.h"

/* Not initialised in open, because a tool may read the counters before open, and a module may end
 * after close. */
struct gba_common gba_common = {.lock = OPAL_MUTEX_STATIC_INIT, .output = -1};

static void name_found(void *unused, const char *line)
{
    (void)unused;
    if (gba_common_first_on_host(line)) /* the other component looks, too */
        gba_common_alert("%s", line);
}

/* Rank 0 has the files of its host, and all variables that mpirun exports. */
static void names_check(void)
{
    const int index = mca_base_var_find("opal", "mca", "base", "param_files");
    char **files = NULL;

    if (0 != OPAL_PROC_MY_NAME.vpid)
        return;
    if (index >= 0)
        (void)mca_base_var_get_value(index, &files, NULL, NULL);
    gba_mca_names_check(files == NULL || *files == NULL ? "" : *files, name_found, NULL);
    gba_mca_variables_check(name_found, NULL);
}

void gba_common_open(void)
{
    gba_common.modules = NULL;
    memset(&gba_common.retired, 0, sizeof gba_common.retired);
    gba_common.why[0] = '\0';
    gba_common_log_open();
    /* Not in register, because ompi_info calls register, too. */
    gba_common_params_check();
    names_check();
}

void gba_common_close(const char *who)
{
    gba_common_totals(who);
    gba_common_devices_put();
}

/*
 * Open MPI itself compares the version of the component's interface. That version stays the same
 * when communicators and modules grow, as in 5.0.7 and 5.0.10. A component built with 5.0.6 loads
 * there, writes to wrong addresses, and the program crashes in MPI_Init.
 */
bool gba_common_abi_check(const struct gba_common_class *classes)
{
    while (classes->name != NULL && classes->size == classes->cls->cls_sizeof)
        classes++;
    if (classes->name == NULL)
        return true;
    gba_common.enabled = false;
    if (0 == opal_process_info.my_local_rank)
        gba_common_alert(
            "built for another release of Open MPI: %s has %zu bytes here, and had %zu; "
            "the component is disabled. Build it again with this Open MPI",
            classes->name, classes->cls->cls_sizeof, classes->size);
    return false;
}

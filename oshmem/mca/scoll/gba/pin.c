/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A crash in finalize that has nothing to do with barriers (open-mpi/ompi issue 11604, mended in
 * 4.1.6 and 5.0.0): libmca_common_ucx registers a hook for memory that is given back, and is
 * unloaded without taking it away. Whoever tries this component would meet it, so we prevent it.
 */
#include "oshmem/mca/scoll/gba/scoll_gba.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

/* dl_iterate_phdr has the loader's lock, under which nothing may be loaded: so only the name. */
static int library_find(struct dl_phdr_info *info, size_t size, void *arg)
{
    char *path = arg;

    (void)size;
    if (NULL == info->dlpi_name || NULL == strstr(info->dlpi_name, "libmca_common_ucx"))
        return 0;
    snprintf(path, PATH_MAX, "%s", info->dlpi_name);
    return 1;
}

void gba_scoll_pin_ucx(void)
{
    char path[PATH_MAX] = "";

    if (OMPI_MAJOR_VERSION > 4 || (1 == OMPI_MINOR_VERSION && OMPI_RELEASE_VERSION >= 6))
        return;
    if (gba_scoll->pin_ucx && 0 != dl_iterate_phdr(library_find, path))
        /* Loaded already, and from now on for good; the handle is of no further use. */
        (void)dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prevents a crash in finalize that is independent of barriers (open-mpi/ompi issue 11604, fixed in
 * 4.1.6 and 5.0.0). libmca_common_ucx registers a hook for released memory, and is unloaded without
 * removing the hook. Without this file every program with this component would crash.
 */
#include "oshmem/mca/scoll/gba/scoll_gba.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

/* Only copies the name, because dl_iterate_phdr holds the loader's lock, under which no library may
 * be loaded. */
static int library_find(struct dl_phdr_info *info, size_t size, void *arg)
{
    char *path = arg;

    (void)size;
    if (info->dlpi_name == NULL || strstr(info->dlpi_name, "libmca_common_ucx") == NULL)
        return 0;
    snprintf(path, PATH_MAX, "%s", info->dlpi_name);
    return 1;
}

void gba_scoll_pin_ucx(void)
{
    char path[PATH_MAX] = "";

    if (OMPI_MAJOR_VERSION > 4 || (1 == OMPI_MINOR_VERSION && OMPI_RELEASE_VERSION >= 6))
        return;
    if (gba_common.own.pin_ucx && 0 != dl_iterate_phdr(library_find, path))
        /* The library is loaded, and now stays loaded; the handle is not needed. */
        (void)dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The loading of plug-ins. */
#include "gba/bootstrap/backend.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void path_of(const char *name, char *path, size_t len)
{
    if (strchr(name, '/') != NULL)
        snprintf(path, len, "%s", name);
    else
        snprintf(path, len, "%s/bootstrap_%s.so", GBA_BOOT_PLUGIN_DIR, name);
}

bool gba_boot_plugin_installed(const char *name)
{
    char path[4096];

    path_of(name, path, sizeof path);
    return 0 == access(path, R_OK);
}

gba_status_t gba_boot_plugin_open(const char *name, const void *comm, uint64_t timeout,
                                  struct gba_boot_backend **backend, char *message)
{
    const struct gba_boot_plugin *plugin = NULL;
    char path[4096];
    void *handle;

    path_of(name, path, sizeof path);
    /* Global: the components of Open MPI use symbols of libmpi without linking with it. Never
     * closed: MPI cannot be unloaded. */
    handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (handle == NULL) {
        const char *cause = dlerror();

        snprintf(message, GBA_BOOT_MESSAGE, "cannot load the plug-in: %.200s",
                 cause == NULL ? path : cause);
        return GBA_ERR_UNSUPPORTED;
    }
    plugin = dlsym(handle, GBA_BOOT_PLUGIN_SYMBOL);
    if (plugin != NULL && GBA_BOOT_PLUGIN_VERSION == plugin->version)
        return plugin->open(comm, timeout, backend, message);
    snprintf(message, GBA_BOOT_MESSAGE, "%.150s is of another version than libgba_bootstrap", path);
    return GBA_ERR_UNSUPPORTED;
}

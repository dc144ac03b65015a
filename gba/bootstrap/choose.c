/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice of a bootstrap, by the program or by the environment. */
#include <stdio.h>
#include <string.h>

#include "gba/bootstrap/backend.h"
#include "gba/bootstrap/settings.h"

/* The names, by kind. */
static const char *const names[] = {
    [GBA_BOOTSTRAP_PMIX] = "pmix", [GBA_BOOTSTRAP_UID] = "uid", [GBA_BOOTSTRAP_MPI] = "mpi"};

#define ALL_NAMES "pmix, uid, mpi"
#define KINDS     (sizeof names / sizeof names[0])

static bool installed(gba_bootstrap_kind_t kind)
{
    if (GBA_BOOTSTRAP_PMIX == kind)
        return gba_boot_has_pmix();
    return GBA_BOOTSTRAP_UID == kind || gba_boot_plugin_installed(names[kind]);
}

static gba_bootstrap_kind_t default_kind(const gba_bootstrap_attr_t *attr)
{
    if (attr->mpi_comm != NULL)
        return GBA_BOOTSTRAP_MPI;
    if (attr->uid != NULL || gba_boot_env("GBA_BOOTSTRAP_UID") != NULL)
        return GBA_BOOTSTRAP_UID;
    return GBA_BOOTSTRAP_PMIX;
}

/* kind, plugin: set to the bootstrap; a plug-in that is none of these kinds has its name, and
 * GBA_BOOTSTRAP_AUTO. chosen: set to the parameter and its value, for messages. */
static gba_status_t choose(const gba_bootstrap_attr_t *attr, gba_bootstrap_kind_t *kind,
                           const char **plugin, char chosen[64], char *message)
{
    const char *text = gba_boot_env("GBA_BOOTSTRAP");

    *plugin = NULL;
    *kind = attr->kind;
    if ((unsigned)*kind >= KINDS) {
        snprintf(message, GBA_BOOT_MESSAGE,
                 "there is no bootstrap of kind %d; allowed: 0 (GBA_BOOTSTRAP_AUTO) to %zu (%s)",
                 (int)*kind, KINDS - 1, ALL_NAMES);
        return GBA_ERR_PARAM;
    }
    if (GBA_BOOTSTRAP_AUTO == *kind && text != NULL) {
        for (unsigned i = 1; i < KINDS; i++)
            if (0 == strcmp(text, names[i]))
                *kind = (gba_bootstrap_kind_t)i;
        if (GBA_BOOTSTRAP_AUTO == *kind &&
            (strchr(text, '/') != NULL || gba_boot_plugin_installed(text)))
            *plugin = text;
        if (GBA_BOOTSTRAP_AUTO == *kind && *plugin == NULL) {
            snprintf(message, GBA_BOOT_MESSAGE,
                     "GBA_BOOTSTRAP=%.32s is invalid; allowed: %s, a plug-in in %.100s, or the "
                     "path of one, with a slash",
                     text, ALL_NAMES, GBA_BOOT_PLUGIN_DIR);
            return GBA_ERR_PARAM;
        }
        snprintf(chosen, 64, "GBA_BOOTSTRAP=%.48s", text);
        return GBA_OK;
    }
    if (GBA_BOOTSTRAP_AUTO == *kind)
        *kind = default_kind(attr);
    snprintf(chosen, 64, "the bootstrap %s", names[*kind]);
    return GBA_OK;
}

/* Take the id, the rank and the size from the caller or the environment, and join. */
static gba_status_t open_uid(const gba_bootstrap_attr_t *attr, struct gba_boot_backend **backend,
                             char *message)
{
    uint32_t rank = attr->rank, size = attr->size;
    const char *text = attr->uid != NULL ? attr->uid->text : gba_boot_env("GBA_BOOTSTRAP_UID");
    gba_bootstrap_uid_t uid;

    if (0 == size) {
        rank = UINT32_MAX;
        if (GBA_OK != gba_boot_env_number("GBA_BOOTSTRAP_SIZE", GBA_BOOT_SIZE_MAX, 0, &size,
                                          message, GBA_BOOT_MESSAGE) ||
            GBA_OK != gba_boot_env_number("GBA_BOOTSTRAP_RANK", GBA_BOOT_SIZE_MAX, 0, &rank,
                                          message, GBA_BOOT_MESSAGE))
            return GBA_ERR_PARAM;
        if (0 == size || UINT32_MAX == rank) {
            snprintf(message, GBA_BOOT_MESSAGE,
                     "the unique id needs GBA_BOOTSTRAP_RANK and GBA_BOOTSTRAP_SIZE, or a rank and "
                     "a size of the program");
            return GBA_ERR_PARAM;
        }
    }
    if (size > GBA_BOOT_SIZE_MAX || rank >= size) {
        snprintf(
            message, GBA_BOOT_MESSAGE,
            "rank %u of %u members is out of range; a bootstrap has 1 to %u members, and ranks "
            "from 0",
            (unsigned)rank, (unsigned)size, GBA_BOOT_SIZE_MAX);
        return GBA_ERR_PARAM;
    }
    if (text == NULL || GBA_OK != gba_bootstrap_uid_parse(text, &uid)) {
        snprintf(message, GBA_BOOT_MESSAGE,
                 text == NULL
                     ? "no unique id: set GBA_BOOTSTRAP_UID to that of gba_bootstrap_uid_get"
                     : "the unique id is not one of gba_bootstrap_uid_get");
        return GBA_ERR_PARAM;
    }
    return gba_boot_uid_open(&uid, rank, size, backend, message);
}

static gba_status_t open_kind(gba_bootstrap_kind_t kind, const char *plugin,
                              const gba_bootstrap_attr_t *attr, struct gba_boot_backend **backend,
                              char *message)
{
    uint64_t timeout;
    gba_status_t status;

    if (GBA_BOOTSTRAP_PMIX == kind)
        return gba_boot_pmix_open(backend, message);
    if (GBA_BOOTSTRAP_UID == kind)
        return open_uid(attr, backend, message);
    status = gba_boot_env_timeout(&timeout, message, GBA_BOOT_MESSAGE);
    if (GBA_OK != status)
        return status;
    return gba_boot_plugin_open(plugin == NULL ? names[kind] : plugin, attr->mpi_comm, timeout,
                                backend, message);
}

gba_status_t gba_boot_open(const gba_bootstrap_attr_t *attr, struct gba_boot_backend **backend,
                           char *message)
{
    char cause[GBA_BOOT_MESSAGE], chosen[64], others[64] = "";
    const char *plugin;
    gba_bootstrap_kind_t kind;
    gba_status_t status = choose(attr, &kind, &plugin, chosen, message);
    size_t used = 0;

    if (GBA_OK != status)
        return status;
    status = open_kind(kind, plugin, attr, backend, message);
    if (GBA_ERR_UNSUPPORTED != status)
        return status;
    memcpy(cause, message, sizeof cause);
    for (unsigned i = 1; i < KINDS; i++)
        if (i != (unsigned)kind && installed((gba_bootstrap_kind_t)i))
            used += (size_t)snprintf(others + used, sizeof others - used, "%s%s",
                                     used > 0 ? ", " : "", names[i]);
    snprintf(message, GBA_BOOT_MESSAGE, "%s is not available; installed: %s. %.160s", chosen,
             others, cause);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Companions of an exclusive selection, "--mca coll gba_barrier" or "--mca scoll gba". Our
 * components provide a barrier and nothing else, and initialisation fails when no component
 * provides the other collectives. So we load other components, which then serve below us.
 */
#include "ompi/mca/common/gba/open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opal/util/argv.h"

/* The components of `needed` that are not loaded. NULL: none. The casts in OPAL_LIST_FOREACH drop
 * `volatile`; clang reports them here. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
static char **missing_of(mca_base_framework_t *framework, const char *const *needed)
{
    mca_base_component_list_item_t *item;
    char **missing = NULL;
    bool loaded;

    for (; *needed != NULL; needed++) {
        loaded = false;
        OPAL_LIST_FOREACH(item, &framework->framework_components, mca_base_component_list_item_t)
        loaded |= 0 == strcmp(item->cli_component->mca_component_name, *needed);
        if (!loaded)
            (void)opal_argv_append_nosize(&missing, *needed);
    }
    return missing;
}
#pragma GCC diagnostic pop

/* Choose the components to load beside those that the user selected, in the syntax of a selection:
 * all others if the user selected `self` alone, else those that are missing. Returns a string to
 * free, or NULL: none. */
static char *companions_choose(bool alone, const char *self, char **missing)
{
    char *choice = NULL;

    if (!alone)
        return missing != NULL ? opal_argv_join(missing, ',') : NULL;
    return asprintf(&choice, "^%s", self) < 0 ? NULL : choice;
}

/* Register and open one component as the framework does. Returns whether it stays loaded. */
static bool companion_open(const mca_base_component_t *component, int output)
{
    if (component->mca_register_component_params != NULL &&
        OPAL_SUCCESS != component->mca_register_component_params()) {
        mca_base_component_unload(component, output);
        return false;
    }
    if (component->mca_open_component != NULL && OPAL_SUCCESS != component->mca_open_component()) {
        mca_base_component_close(component, output);
        return false;
    }
    return true;
}

/* Load those components, and open them as the framework does. */
static void companions_open(mca_base_framework_t *framework, char *choice)
{
    opal_list_t *components = &framework->framework_components;
    size_t before = opal_list_get_size(components);
    char *selection = framework->framework_selection;

    /* The framework has one selection and reads it here, so it is replaced for this call. Only the
     * thread in MPI_Init or shmem_init reads it. */
    framework->framework_selection = choice;
    (void)mca_base_component_find(NULL, framework, false, true);
    framework->framework_selection = selection;

    /* The new components are at the end of the list that the framework iterates over to open its
     * components. Move them to the front, so that the framework does not open them a second time.
     */
    while (opal_list_get_size(components) > before) {
        mca_base_component_list_item_t *item =
            (mca_base_component_list_item_t *)opal_list_remove_last(components);

        if (companion_open(item->cli_component, framework->framework_output)) {
            opal_list_prepend(components, &item->super);
            before++;
        } else {
            OBJ_RELEASE(item);
        }
    }
}

void gba_common_companions_load(mca_base_framework_t *framework, const char *self,
                                const char *const *needed)
{
    const char *selection = framework->framework_selection;
    char **missing, *choice;

    /* Nothing is selected, or exclusions only: Open MPI loads all other components by itself. */
    if (selection == NULL || '\0' == selection[0] || '^' == selection[0])
        return;
    missing = missing_of(framework, needed);
    choice = companions_choose(strchr(selection, ',') == NULL, self, missing);
    opal_argv_free(missing);
    if (choice != NULL)
        companions_open(framework, choice);
    free(choice);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Companions of an exclusive selection, "--mca coll gba_barrier" or "--mca scoll gba". Our
 * components provide a barrier and nothing else, and initialisation fails when no component
 * provides the other collectives. So we load other components, which then serve below us.
 */
#include "ompi/mca/common/gba/open.h"
#include "ompi/mca/common/gba/module.h"

#include <string.h>

#include "opal/util/argv.h"

static bool list_has(char **list, const char *name)
{
    for (; list != NULL && *list != NULL; list++)
        if (0 == strcmp(*list, name))
            return true;
    return false;
}

/*
 * Choose the components to load beside the user's selection, in the syntax of a selection. Returns
 * a string to free, or NULL: none.
 */
static char *companions_choose(const char *selection, const char *self, const char *const *needed,
                               const char *wanted)
{
    char **selected, *choice = NULL;

    /* Nothing is selected, or exclusions only: Open MPI loads all other components by itself. */
    if (selection == NULL || '\0' == selection[0] || '^' == selection[0] ||
        0 == strcmp(wanted, "none") || '\0' == wanted[0])
        return NULL;
    selected = opal_argv_split(selection, ',');
    if (!list_has(selected, self)) {
        /* The user's selection does not name this component: load nothing. */
    } else if (1 == opal_argv_count(selected)) {
        if (0 != strcmp(wanted, "all"))
            choice = strdup(wanted);
        else if (asprintf(&choice, "^%s", self) < 0)
            choice = NULL;
    } else if (0 == strcmp(wanted, "all")) {
        char **missing = NULL;

        for (; *needed != NULL; needed++)
            if (!list_has(selected, *needed))
                (void)opal_argv_append_nosize(&missing, *needed);
        if (missing != NULL)
            choice = opal_argv_join(missing, ',');
        opal_argv_free(missing);
    }
    opal_argv_free(selected);
    return choice;
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

/* The casts in OPAL_LIST_FOREACH drop `volatile`; clang reports them here. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
static bool framework_has(mca_base_framework_t *framework, const char *name)
{
    mca_base_component_list_item_t *item;

    OPAL_LIST_FOREACH(item, &framework->framework_components, mca_base_component_list_item_t)
    if (0 == strcmp(item->cli_component->mca_component_name, name))
        return true;
    return false;
}
#pragma GCC diagnostic pop

/*
 * Check whether the user's selection names `self` and a component of `needed` is still not loaded.
 * Open MPI then aborts, because no component provides some collective, and its message does not
 * name the parameter "companions".
 */
static void companions_check(mca_base_framework_t *framework, const char *self,
                             const char *const *needed, const char *wanted, char *message,
                             size_t len)
{
    const char *selection = framework->framework_selection;
    char **selected, *missing = NULL, **names = NULL, *all;

    message[0] = '\0';
    /* With nothing selected, or only exclusions, companions has no effect. */
    if (selection == NULL || '\0' == selection[0] || '^' == selection[0])
        return;
    selected = opal_argv_split(selection, ',');
    for (size_t i = 0; list_has(selected, self) && needed[i] != NULL; i++)
        if (!framework_has(framework, needed[i]))
            (void)opal_argv_append_nosize(&names, needed[i]);
    if (names != NULL) {
        all = opal_argv_join((char **)(uintptr_t)needed, ',');
        missing = opal_argv_join(names, ',');
        snprintf(message, len,
                 "%s_%s_companions is \"%s\" and %s %s not loaded; initialization fails unless "
                 "other components provide all other collectives; set companions to \"all\", or "
                 "select --mca %s %s,%s",
                 framework->framework_name, self, wanted == NULL ? "" : wanted, missing,
                 names[1] == NULL ? "is" : "are", framework->framework_name, self, all);
        free(missing);
        free(all);
    }
    opal_argv_free(names);
    opal_argv_free(selected);
}

static void companions_load(mca_base_framework_t *framework, const char *self,
                            const char *const *needed, const char *wanted)
{
    opal_list_t *components = &framework->framework_components;
    size_t before = opal_list_get_size(components);
    char *fallback = framework->framework_selection;
    char *choice = companions_choose(fallback, self, needed, wanted == NULL ? "all" : wanted);

    if (choice == NULL)
        return;
    /* The framework has one selection and reads it here, so it is replaced for this call. Only the
     * thread in MPI_Init or shmem_init reads it. */
    framework->framework_selection = choice;
    (void)mca_base_component_find(NULL, framework, false, true);
    framework->framework_selection = fallback;
    free(choice);

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
                                const char *const *needed, char *message, size_t len)
{
    companions_load(framework, self, needed, gba_common.companions);
    companions_check(framework, self, needed, gba_common.companions, message, len);
}

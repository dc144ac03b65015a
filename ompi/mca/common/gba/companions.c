/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "--mca coll gba_barrier" alone, or "--mca scoll gba": we do a barrier and nothing else, and
 * initialization fails when no component does the other collectives. What the user meant is clear,
 * so we load the others, which then fill in below us.
 */
#include "ompi/mca/common/gba/gba_common.h"

#include <string.h>

#include "opal/util/argv.h"

static bool list_has(char **list, const char *name)
{
    for (; NULL != list && NULL != *list; list++)
        if (0 == strcmp(*list, name))
            return true;
    return false;
}

/*
 * What has to be loaded beside the user's selection, in the syntax of a selection.
 * Returns a string to free, or NULL: nothing.
 */
static char *companions_choose(const char *selection, const char *self, const char *const *needed,
                               const char *wanted)
{
    char **selected, *choice = NULL;

    /* Nothing selected, or only exclusions: Open MPI loads all the others by itself. */
    if (NULL == selection || '\0' == selection[0] || '^' == selection[0] ||
        0 == strcmp(wanted, "none") || '\0' == wanted[0])
        return NULL;
    selected = opal_argv_split(selection, ',');
    if (!list_has(selected, self)) {
        /* Not by the user's selection, then, that we were opened. */
    } else if (1 == opal_argv_count(selected)) {
        if (0 != strcmp(wanted, "all"))
            choice = strdup(wanted);
        else if (asprintf(&choice, "^%s", self) < 0)
            choice = NULL;
    } else if (0 == strcmp(wanted, "all")) {
        char **missing = NULL;

        for (; NULL != *needed; needed++)
            if (!list_has(selected, *needed))
                (void)opal_argv_append_nosize(&missing, *needed);
        if (NULL != missing)
            choice = opal_argv_join(missing, ',');
        opal_argv_free(missing);
    }
    opal_argv_free(selected);
    return choice;
}

/* Register and open one component as the framework would. Returns whether it stays. */
static bool companion_open(const mca_base_component_t *component, int output)
{
    if (NULL != component->mca_register_component_params &&
        OPAL_SUCCESS != component->mca_register_component_params()) {
        mca_base_component_unload(component, output);
        return false;
    }
    if (NULL != component->mca_open_component && OPAL_SUCCESS != component->mca_open_component()) {
        mca_base_component_close(component, output);
        return false;
    }
    return true;
}

void gba_common_companions_load(mca_base_framework_t *framework, const char *self,
                                const char *const *needed, const char *wanted)
{
    opal_list_t *components = &framework->framework_components;
    size_t before = opal_list_get_size(components);
    char *saved = framework->framework_selection;
    char *choice = companions_choose(saved, self, needed, NULL == wanted ? "all" : wanted);

    if (NULL == choice)
        return;
    /* The framework has one selection, and reads it here; so it is another one for the moment. Only
     * the thread in MPI_Init or shmem_init looks at it. */
    framework->framework_selection = choice;
    (void)mca_base_component_find(NULL, framework, false, true);
    framework->framework_selection = saved;
    free(choice);

    /* What was found stands at the end of the list that the framework is walking through to open
     * its components. Move it to the front, or it might be opened a second time. */
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

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The choice among several devices of the host. libgba chooses (gba_device_choose); its input
 * is the distances of all processes of the job on this host, which they publish in the modex of
 * MPI_Init. So each process makes the choice alone, and all make it from the same words, in the
 * order of the ranks. The choice affects speed only: a process whose chosen device cannot be
 * opened takes another choice, and the members of a team agree on a switch whatever device each
 * has, see gba/agree/info.h.
 *
 * The scoll component opens after that exchange. It reads the words that the coll component of the
 * same processes has published. Without these, and for processes with other choices, libgba
 * takes the other processes to be like this one.
 */
#include "ompi/mca/common/gba/device.h"
#include "ompi/mca/common/gba/module.h"

#include <stdlib.h>

static char modex_key[] = "gba.device.distances"; /* not const: see capability.c of coll */

void gba_common_choice_open(bool publish)
{
    gba_device_choices_t *choices = &gba_common.device.choices;
    gba_params_t *params = &gba_common.params;
    const char *first;
    uint64_t word;

    if (!gba_common.enabled || gba_common.device_set)
        return;
    first = gba_device_choices_first(NULL, gba_common.device_asked ? params->device_list : NULL,
                                     choices);
    if (first != NULL)
        params->device_path = (char *)(uintptr_t)first; /* is not written to */
    /* Without the word, the others take this process to be like themselves. */
    word = gba_device_choices_word(choices);
    if (choices->count > 1 && publish)
        (void)gba_compat_modex_put(modex_key, &word, 1);
}

/* The words of the processes of this host, in the order of the ranks. */
struct words {
    uint64_t *list;
    uint32_t count, room, self; /* self: the index of this process, whose word is not needed */
};

static void word_add(void *ctx, opal_process_name_t *name)
{
    struct words *words = ctx;

    if (words->count == words->room)
        return;
    if (name->vpid == OPAL_PROC_MY_NAME.vpid)
        words->self = words->count;
    else
        (void)gba_common_modex_get(name, modex_key, &words->list[words->count], 1);
    words->count++;
}

/* Choose from the words of all processes, the same in all of them. why: as gba_device_choose.
 * Returns GBA_OK or GBA_ERR_NOMEM. */
static gba_status_t choose(struct gba_common_device *device, char *why, size_t len)
{
    struct words words = {.room = gba_compat_local_processes()};
    gba_status_t status = GBA_ERR_NOMEM;

    words.list = calloc(words.room, sizeof *words.list);
    if (words.list == NULL)
        return GBA_ERR_NOMEM;
    gba_compat_local_visit(word_add, &words);
    if (words.count > 0)
        status = gba_device_choose(&device->choices, gba_common.params.device_map, words.list,
                                   words.count, words.self, &device->chosen, why, len);
    free(words.list);
    return status;
}

void gba_common_choice_make(void)
{
    struct gba_common_device *device = &gba_common.device;
    char why[160] = "no memory";

    if (device->choices.count < 2)
        return;
    if (GBA_OK != choose(device, why, sizeof why))
        device->chosen = 0;
    gba_common.params.device_path = device->choices.list[device->chosen].path;
    if (gba_common.params.verbose > 1)
        opal_output(gba_common.output, "%s: process %u chooses device %s: %s",
                    gba_common_framework.label, (unsigned)OPAL_PROC_MY_NAME.vpid,
                    gba_common.params.device_path, why);
}

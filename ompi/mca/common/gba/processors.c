/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open MPI's progress in a wait, and whether waits yield the core because the processes of the job
 * on this host share processors. A process that is bound to few processors cannot tell alone: the
 * other processes may be bound to other ones, or to the same. So each process with fewer processors
 * than the host has processes of the job publishes them in the modex of MPI_Init, and their union
 * counts. A process that publishes none has enough for all. The quota of a cgroup is taken to be
 * that of all these processes together, as a launcher sets it.
 *
 * The scoll component opens after that exchange and reads what the coll component has published.
 */
#include "ompi/mca/common/gba/open.h"
#include "ompi/mca/common/gba/module.h"

#include "gba/base/order.h"

static char modex_key[] = "gba.processors"; /* not const: see capability.c of coll */

_Static_assert(sizeof((gba_processors_t *)NULL)->map == GBA_MODEX_WORDS * sizeof(uint64_t),
               "the words of the modex hold a map");

enum { UNKNOWN, ENOUGH, SHARED };

static gba_word_t known[2]; /* without and with a process that serves the device */

void gba_common_processors_publish(void)
{
    uint64_t words[GBA_MODEX_WORDS];
    size_t count = GBA_MODEX_WORDS;
    gba_processors_t mine;

    if (!gba_common.enabled)
        return;
    gba_processors_get(&mine);
    if (gba_processors_count(&mine) > gba_compat_local_processes())
        return;
    memcpy(words, mine.map, sizeof words);
    while (count > 1 && 0 == words[count - 1])
        count--;
    /* If that fails, the others take this process to have enough. */
    (void)gba_compat_modex_put(modex_key, words, count);
}

/* The processors of the visited processes, until one has enough for all. */
struct sum {
    gba_processors_t all;
    bool enough;
};

static void process_visit(void *ctx, opal_process_name_t *name)
{
    uint64_t words[GBA_MODEX_WORDS] = {0};
    uint32_t map[GBA_PROCESSOR_WORDS];
    struct sum *sum = ctx;

    if (name->vpid == OPAL_PROC_MY_NAME.vpid || sum->enough)
        return;
    sum->enough = 0 == gba_common_modex_get(name, modex_key, words, GBA_MODEX_WORDS);
    memcpy(map, words, sizeof map);
    for (size_t i = 0; i < GBA_PROCESSOR_WORDS; i++)
        sum->all.map[i] |= map[i];
}

bool gba_common_processors_shared(bool served)
{
    const uint64_t answer = gba_word_load_relaxed(&known[served]);
    const uint32_t processes = gba_compat_local_processes(), needed = processes + served;
    struct sum sum = {.enough = false};

    if (UNKNOWN != answer)
        return SHARED == answer;
    gba_processors_get(&sum.all);
    if (gba_processors_count(&sum.all) < needed && sum.all.quota >= needed)
        gba_compat_local_visit(process_visit, &sum);
    sum.enough = sum.enough || gba_processors_count(&sum.all) >= needed;
    /* Several threads come to the same answer. */
    gba_word_store_relaxed(&known[served], sum.enough ? ENOUGH : SHARED);
    if (!sum.enough && gba_common.params.verbose > 1)
        opal_output(gba_common.output,
                    "%s: process %u: %u processes of the job%s share %u processors of this host, "
                    "and yield them while they wait",
                    gba_common_framework.label, (unsigned)OPAL_PROC_MY_NAME.vpid,
                    (unsigned)processes, served ? " and gba-switchd" : "",
                    (unsigned)gba_processors_count(&sum.all));
    return !sum.enough;
}

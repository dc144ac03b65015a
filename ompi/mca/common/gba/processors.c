/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the processes of the job on this host share processors. A process that is bound to few
 * processors cannot tell alone: the other processes may be bound to other ones, or to the same. So
 * each process with fewer processors than the host has processes of the job publishes them in the
 * modex of MPI_Init, and their union counts. A process that publishes none has enough for all. The
 * quota of a cgroup is taken to be that of all these processes together, as a launcher sets it.
 *
 * The scoll component opens after that exchange and reads what the coll component has published.
 */
#include "ompi/mca/common/gba/open.h"
#include "ompi/mca/common/gba/module.h"

#include "gba/base/order.h"

/* A value of the modex: a word of the map, its number, and whether there is a next word.
 */
#define NUMBER_SHIFT 32
#define NEXT         (UINT64_C(1) << 63)

enum { UNKNOWN, ENOUGH, SHARED };

static gba_word_t known[2]; /* without and with a process that serves the device */

static void word_name(uint32_t index, char name[32])
{
    snprintf(name, 32, "gba.processors.%u", (unsigned)index);
}

void gba_common_processors_publish(void)
{
    gba_processors_t mine;
    uint32_t index = 0, last = 0;
    char name[32];

    if (!gba_common.enabled)
        return;
    gba_processors_get(&mine);
    if (gba_processors_count(&mine) > gba_compat_local_processes())
        return;
    for (uint32_t w = 0; w < GBA_PROCESSOR_WORDS; w++)
        last = 0 != mine.map[w] ? w : last;
    for (uint32_t w = 0; w <= last; w++)
        if (0 != mine.map[w]) {
            word_name(index++, name);
            /* If that fails, the others take this process to have enough. */
            (void)gba_compat_modex_put(name, mine.map[w] | (uint64_t)w << NUMBER_SHIFT |
                                                 (w < last ? NEXT : 0));
        }
}

/* The processors of the visited processes, until one has enough for all. */
struct sum {
    gba_processors_t all;
    bool enough;
};

static void process_visit(void *ctx, opal_process_name_t *name)
{
    struct sum *sum = ctx;
    uint64_t word = NEXT;
    char key[32];

    if (name->vpid == OPAL_PROC_MY_NAME.vpid)
        return;
    for (uint32_t i = 0; 0 != (word & NEXT) && !sum->enough; i++) {
        word_name(i, key);
        if (OPAL_SUCCESS == gba_compat_modex_get(name, key, &word))
            sum->all.map[word >> NUMBER_SHIFT & (GBA_PROCESSOR_WORDS - 1)] |= (uint32_t)word;
        else
            sum->enough = true;
    }
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

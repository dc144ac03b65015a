/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why communicators have no device, for gba_info --why. The texts are in a memory file of this
 * process, which gba_info opens through /proc: only this user and root can, and the file ends with
 * the process, also if it is killed. If the program has closed its descriptor, nothing is written
 * any more.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "gba/base/descriptor.h"
#include "gba/base/memory_file.h"
#include "gba/base/why.h"
#include "ompi/mca/common/gba/module.h"

static struct {
    struct gba_descriptor file; /* if there are slots */
    uint32_t slots;
    bool *used;
} texts;

static bool file_open(void)
{
    char name[GBA_WHY_NAME_MAX];
    int file;

    gba_why_name((int32_t)getpid(), name);
    file = gba_memory_file(name);
    if (file < 0)
        return false;
    if (!gba_descriptor_keep(&texts.file, file)) {
        close(file);
        return false;
    }
    return true;
}

/* A free slot, from 1 on; 0: out of memory or of files. With the lock held. */
static uint32_t slot_get(void)
{
    uint32_t slot = 0;
    bool *more;

    while (slot < texts.slots && texts.used[slot])
        slot++;
    if (slot < texts.slots) {
        texts.used[slot] = true;
        return slot + 1;
    }
    if (0 == texts.slots && !file_open())
        return 0;
    more = realloc(texts.used, 2 * slot + 8);
    if (more == NULL) {
        if (0 == texts.slots)
            gba_descriptor_close(&texts.file);
        return 0;
    }
    texts.used = more;
    memset(texts.used + slot, 0, slot + 8);
    texts.slots = 2 * slot + 8;
    texts.used[slot] = true;
    return slot + 1;
}

/* A reader at the same time may see a mix of the old and the new text, which is terminated, too. A
 * failure is ignored: the text is for information only. */
static void slot_write(uint32_t slot, const char *text)
{
    char bytes[GBA_WHY_BYTES] = "";

    snprintf(bytes, sizeof bytes, "%s", text);
    (void)!pwrite(gba_descriptor_number(&texts.file), bytes, sizeof bytes,
                  (off_t)(slot - 1) * GBA_WHY_BYTES);
}

void gba_common_why_set(struct gba_common_module *m, const char *name, const char *why)
{
    char text[GBA_WHY_BYTES];

    if (0 != m->rank)
        return;
    snprintf(text, sizeof text, "%s: %s", name, why);
    opal_mutex_lock(&gba_common.lock);
    if ('\0' == gba_common.why[0])
        memcpy(gba_common.why, text, sizeof gba_common.why);
    if (0 == m->why)
        m->why = slot_get();
    if (0 != m->why)
        slot_write(m->why, text);
    opal_mutex_unlock(&gba_common.lock);
}

void gba_common_why_clear(struct gba_common_module *m)
{
    opal_mutex_lock(&gba_common.lock);
    if (0 != m->why) {
        slot_write(m->why, "");
        texts.used[m->why - 1] = false;
        m->why = 0;
    }
    opal_mutex_unlock(&gba_common.lock);
}

void gba_common_why_close(void)
{
    if (0 == texts.slots)
        return;
    gba_descriptor_close(&texts.file);
    free(texts.used);
    texts.slots = 0;
    texts.used = NULL;
}

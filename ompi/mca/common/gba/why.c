/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why communicators have no device, for gba_info --why. The texts are in a memory file of this
 * process, which gba_info opens through /proc: only this user and root can, and the file ends with
 * the process, also if it is killed. If the program has closed its descriptor, nothing is written
 * any more.
 */
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "gba/base/descriptor.h"
#include "gba/base/memory_file.h"
#include "gba/base/why.h"
#include "ompi/mca/common/gba/module.h"

static struct gba_descriptor texts = {.number = -1};

/* Returns whether there is a file. */
static bool file_open(void)
{
    char name[GBA_WHY_NAME_MAX];
    int file;

    if (texts.number >= 0)
        return true;
    gba_why_name((int32_t)getpid(), name);
    file = gba_memory_file(name);
    if (file < 0)
        return false;
    if (gba_descriptor_keep(&texts, file))
        return true;
    close(file);
    return false;
}

/* A free slot, from 1 on; 0: there is no file. With the lock held. */
static uint32_t slot_get(void)
{
    uint32_t slot = 0;
    char first;

    if (!file_open())
        return 0;
    while (1 == pread(gba_descriptor_number(&texts), &first, 1, (off_t)slot * GBA_WHY_BYTES) &&
           '\0' != first)
        slot++;
    return slot + 1;
}

/* A reader at the same time may see a mix of the old and the new text, which is terminated, too. A
 * failure is ignored: the text is for information only. */
static void slot_write(uint32_t slot, const char *text)
{
    char bytes[GBA_WHY_BYTES] = "";

    snprintf(bytes, sizeof bytes, "%s", text);
    (void)!pwrite(gba_descriptor_number(&texts), bytes, sizeof bytes,
                  (off_t)(slot - 1) * GBA_WHY_BYTES);
}

void gba_common_why_clear(struct gba_common_module *m)
{
    opal_mutex_lock(&gba_common.lock);
    if (0 != m->why) {
        slot_write(m->why, "");
        m->why = 0;
    }
    opal_mutex_unlock(&gba_common.lock);
}

void gba_common_why_set(struct gba_common_module *m, const char *name, const char *why)
{
    char text[GBA_WHY_BYTES];

    if (m->path <= GBA_PATH_SIM)
        gba_common_why_clear(m);
    if (m->path <= GBA_PATH_SIM || 0 != m->rank)
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

void gba_common_why_close(void)
{
    gba_descriptor_close(&texts);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the plug-ins of this tree share. */
#ifndef GBA_BOOTSTRAP_PLUGIN_H
#define GBA_BOOTSTRAP_PLUGIN_H

#include <stdio.h>

#include "gba/bootstrap/backend.h"

/* One call, as each member sends it to all before the data. */
struct gba_boot_call {
    uint64_t kind, bytes, root; /* kind: 1 gather, 2 broadcast */
};

/* Whether all members make the same call. Returns GBA_OK or GBA_ERR_MISMATCH, which sets message.
 */
static inline gba_status_t gba_boot_calls_match(const struct gba_boot_call *calls, uint32_t size,
                                                char *message)
{
    for (uint32_t rank = 1; rank < size; rank++)
        if (calls[rank].kind != calls[0].kind || calls[rank].bytes != calls[0].bytes ||
            calls[rank].root != calls[0].root) {
            snprintf(message, GBA_BOOT_MESSAGE,
                     "rank 0 and rank %u make different calls: they are not in step",
                     (unsigned)rank);
            return GBA_ERR_MISMATCH;
        }
    return GBA_OK;
}

static inline gba_status_t gba_boot_call_timeout(uint32_t size, uint64_t timeout, char *message)
{
    snprintf(message, GBA_BOOT_MESSAGE,
             "timeout: some of the %u members did not come within %u seconds "
             "(GBA_BOOTSTRAP_TIMEOUT)",
             (unsigned)size, (unsigned)(timeout / 1000000000u));
    return GBA_ERR_TIMEOUT;
}

#endif

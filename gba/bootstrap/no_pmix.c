/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces pmix.c if configure found no PMIx. */
#include <stdio.h>

#include "gba/bootstrap/backend.h"

bool gba_boot_has_pmix(void)
{
    return false;
}

gba_status_t gba_boot_pmix_open(struct gba_boot_backend **backend, char *message)
{
    (void)backend;
    snprintf(message, GBA_BOOT_MESSAGE, "libgba_bootstrap was built without PMIx");
    return GBA_ERR_UNSUPPORTED;
}

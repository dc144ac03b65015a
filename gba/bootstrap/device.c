/* SPDX-License-Identifier: BSD-3-Clause */
/* The device of each member, with a key of the job that rank 0 hands over. */
#include <string.h>

#include "gba/bootstrap.h"
#include "gba/gba.h"

/* From rank 0 to the other members. */
struct handed_key {
    uint8_t there; /* 1: there is a key */
    uint8_t key[GBA_KEY_SIZE];
};

gba_status_t gba_bootstrap_device(const gba_bootstrap_t *bootstrap, const char *path,
                                  const gba_device_attr_t *attr, gba_device_t **device)
{
    const gba_oob_t *oob = gba_bootstrap_oob(bootstrap);
    gba_device_attr_t mine = {.job = NULL};
    struct handed_key handed = {.there = 0};
    gba_device_t *opened = NULL;
    gba_status_t status = GBA_OK, sent;

    if (attr != NULL)
        mine = *attr;
    if (mine.job == NULL)
        mine.job = gba_bootstrap_job(bootstrap);
    if (0 == oob->rank) {
        status = gba_global_device_get(path, &mine, &opened);
        handed.there = GBA_OK == status && GBA_OK == gba_device_job_key(opened, handed.key);
    }
    /* All members make this call, whether rank 0 has a device or not. */
    sent = gba_bootstrap_bcast(oob->ctx, &handed, sizeof handed, 0);
    if (GBA_OK == sent && 0 != oob->rank) {
        if (1 == handed.there)
            mine.key = handed.key;
        status = gba_global_device_get(path, &mine, &opened);
    }
    explicit_bzero(&handed, sizeof handed);
    if (GBA_OK != sent) {
        gba_global_device_put(opened);
        return GBA_ERR_OOB;
    }
    if (GBA_OK == status)
        *device = opened;
    return status;
}

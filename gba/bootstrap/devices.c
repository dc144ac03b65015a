/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/bootstrap/devices.h"

#include "gba/bootstrap/settings.h"

void gba_boot_devices_find(struct gba_boot_devices *devices, gba_params_t *params)
{
    const char *path = params->device_path, *list = params->device_list;
    gba_params_t defaults;

    gba_params_default(&defaults);
    path = gba_device_choices_first(path != defaults.device_path ? path : NULL,
                                    list != defaults.device_list ? list : NULL, &devices->choices);
    if (path != NULL)
        params->device_path = (char *)(uintptr_t)path; /* is not written to */
    devices->params = params;
}

/* By the words of the members on this host, in the order of the ranks. Without memory for the
 * choice the first one stays: it affects speed only. */
gba_status_t gba_boot_devices_choose(struct gba_boot_devices *devices, gba_bootstrap_t *bootstrap,
                                     uint64_t *words)
{
    const gba_device_choices_t *choices = &devices->choices;
    const gba_oob_t *oob = gba_bootstrap_oob(bootstrap);
    const uint64_t mine = choices->count > 1 ? gba_device_choices_word(choices) : 0;
    uint32_t count = 0, self = 0, chosen;
    gba_status_t status;
    char unused[160];

    status = oob->allgather(oob->ctx, &mine, words, sizeof mine);
    for (uint32_t i = 0; GBA_OK == status && i < oob->size; i++) {
        if (i == oob->rank)
            self = count;
        if (gba_boot_same_host(bootstrap, i))
            words[count++] = words[i];
    }
    if (GBA_OK == status && choices->count > 1 &&
        GBA_OK == gba_device_choose(choices, devices->params->device_map, words, count, self,
                                    &chosen, unused, sizeof unused))
        devices->params->device_path = devices->choices.list[chosen].path;
    return status;
}

/* The time for the other devices, for gba_device_choices_open: the members wait meanwhile, and
 * GBA_BOOTSTRAP_TIMEOUT must not end their call. */
static uint32_t others_ms(void)
{
    uint64_t limit = 0;
    char unused[160];

    (void)gba_boot_env_timeout(&limit, unused, sizeof unused);
    return limit > UINT64_C(20000000000) ? 0 : (uint32_t)(limit / 2 / 1000000u);
}

/* gba_team_attr_t.devices: the others, opened at the first call. */
static uint32_t others_get(void *ctx, gba_device_t **list, uint32_t max)
{
    struct gba_boot_devices *devices = ctx;
    uint32_t count = 0;

    if (!devices->opened)
        gba_device_choices_open(&devices->choices, devices->params->device_path, &devices->attr,
                                others_ms(), devices->others);
    devices->opened = true;
    for (uint32_t i = 0; i < devices->choices.count && count < max; i++)
        if (devices->others[i] != NULL)
            list[count++] = devices->others[i];
    return count;
}

void gba_boot_devices_open(struct gba_boot_devices *devices, const gba_bootstrap_t *bootstrap,
                           gba_team_attr_t *attr)
{
    devices->attr = (gba_device_attr_t){.job = gba_bootstrap_job(bootstrap),
                                        .key_file = devices->params->switch_key_file};
    attr->device_status =
        gba_global_device_get(devices->params->device_path, &devices->attr, &devices->chosen);
    attr->device = devices->chosen;
    if (attr->device == NULL && 0 != others_get(devices, &attr->device, 1))
        attr->device_status = GBA_OK;
    if (attr->device == NULL || devices->choices.count < 2)
        return;
    attr->devices = others_get;
    attr->devices_ctx = devices;
}

void gba_boot_devices_close(struct gba_boot_devices *devices)
{
    gba_global_device_put(devices->chosen);
    for (uint32_t i = 0; i < GBA_DEVICE_CHOICES_MAX; i++)
        gba_global_device_put(devices->others[i]);
}

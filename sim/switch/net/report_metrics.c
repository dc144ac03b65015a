/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the switch as metrics. */
#include <stdio.h>

#include "gba/base/metrics.h"
#include "sim/switch/net/report.h"

static void print_all(FILE *out, struct gba_switchd_view *view)
{
    const struct gba_switch *device = view->daemon->device;
    const struct gba_model *model = gba_switch_model(device);
    struct gba_metrics metrics = {.up = true,
                                  .groups = model->groups,
                                  .ports = model->ports,
                                  .bad_accesses = model->bad_access};
    uint8_t uuid[16];

    gba_model_uuid(model, uuid);
    for (unsigned i = 0; i < sizeof(uuid); i++)
        snprintf(metrics.unit + 2 * i, 3, "%02x", uuid[i]);
    for (uint32_t port = 0; port < model->ports; port++)
        metrics.ports_up += model->port[port].up;
    for (uint32_t number = 0; number < model->groups; number++) {
        const struct gba_model_group *group = &model->group[number];
        const struct gba_switch_identity *user =
            group->record.holder == 0 ? NULL : gba_switch_user(device, group->record.holder - 1);

        for (uint32_t i = 0; i < GBA_COUNTERS; i++)
            metrics.counters[i] += group->core.counters[i];
        if (group->record.life == GBA_LIFE_FREE)
            continue;
        metrics.groups_used++;
        if (user != NULL && gba_switch_sees(view->viewer, user))
            gba_metrics_own(&metrics, user->user, user->job, user->batch_job);
    }
    gba_metrics_print(out, &metrics, 1);
}

char *gba_switchd_report_metrics(struct gba_switchd_view *view, size_t *length)
{
    return gba_switchd_print(view, print_all, length);
}

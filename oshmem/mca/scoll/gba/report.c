/* SPDX-License-Identifier: BSD-3-Clause */
/* The output for the user: one line for each unexpected fallback. */
#include "oshmem/mca/scoll/gba/scoll_gba.h"

/* Whether the user requested another carrier of signals by name, and its absence has not been
 * reported. */
static bool transport_due(const gba_scoll_module_t *module)
{
    bool due = GBA_SCOLL_TRANSPORT_SPML == gba_scoll->transport &&
               GBA_SCOLL_CARRIER_PML == module->row.carrier;

    opal_mutex_lock(&gba_scoll->lock);
    due = due && !gba_scoll->transport_reported;
    gba_scoll->transport_reported = gba_scoll->transport_reported || due;
    opal_mutex_unlock(&gba_scoll->lock);
    return due;
}

void gba_scoll_report_path(const gba_scoll_module_t *module, gba_status_t reason, uint32_t culprit,
                           const char *why)
{
    bool asked = gba_scoll->device_asked;
    char set[64], transport[256], more[700];
    /* These reasons result from the user's own parameters. */
    bool reserved = module->reserved && GBA_ERR_NO_GROUP == reason;
    bool due =
        !reserved && gba_common_reason_due(&gba_scoll->device, &gba_scoll->lock, reason, asked);

    /* The member that knows the cause. */
    if (module->rank != (due && asked && gba_common_reason_own(reason) ? culprit : 0))
        return;
    snprintf(more, sizeof more, "scoll %s", gba_status_name(reason));
    due = due && !gba_common_device_usable(&gba_scoll->device, reason) &&
          gba_common_first_on_host(more);
    gba_scoll_name_set(module->set, set, sizeof set);
    gba_scoll_row_describe(&module->row, transport, sizeof transport);
    gba_common_device_describe(&gba_scoll->device, reason, gba_scoll->params.device_path,
                               due && asked, more, sizeof more);
    if (reserved)
        snprintf(more, sizeof more, ", except the %u of group_reserve", gba_scoll->group_reserve);
    if (transport_due(module) || due)
        gba_common_alert("%s: %s%s%s", set, why, transport, more);
    else
        opal_output_verbose(1, gba_scoll->output, GBA_SCOLL_LABEL ": %s: %s%s%s", set, why,
                            transport, more);
}

void gba_scoll_report_missing(gba_scoll_module_t *module)
{
    char set[64], member[96], line[384];
    uint32_t rank = 0 == module->rank ? module->heard + 1 : 0;
    uint64_t patience = 3;

    /* The leader knows which member is missing. If the leader itself is missing, rank 1 can
     * conclude it. After one or two barriers a hello or an activation may still be in transit, and
     * a leader sends no activation before offload_after barriers. */
    if (0 != module->rank)
        patience += (uint64_t)gba_scoll->params.offload_after;
    if (module->agreed || module->reported || 0 != module->agree_at ||
        module->barriers < patience || module->rank > 1 || rank >= module->size)
        return;
    module->reported = true;
    gba_scoll_name_set(module->set, set, sizeof set);
    gba_scoll_name_member(module->set, rank, member, sizeof member);
    snprintf(line, sizeof line, "%s: %s: %s (%s)", set, gba_path_name(GBA_PATH_FALLBACK),
             0 == module->rank ? gba_status_text(GBA_ERR_NO_PLUGIN)
                               : "the leader or another member lacks the plugin or has it disabled",
             member);
    if (gba_scoll->device_asked && 0 == module->rank)
        gba_common_alert("%s", line);
    else
        opal_output_verbose(1, gba_scoll->output, GBA_SCOLL_LABEL ": %s", line);
}

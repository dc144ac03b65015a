/* SPDX-License-Identifier: BSD-3-Clause */
/* The output for the user: one line for each unexpected fallback. */
#include "oshmem/mca/scoll/gba/scoll_gba.h"

/* Whether the user requested another carrier of signals by name, and its absence has not been
 * reported. */
static bool transport_due(const gba_scoll_module_t *module)
{
    bool due = GBA_SCOLL_TRANSPORT_SPML == gba_common.own.signals &&
               GBA_SCOLL_CARRIER_PML == module->slab.carrier;

    opal_mutex_lock(&gba_common.lock);
    due = due && !gba_scoll->transport_reported;
    gba_scoll->transport_reported = gba_scoll->transport_reported || due;
    opal_mutex_unlock(&gba_common.lock);
    return due;
}

void gba_scoll_report_path(void *owner, uint32_t reporter, gba_status_t reason, uint32_t culprit,
                           const char *why)
{
    gba_scoll_module_t *module = owner;
    bool asked = gba_common.device_asked;
    char set[64], transport[256], more[700];
    /* These reasons result from the user's own parameters. */
    bool reserved = module->reserved && GBA_ERR_NO_GROUP == reason;
    bool due = !reserved && gba_common_reason_due(reason, asked);

    gba_scoll_name_set(module->set, set, sizeof set);
    gba_common_reason_keep(&module->base, set, why);
    /* Only the member that knows the cause, or the reporter, prints the line. All members choose
     * the same one; `due` may differ between them. */
    if (module->base.rank != (asked && gba_common_reason_own(reason) ? culprit : reporter))
        return;
    due = gba_common_reason_describe(reason, due, asked, more, sizeof more);
    gba_scoll_slab_describe(&module->slab, transport, sizeof transport);
    if (reserved)
        snprintf(more, sizeof more, ", except the %u of group_reserve",
                 gba_common.own.group_reserve);
    gba_common_print(transport_due(module) || due, "%s: %s%s%s", set, why, transport, more);
}

void gba_scoll_report_missing(gba_scoll_module_t *module)
{
    char set[64], member[96], line[384];
    uint32_t rank = 0 == module->base.rank ? module->members_seen + 1 : 0;
    uint64_t patience = 3;

    /* The leader knows which member is missing. If the leader itself is missing, rank 1 can
     * conclude it. After one or two barriers a hello or an activation may still be in transit, and
     * a leader sends no activation before offload_after barriers. */
    if (0 != module->base.rank)
        patience += (uint64_t)gba_common.params.offload_after;
    if (module->base.agreed || module->reported || 0 != module->agree_at ||
        module->barriers < patience || module->base.rank > 1 || rank >= module->base.size)
        return;
    module->reported = true;
    gba_scoll_name_set(module->set, set, sizeof set);
    gba_scoll_name_member(module, rank, member, sizeof member);
    snprintf(line, sizeof line, "%s: %s: %s (%s)", set, gba_path_name(GBA_PATH_FALLBACK),
             0 == module->base.rank
                 ? gba_status_text(GBA_ERR_NO_PLUGIN)
                 : "the leader or another member lacks the plugin or has it disabled",
             member);
    gba_common_print(gba_common.device_asked && 0 == module->base.rank, "%s", line);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the user gets to see: one line per fallback that was not wanted. */
#include "oshmem/mca/scoll/gba/scoll_gba.h"

/* Whether the user asked for other signals by name, and has not been told that there are none. */
static bool signals_due(const gba_scoll_module_t *module)
{
    bool due = GBA_SCOLL_SIGNALS_SPML == gba_scoll->signals &&
               GBA_SCOLL_CARRIER_PML == module->row.carrier;

    opal_mutex_lock(&gba_scoll->lock);
    due = due && !gba_scoll->signals_told;
    gba_scoll->signals_told = gba_scoll->signals_told || due;
    opal_mutex_unlock(&gba_scoll->lock);
    return due;
}

void gba_scoll_report_path(const gba_scoll_module_t *module, gba_status_t reason, const char *why)
{
    const char *detail = gba_scoll->device.detail;
    char set[64], signals[256], more[512] = "";
    /* What a parameter of ours brought about is no surprise. */
    bool reserved = module->reserved && GBA_ERR_NO_GROUP == reason;
    bool due = !reserved && gba_common_reason_due(&gba_scoll->reasons_told, &gba_scoll->lock,
                                                  reason, gba_scoll->device_asked);

    if (0 != module->rank)
        return;
    gba_scoll_name_set(module->set, set, sizeof set);
    gba_scoll_row_describe(&module->row, signals, sizeof signals);
    if (reserved)
        snprintf(more, sizeof more, ", but for the %u of group_reserve", gba_scoll->group_reserve);
    else if (due && gba_scoll->device_asked)
        snprintf(more, sizeof more, ", although device_path is \"%.200s\"%s%s%s",
                 gba_scoll->params.device_path, '\0' == detail[0] ? "" : " (", detail,
                 '\0' == detail[0] ? "" : ")");
    due = signals_due(module) || due;
    opal_output_verbose(due ? 0 : 1, gba_scoll->output, GBA_SCOLL_LABEL ": %s: %s%s%s", set, why,
                        signals, more);
}

void gba_scoll_report_missing(gba_scoll_module_t *module)
{
    char set[64], member[96];
    uint32_t rank = 0 == module->rank ? module->heard + 1 : 0;

    /* The leader knows who it is; if it is the leader itself, rank 1 has reason to think so. After
     * one or two barriers a note may be on its way still. */
    if (module->agreed || module->told || 0 != module->agree_at || module->barriers < 3 ||
        module->rank > 1 || rank >= module->size)
        return;
    module->told = true;
    gba_scoll_name_set(module->set, set, sizeof set);
    gba_scoll_name_member(module->set, rank, member, sizeof member);
    opal_output_verbose(gba_scoll->device_asked && 0 == module->rank ? 0 : 1, gba_scoll->output,
                        GBA_SCOLL_LABEL ": %s: %s: %s (%s)", set, gba_path_name(GBA_PATH_CALLER),
                        0 == module->rank ? gba_status_text(GBA_ERR_NO_PLUGIN)
                                          : "the leader or another member takes no part",
                        member);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The agreement of members that do not exist, for gba_team_predict and for gba_predict. */
#ifndef GBA_AGREE_PREDICT_H
#define GBA_AGREE_PREDICT_H

#include "gba/agree/plan.h"

/* Equal members on equal hosts, with ranks in blocks. */
struct gba_replicas {
    uint32_t hosts, members;           /* members on each host */
    uint32_t device_hosts;             /* hosts that share one device; a simulated one has one */
    const struct gba_cluster *cluster; /* the expected times; NULL: by the parameters of attr */
};

/* Get the list of candidates with which such members end their agreement. attr: of each member, as
 * for gba_team_predict. list: set on GBA_OK. Returns GBA_OK, GBA_ERR_PARAM or GBA_ERR_NOMEM. */
gba_status_t gba_predict_list(const gba_team_attr_t *attr, const struct gba_replicas *replicas,
                              struct gba_list *list);

#endif

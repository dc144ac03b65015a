/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libgba: barrier groups of a Global Barrier Accelerator, and teams that agree to use them.
 *
 * The layers, lowest first. A *device* is real or simulated. A *group* is a barrier group of a
 * device, with this process as one member. A *team* is the set of members of a communicator or
 * active set, which have agreed on the path of their barriers. A program with its own runtime needs
 * only the parameters, the global device and the team, and supplies what runtime.h declares.
 *
 * Conventions. Functions return GBA_OK (0), GBA_INPROGRESS (1), GBA_UNFINISHED (2) or a negative
 * GBA_ERR_*. They write their outputs on GBA_OK only, unless their comment states otherwise.
 * "Collective" means that all members call the function, in the same order. Ranks and members
 * are numbered from 0. A pointer argument must not be NULL, unless the comment allows it.
 */
#ifndef GBA_H
#define GBA_H

#include "gba/cores.h"
#include "gba/device.h"
#include "gba/params.h"
#include "gba/runtime.h"
#include "gba/stall.h"
#include "gba/team.h"
#include "gba/types.h"

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of PEs: the PEs of a new team, and their numbers in it. */
#include "team_impl.h"

#include <stdlib.h>

static struct team world_set, world_mpi;

team_t team_world = TEAM_INVALID;
team_t team_world_mpi = TEAM_INVALID;

int teams_init(void)
{
    if (team_set_init(&world_set) != 0)
        return -1;
    if (team_mpi_init(&world_mpi) != 0) {
        team_set_fini();
        return -1;
    }
    team_world = &world_set;
    team_world_mpi = &world_mpi;
    return 0;
}

void teams_fini(void)
{
    team_set_fini();
    team_world = TEAM_INVALID;
    team_world_mpi = TEAM_INVALID;
}

int team_my_pe(team_t team)
{
    return team ? team->my_pe : -1;
}

int team_n_pes(team_t team)
{
    return team ? team->n_pes : -1;
}

const char *team_sync_name(team_t team)
{
    return team ? team->ops->sync_name(team) : "none";
}

void team_sync(team_t team)
{
    if (team)
        team->ops->sync(team);
}

void team_destroy(team_t team)
{
    if (!team)
        return;
    team->ops->destroy(team);
    free(team);
}

/* PE number `pe` of a world as a number in a triplet, or -1. */
static int number_in(int pe, int start, int stride, int size)
{
    const int number = stride == 0 ? 0 : (pe - start) / stride;

    return number >= 0 && number < size && start + number * stride == pe ? number : -1;
}

int team_translate_pe(team_t src, int src_pe, team_t dest)
{
    if (!src || !dest || src->ops != dest->ops || src_pe < 0 || src_pe >= src->n_pes)
        return -1;
    return number_in(src->start + src_pe * src->stride, dest->start, dest->stride, dest->n_pes);
}

/*
 * One team, or several teams of different colors without a common PE. start, stride and size are
 * those of this PE's team, in numbers of the parent. All PEs of the parent call this, also with
 * color -1, because all must agree.
 */
static int split(team_t parent, int start, int stride, int size, int color, team_t *new_team)
{
    struct team *team = malloc(sizeof *team);
    int status;

    if (team)
        *team = (struct team){
            .ops = parent->ops,
            .my_pe = number_in(parent->my_pe, start, stride, size),
            .n_pes = size,
            .start = parent->start + start * parent->stride,
            .stride =
                size > 1 ? stride * parent->stride : 1, /* a team of one PE may have any stride */
        };
    status = parent->ops->make(parent, team, color);
    if (status == 0 && color >= 0) {
        *new_team = team;
        return 0;
    }
    free(team);
    return status;
}

int team_split_strided(team_t parent, int start, int stride, int size, team_t *new_team)
{
    *new_team = TEAM_INVALID;
    if (!parent || size < 1 || (stride == 0 && size > 1))
        return -1;
    /* If both ends are in the parent, all PEs are. All PEs compute the same, so no exchange is
     * needed. */
    const int64_t last = start + (int64_t)stride * (size - 1);
    if (start < 0 || start >= parent->n_pes || last < 0 || last >= parent->n_pes)
        return -1;
    return split(parent, start, stride, size,
                 number_in(parent->my_pe, start, stride, size) >= 0 ? 0 : -1, new_team);
}

int team_split_2d(team_t parent, int xrange, team_t *x_team, team_t *y_team)
{
    int x, y, row, x_status, y_status;

    *x_team = TEAM_INVALID;
    *y_team = TEAM_INVALID;
    if (!parent || xrange < 1)
        return -1;
    if (xrange > parent->n_pes)
        xrange = parent->n_pes;
    x = parent->my_pe % xrange;
    y = parent->my_pe / xrange;
    row = parent->n_pes - y * xrange; /* PEs from the start of my row to the end of the parent */
    if (row > xrange)
        row = xrange;
    x_status = split(parent, y * xrange, 1, row, y, x_team);
    y_status = split(parent, x, xrange, (parent->n_pes - x + xrange - 1) / xrange, x, y_team);
    return x_status != 0 ? x_status : y_status;
}

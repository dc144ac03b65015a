/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/gpu/proxy.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void gba_gpu_release(struct gba_gpu_group *group)
{
    char line[288];

    group->sequence++;
    group->gathered = 0;
    group->since = 0;
    if (group->reported) {
        group->reported = false;
        snprintf(line, sizeof line, "%s (gpu): barrier %u of its GPU members has ended",
                 group->own.name, group->sequence);
        gba_log_text(GBA_LOG_TEAM, line);
    }
    for (uint32_t i = 0; i < group->members; i++)
        gba_word_store_release(&group->flags[i].word, group->sequence);
}

void gba_gpu_fail(struct gba_gpu_group *group, gba_status_t status)
{
    const uint64_t word =
        (uint64_t)(uint32_t)-status << 32 | (uint32_t)(group->sequence + 1 + GBA_GPU_AHEAD);
    char line[400];

    for (uint32_t i = 0; i < group->members; i++)
        gba_word_store_release(&group->flags[i].word, word);
    gba_word_store_release(&group->fate, (uint64_t)(uint32_t)-status);
    snprintf(line, sizeof line, "%s (gpu): barrier %u of its GPU members failed: %s",
             group->own.name, group->sequence + 1, gba_status_text(status));
    gba_log_text(GBA_LOG_ERROR, line);
}

struct gba_gpu_group *gba_gpu_group_new(gba_team_t *team, const gba_gpu_attr_t *attr)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const uint32_t members = 0 == attr->members ? 1 : attr->members;
    struct gba_gpu_group *group = calloc(1, sizeof *group);
    void *memory;

    if (group == NULL)
        return NULL;
    group->bytes = (2 * members * sizeof *group->doors + page - 1) / page * page;
    memory = mmap(NULL, group->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (MAP_FAILED == memory) {
        free(group);
        return NULL;
    }
    group->team = team;
    group->attr = *attr;
    group->members = members;
    group->doors = memory;
    group->flags = group->doors + members;
    group->sequence = attr->team_attr->params->first_sequence;
    for (uint32_t i = 0; i < members; i++) {
        gba_word_store_relaxed(&group->doors[i].word, (uint64_t)group->sequence << 32);
        gba_word_store_relaxed(&group->flags[i].word, group->sequence);
    }
    gba_team_own(team, &group->own);
    return group;
}

void gba_gpu_group_free(struct gba_gpu_group *group)
{
    munmap(group->doors, group->bytes);
    free(group);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Events, interrupts and errors, and which port they belong to. */
#include "sim/model/event.h"

#include <string.h>

/* The counter of an error follows from its number. */
#define ERROR_COUNTER(error) (GBA_COUNTER_ERR_ACCESS + (error)-GBA_ERROR_ACCESS)
_Static_assert(ERROR_COUNTER(GBA_ERROR_SEQUENCE) == GBA_COUNTER_ERR_SEQUENCE, "order of counters");
_Static_assert(ERROR_COUNTER(GBA_ERROR_MEMBER) == GBA_COUNTER_ERR_MEMBER, "order of counters");
_Static_assert(ERROR_COUNTER(GBA_ERROR_DISABLED) == GBA_COUNTER_ERR_DISABLED, "order of counters");
_Static_assert(ERROR_COUNTER(GBA_ERROR_CONFIG) == GBA_COUNTER_ERR_CONFIG, "order of counters");

void gba_model_clear(struct gba_model_effects *effects)
{
    effects->value = 0;
    effects->error = GBA_ERROR_NONE;
    effects->interrupt = false;
    effects->completed = false;
    effects->releases = 0;
}

bool gba_model_is_bound(const struct gba_model_group *group, uint32_t member, uint32_t port)
{
    return group->bound[member] == 1 + port;
}

bool gba_model_concerns(const struct gba_model_group *group, uint32_t port)
{
    const struct gba_model_record *record = &group->record;

    if (record->holder == 1 + port && record->joined == 0)
        return true;
    for (uint32_t member = 0; member < record->members; member++) {
        if (group->bound[member] == 1 + port)
            return true;
    }
    return false;
}

void gba_model_interrupt(uint32_t port, struct gba_model_effects *effects)
{
    if (!effects->interrupt)
        memset(effects->interrupts, 0, sizeof(effects->interrupts));
    effects->interrupt = true;
    effects->interrupts[port / 64] |= 1ull << (port % 64);
}

void gba_model_raise(struct gba_model *model, uint32_t group, uint32_t port, uint32_t events,
                     struct gba_model_effects *effects)
{
    uint8_t *known = &model->group[group].record.events[port];

    /* Only a new event interrupts. A host acknowledges before it looks at the state, so an event
     * that is set already will still be seen. [IRQ-3] */
    if ((events & ~(uint32_t)*known) != 0 && (model->port[port].irq_mask >> group & 1) != 0)
        gba_model_interrupt(port, effects);
    *known |= (uint8_t)events;
}

void gba_model_count(struct gba_model_core *core, uint32_t error)
{
    if (error == GBA_ERROR_NONE)
        return;
    core->counters[ERROR_COUNTER(error)]++;
    core->status |= GBA_STATUS_ERROR;
    core->last_error = error;
}

void gba_model_report(struct gba_model *model, uint32_t group, uint32_t port, uint32_t error,
                      struct gba_model_effects *effects)
{
    struct gba_model_group *g = &model->group[group];

    if (error == GBA_ERROR_NONE)
        return;
    effects->error = error;
    if (!gba_model_concerns(g, port)) {
        gba_word_add_relaxed(&model->bad_access,
                             1); /* a stranger does not even change the error status [PORT-2] */
        return;
    }
    gba_model_count(&g->core, error);
    if ((g->core.control & GBA_CONTROL_IRQ_EN) != 0)
        gba_model_raise(model, group, port, GBA_IRQ_ERROR, effects);
}

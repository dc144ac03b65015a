/* SPDX-License-Identifier: BSD-3-Clause */
/* The memberships of this process, as the receivers of releases and events. */
#include "sim/switch/client/client.h"

/* A release of a member that left, or of an earlier team, has another address, and is dropped. */
void gba_client_release(struct gba_client *client, const struct gba_switch_message *message)
{
    struct gba_client_membership *membership;

    if (message->group >= GBA_GROUPS || message->member >= GBA_MEMBERS_MAX ||
        client->member[message->group] == NULL)
        return;
    membership = client->member[message->group][message->member];
    if (membership == NULL || membership->address != message->key)
        return;
    /* Release: the kernel has ordered the writes of the members before their arrivals before this
     * message. Pairs with gba_flag_load_acquire of the member. */
    gba_flag_store_release(membership->membership.flag, (uint32_t)message->value);
}

/* Pass an event on to the memberships of that allocation. All of its releases came before. */
void gba_client_event(struct gba_client *client, const struct gba_switch_message *message)
{
    if (message->group >= GBA_GROUPS || client->member[message->group] == NULL)
        return;
    for (uint32_t i = 0; i < GBA_MEMBERS_MAX; i++) {
        struct gba_client_membership *membership = client->member[message->group][i];

        if (membership == NULL || message->generation != membership->membership.generation)
            continue;
        if (0 != (message->value & (GBA_IRQ_DIED | GBA_IRQ_PORT_DOWN)))
            gba_word_store_relaxed(&membership->died, 1);
    }
}

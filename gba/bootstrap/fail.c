/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors that the root sends to all members. */
#include "gba/bootstrap/root.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gba/base/clock.h"

#define LINGER_NS 1000000000u /* time for members to read an error */

void gba_boot_print_ranks(const gba_bootstrap_root_t *root,
                          bool (*absent)(const struct gba_boot_peer *peer), char *text, size_t len)
{
    uint32_t count = 0, last;
    size_t used = 0;

    for (uint32_t rank = 0; rank < root->size; rank++)
        count += absent(&root->peers[rank]);
    used = (size_t)snprintf(text, len, 1 == count ? "rank" : "ranks");
    for (uint32_t rank = 0; rank < root->size; rank = last + 1) {
        for (last = rank; last < root->size && absent(&root->peers[last]);)
            last++;
        if (last == rank)
            continue;
        /* 48 bytes: one more range and the end of the list. */
        if (used + 48 > len) {
            used += (size_t)snprintf(text + used, len - used, ", ...");
            break;
        }
        used += (size_t)snprintf(text + used, len - used, "%s%u", 5 < used ? ", " : " ",
                                 (unsigned)rank);
        if (last > rank + 1)
            used += (size_t)snprintf(text + used, len - used, "-%u", (unsigned)(last - 1));
    }
    snprintf(text + used, len - used, " of %u", (unsigned)root->size);
}

/* Read and drop what members still send, until they close. A close with unread data would reset the
 * connection, and a member would lose the error that it has not read yet. */
static void linger(gba_bootstrap_root_t *root)
{
    uint64_t end = gba_clock_ns() + LINGER_NS;
    char dropped[4096];

    while (root->present > 0 && gba_clock_ns() < end) {
        for (uint32_t rank = 0; rank < root->size; rank++)
            root->pollers[rank] =
                (struct pollfd){.fd = root->peers[rank].socket.number, .events = POLLIN};
        root->pollers[root->size] = (struct pollfd){.fd = root->stop.number, .events = POLLIN};
        (void)poll(root->pollers, root->size + 1, gba_boot_poll_ms(end));
        if (0 != root->pollers[root->size].revents)
            return;
        for (uint32_t rank = 0; rank < root->size; rank++) {
            struct gba_boot_peer *peer = &root->peers[rank];

            if (peer->socket.number < 0 || 0 == root->pollers[rank].revents ||
                recv(gba_descriptor_number(&peer->socket), dropped, sizeof dropped, 0) > 0)
                continue;
            gba_descriptor_close(&peer->socket);
            root->present--;
        }
    }
}

void gba_boot_fail(gba_bootstrap_root_t *root, gba_status_t status, const char *text)
{
    const struct gba_boot_reply reply = {.status = status, .bytes = strlen(text)};
    uint64_t deadline = gba_clock_ns() + LINGER_NS;
    uint8_t packed[GBA_BOOT_REPLY_BYTES];

    gba_boot_reply_pack(&reply, packed);
    for (uint32_t rank = 0; rank < root->size; rank++) {
        const struct gba_descriptor *socket = &root->peers[rank].socket;

        if (socket->number < 0)
            continue;
        /* Within a reply, a member would take an error for data. */
        if (!root->peers[rank].replying &&
            GBA_OK == gba_boot_write(socket, packed, sizeof packed, deadline))
            (void)gba_boot_write(socket, text, reply.bytes, deadline);
        shutdown(gba_descriptor_number(socket), SHUT_WR);
    }
    linger(root);
}

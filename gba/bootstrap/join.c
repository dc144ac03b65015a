/* SPDX-License-Identifier: BSD-3-Clause */
/* The admission of members. A connection becomes a member when it has shown the secret (pending.h).
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gba/base/clock.h"
#include "gba/bootstrap/pending.h"
#include "gba/bootstrap/root.h"

#define CHECK_NS   1000000000u /* interval of checks of deadlines, `closing` and members */
#define EXHAUST_MS 50          /* pause before the next accept, when no descriptor is free */

struct admission {
    gba_bootstrap_root_t *root;
    uint64_t deadline; /* 0: none yet */
    uint64_t checked;  /* time of the last check of members */
    struct gba_boot_pending pending;
    struct pollfd pollers[GBA_BOOT_PENDING_MAX + 2];
};

/* Send the reason to a process that cannot join, without waiting, and close the connection. */
static void refuse(struct gba_descriptor *socket, const char *text)
{
    const struct gba_boot_reply reply = {.status = GBA_ERR_PARAM, .bytes = strlen(text)};
    uint8_t packed[GBA_BOOT_REPLY_BYTES];

    gba_boot_reply_pack(&reply, packed);
    if (GBA_OK == gba_boot_write(socket, packed, sizeof packed, 1))
        (void)gba_boot_write(socket, text, reply.bytes, 1);
    gba_descriptor_close(socket);
}

/* The size of the job is that in the hello of its first member. Returns false: out of memory. */
static bool set_size(gba_bootstrap_root_t *root, uint32_t size)
{
    if (0 != root->size)
        return true;
    root->peers = calloc(size, sizeof *root->peers);
    root->pollers = calloc((size_t)size + 1, sizeof *root->pollers);
    if (root->peers == NULL || root->pollers == NULL) {
        free(root->peers);
        free(root->pollers);
        root->peers = NULL;
        root->pollers = NULL;
        return false;
    }
    for (uint32_t rank = 0; rank < size; rank++)
        root->peers[rank].socket.number = -1;
    root->size = size;
    return true;
}

/* Free the ranks of members that have died before all have joined. Such a rank can join again. */
static void check_members(gba_bootstrap_root_t *root)
{
    for (uint32_t rank = 0; rank < root->size; rank++) {
        struct gba_boot_peer *peer = &root->peers[rank];
        char byte;
        ssize_t got;

        if (peer->socket.number < 0)
            continue;
        got = recv(gba_descriptor_number(&peer->socket), &byte, 1, MSG_PEEK);
        if (got > 0 || (got < 0 && gba_boot_try_again()))
            continue;
        gba_descriptor_close(&peer->socket);
        root->present--;
    }
}

/* Make a connection that has shown the secret a member, or refuse it. */
static void admit(struct admission *admission, struct gba_descriptor *socket,
                  const struct gba_boot_hello *hello)
{
    gba_bootstrap_root_t *root = admission->root;
    char text[GBA_BOOT_MESSAGE];

    if (hello->rank < root->size && root->peers[hello->rank].socket.number >= 0)
        check_members(root); /* that member may have died, and this may be its successor */
    if (0 == hello->size || hello->size > GBA_BOOT_SIZE_MAX || hello->rank >= hello->size) {
        refuse(socket, "rank or size is out of range");
    } else if (!set_size(root, hello->size)) {
        refuse(socket, "the root of the unique id is out of memory");
    } else if (hello->size != root->size) {
        snprintf(text, sizeof text, "rank %u expects %u members, and other members expect %u",
                 (unsigned)hello->rank, (unsigned)hello->size, (unsigned)root->size);
        refuse(socket, text);
    } else if (root->peers[hello->rank].socket.number >= 0) {
        snprintf(text, sizeof text, "another process has joined as rank %u of %u",
                 (unsigned)hello->rank, (unsigned)root->size);
        refuse(socket, text);
    } else {
        root->peers[hello->rank].socket = *socket;
        root->present++;
        if (0 == admission->deadline && 0 != root->timeout)
            admission->deadline = gba_clock_ns() + root->timeout;
    }
}

/* Read the hello of a connection, as far as it has come. */
static void read_hello(struct admission *admission, uint32_t index)
{
    struct gba_boot_hello hello;
    struct gba_descriptor socket;

    if (gba_boot_pending_read(&admission->pending, index, admission->root->secret, &hello, &socket))
        admit(admission, &socket, &hello);
}

static bool not_joined(const struct gba_boot_peer *peer)
{
    return peer->socket.number < 0;
}

/* Whether the time to join is over. The members that have joined then have the reason. */
static bool timed_out(struct admission *admission)
{
    gba_bootstrap_root_t *root = admission->root;
    char ranks[128], text[GBA_BOOT_MESSAGE];
    bool closing;

    pthread_mutex_lock(&root->lock);
    closing = root->closing;
    pthread_mutex_unlock(&root->lock);
    if (0 == admission->deadline && closing && 0 != root->timeout)
        admission->deadline = gba_clock_ns() + root->timeout;
    if (0 == admission->deadline || gba_clock_ns() < admission->deadline)
        return false;
    if (root->size > 0) {
        gba_boot_print_ranks(root, not_joined, ranks, sizeof ranks);
        snprintf(text, sizeof text,
                 "timeout: %s did not join within %u seconds "
                 "(GBA_BOOTSTRAP_TIMEOUT)",
                 ranks, (unsigned)(root->timeout / 1000000000u));
        gba_boot_fail(root, GBA_ERR_TIMEOUT, text);
    }
    return true;
}

/* Wait for an event and process it. Returns false if the thread must end. */
static bool wait_event(struct admission *admission)
{
    struct gba_boot_pending *pending = &admission->pending;
    uint32_t count = pending->count;

    admission->pollers[0] = (struct pollfd){.fd = admission->root->stop.number, .events = POLLIN};
    admission->pollers[1] =
        (struct pollfd){.fd = admission->root->listener.number, .events = POLLIN};
    for (uint32_t i = 0; i < count; i++)
        admission->pollers[i + 2] =
            (struct pollfd){.fd = pending->connections[i].socket.number, .events = POLLIN};
    if (poll(admission->pollers, count + 2, gba_boot_poll_ms(gba_clock_ns() + CHECK_NS)) < 0)
        return EINTR == errno;
    if (0 != admission->pollers[0].revents)
        return false;
    /* From the last one, because removing a connection moves the later ones. */
    for (uint32_t i = count; i-- > 0;)
        if (0 != admission->pollers[i + 2].revents)
            read_hello(admission, i);
    gba_boot_pending_expire(pending);
    if (0 != admission->pollers[1].revents &&
        !gba_boot_pending_accept(pending, &admission->root->listener))
        (void)poll(NULL, 0, EXHAUST_MS);
    return true;
}

/* Send every member that all have joined. */
static void announce_complete(gba_bootstrap_root_t *root)
{
    const struct gba_boot_reply reply = {.status = GBA_OK};
    uint8_t packed[GBA_BOOT_REPLY_BYTES];

    gba_boot_reply_pack(&reply, packed);
    /* If the write fails, the member has left. The first call detects that. */
    for (uint32_t rank = 0; rank < root->size; rank++)
        (void)gba_boot_write(&root->peers[rank].socket, packed, sizeof packed, 1);
}

bool gba_boot_join(gba_bootstrap_root_t *root)
{
    struct admission *admission = calloc(1, sizeof *admission);
    bool complete = false;

    if (admission == NULL)
        return false;
    admission->root = root;
    while (!complete && wait_event(admission)) {
        if (gba_clock_ns() - admission->checked > CHECK_NS) {
            check_members(root);
            admission->checked = gba_clock_ns();
        }
        complete = root->size > 0 && root->present == root->size;
        if (!complete && timed_out(admission))
            break;
    }
    gba_boot_pending_close(&admission->pending);
    free(admission);
    if (!complete)
        return false;
    /* All members have joined, so further connections are refused. */
    gba_descriptor_close(&root->listener);
    announce_complete(root);
    return true;
}

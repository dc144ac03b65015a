/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of members. Each member sends a request with its part of the data. When all requests
 * have come, the root sends all the data to all members, or their minima.
 *
 * One loop serves all members: a member that does not read its reply holds up no other one. The
 * others may be in the next call meanwhile. A call completes only with a request of each member,
 * and a member sends it when it has read the reply, so there is one call and one reply at a time.
 */
#define _GNU_SOURCE /* POLLRDHUP, MSG_NOSIGNAL */
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gba/base/clock.h"
#include "gba/bootstrap/root.h"

/* One call of all members. */
struct round {
    bool begun; /* a member has sent its header */
    struct gba_boot_request request;
    uint32_t first; /* the member whose header came first */
    uint32_t ready;
    uint8_t *data;
    size_t bytes; /* of data */
    uint64_t deadline;
    char text[GBA_BOOT_MESSAGE]; /* why it failed */
};

/* What the members whose `replying` is set do not have yet. */
struct reply {
    uint8_t header[GBA_BOOT_REPLY_BYTES];
    uint8_t *data;
    size_t bytes;      /* of data */
    uint32_t replying; /* members */
};

#define CLOSE_MS 1000 /* a root that is closed waits so long for members that read nothing */

static bool not_ready(const struct gba_boot_peer *peer)
{
    return !peer->ready;
}

/* Begin a call with the request of its first member. */
static gba_status_t round_begin(const gba_bootstrap_root_t *root, struct round *round,
                                uint32_t rank, const struct gba_boot_request *request)
{
    uint64_t bytes = GBA_BOOT_BCAST == request->kind ? request->bytes : request->bytes * root->size;

    if (request->kind < GBA_BOOT_GATHER || request->kind > GBA_BOOT_MIN ||
        (GBA_BOOT_MIN == request->kind && 0 != request->bytes % sizeof(uint64_t)) ||
        request->root >= root->size || request->bytes > GBA_BOOT_BYTES_MAX ||
        bytes > GBA_BOOT_TOTAL_MAX) {
        snprintf(round->text, sizeof round->text, "rank %u has sent an invalid request",
                 (unsigned)rank);
        return GBA_ERR_OOB;
    }
    round->data = malloc(bytes > 0 ? bytes : 1);
    if (round->data == NULL) {
        snprintf(round->text, sizeof round->text, "the root of the unique id is out of memory");
        return GBA_ERR_NOMEM;
    }
    round->begun = true;
    round->request = *request;
    round->first = rank;
    round->bytes = (size_t)bytes;
    return GBA_OK;
}

/* Process a complete header: it begins a call, or must match the call in progress. */
static gba_status_t take_header(const gba_bootstrap_root_t *root, struct round *round,
                                uint32_t rank)
{
    struct gba_boot_request request;

    gba_boot_request_unpack(root->peers[rank].header, &request);
    if (!round->begun)
        return round_begin(root, round, rank, &request);
    if (request.kind == round->request.kind && request.root == round->request.root &&
        request.bytes == round->request.bytes)
        return GBA_OK;
    snprintf(round->text, sizeof round->text,
             "rank %u and rank %u make different calls: they are not in step",
             (unsigned)round->first, (unsigned)rank);
    return GBA_ERR_MISMATCH;
}

/* The place of a member's data, and their number of bytes. */
static uint8_t *part_of(const struct round *round, uint32_t rank, size_t *bytes)
{
    *bytes = (size_t)round->request.bytes;
    if (GBA_BOOT_BCAST != round->request.kind)
        return round->data + rank * *bytes;
    if (rank != round->request.root)
        *bytes = 0;
    return round->data;
}

/* Member `rank` has the reply, or has left. */
static void reply_end(gba_bootstrap_root_t *root, struct reply *reply, uint32_t rank)
{
    root->peers[rank].replying = false;
    if (0 != --reply->replying)
        return;
    free(reply->data);
    reply->data = NULL;
}

/* Close the connection of a member that has left. An error if a call is in progress. */
static gba_status_t leave(gba_bootstrap_root_t *root, struct round *round, struct reply *reply,
                          uint32_t rank)
{
    struct gba_boot_peer *peer = &root->peers[rank];

    gba_descriptor_close(&peer->socket);
    root->present--;
    if (peer->replying)
        reply_end(root, reply, rank);
    if (0 == peer->got && !round->begun)
        return GBA_OK;
    snprintf(round->text, sizeof round->text, "rank %u has left or died in a call of the others",
             (unsigned)rank);
    return GBA_ERR_OOB;
}

/* Write the reply of a member, as far as its connection takes it. */
static gba_status_t write_reply(gba_bootstrap_root_t *root, struct round *round,
                                struct reply *reply, uint32_t rank)
{
    struct gba_boot_peer *peer = &root->peers[rank];
    const size_t header = sizeof reply->header;

    while (peer->sent < header + reply->bytes) {
        const uint8_t *from =
            peer->sent < header ? reply->header + peer->sent : reply->data + (peer->sent - header);
        size_t bytes =
            peer->sent < header ? header - peer->sent : header + reply->bytes - peer->sent;
        ssize_t sent = send(gba_descriptor_number(&peer->socket), from, bytes, MSG_NOSIGNAL);

        if (sent < 0 && gba_boot_try_again())
            return GBA_OK;
        if (sent < 0)
            return leave(root, round, reply, rank);
        peer->sent += (size_t)sent;
    }
    reply_end(root, reply, rank);
    return GBA_OK;
}

/* Read the request of a member, as far as it has come. */
static gba_status_t read_request(gba_bootstrap_root_t *root, struct round *round,
                                 struct reply *reply, uint32_t rank)
{
    struct gba_boot_peer *peer = &root->peers[rank];

    for (;;) {
        size_t bytes = 0, of_data = peer->got - sizeof peer->header;
        bool header = peer->got < sizeof peer->header;
        uint8_t *part = header ? NULL : part_of(round, rank, &bytes);
        gba_status_t status;
        ssize_t got;

        if (!header && of_data == bytes) {
            peer->ready = true;
            round->ready++;
            return GBA_OK;
        }
        got = recv(gba_descriptor_number(&peer->socket),
                   header ? peer->header + peer->got : part + of_data,
                   header ? sizeof peer->header - peer->got : bytes - of_data, 0);
        if (got < 0 && gba_boot_try_again())
            return GBA_OK;
        if (got <= 0)
            return leave(root, round, reply, rank);
        if (0 == round->deadline && 0 != root->timeout)
            round->deadline = gba_clock_ns() + root->timeout;
        peer->got += (size_t)got;
        if (header && sizeof peer->header == peer->got) {
            status = take_header(root, round, rank);
            if (GBA_OK != status)
                return status;
        }
    }
}

static short events_of(const struct gba_boot_peer *peer)
{
    if (peer->replying)
        return POLLOUT;
    return peer->ready ? POLLRDHUP : POLLIN; /* a member whose request is complete can only leave */
}

/* Process the event of a member's connection. */
static gba_status_t take_event(gba_bootstrap_root_t *root, struct round *round, struct reply *reply,
                               uint32_t rank)
{
    const struct gba_boot_peer *peer = &root->peers[rank];

    if (peer->replying)
        return write_reply(root, round, reply, rank);
    return peer->ready ? leave(root, round, reply, rank) : read_request(root, round, reply, rank);
}

/* Wait for an event and process it. Returns GBA_OK, an error with its text in the round, or
 * GBA_ERR_BUSY: the thread must end. */
static gba_status_t wait_event(gba_bootstrap_root_t *root, struct round *round, struct reply *reply)
{
    uint32_t size = root->size;
    char ranks[128];

    for (uint32_t rank = 0; rank < size; rank++)
        root->pollers[rank] = (struct pollfd){.fd = root->peers[rank].socket.number,
                                              .events = events_of(&root->peers[rank])};
    root->pollers[size] = (struct pollfd){.fd = root->stop.number, .events = POLLIN};
    if (poll(root->pollers, size + 1, gba_boot_poll_ms(round->deadline)) < 0)
        return EINTR == errno ? GBA_OK : GBA_ERR_OOB;
    if (0 != root->pollers[size].revents)
        return GBA_ERR_BUSY;
    for (uint32_t rank = 0; rank < size; rank++) {
        gba_status_t status =
            0 == root->pollers[rank].revents ? GBA_OK : take_event(root, round, reply, rank);

        if (GBA_OK != status)
            return status;
    }
    if (round->ready == size || 0 == round->deadline || gba_clock_ns() < round->deadline)
        return GBA_OK;
    gba_boot_print_ranks(root, not_ready, ranks, sizeof ranks);
    snprintf(round->text, sizeof round->text,
             "timeout: %s did not come to a call of the others within %u seconds "
             "(GBA_BOOTSTRAP_TIMEOUT)",
             ranks, (unsigned)(root->timeout / 1000000000u));
    return GBA_ERR_TIMEOUT;
}

/* A call cannot complete if a member has left before it. */
static gba_status_t check_present(const gba_bootstrap_root_t *root, struct round *round)
{
    char ranks[128];

    if (!round->begun || root->present == root->size)
        return GBA_OK;
    /* Name the first member that has left. More members may leave while this is reported. */
    for (uint32_t rank = 0; rank < root->size; rank++)
        if (root->peers[rank].socket.number < 0) {
            snprintf(ranks, sizeof ranks, "rank %u of %u", (unsigned)rank, (unsigned)root->size);
            break;
        }
    snprintf(round->text, sizeof round->text, "%s has left or died before a call of the others",
             ranks);
    return GBA_ERR_OOB;
}

/* Fold the words of all members, which are big-endian, into those of the first one. */
static void fold(struct round *round)
{
    const size_t all = round->bytes / sizeof(uint64_t);
    uint64_t *words = (uint64_t *)(void *)round->data;

    round->bytes = (size_t)round->request.bytes;
    for (size_t count = round->bytes / sizeof *words, i = count; i < all; i++)
        if (be64toh(words[i]) < be64toh(words[i % count]))
            words[i % count] = words[i];
}

/* All requests have come: the data become the reply of all members, and a new call may begin. */
static gba_status_t complete(gba_bootstrap_root_t *root, struct round *round, struct reply *reply)
{
    struct gba_boot_reply header = {.status = GBA_OK};
    gba_status_t status = GBA_OK;

    if (GBA_BOOT_MIN == round->request.kind)
        fold(round);
    header.bytes = round->bytes;

    gba_boot_reply_pack(&header, reply->header);
    reply->data = round->data;
    reply->bytes = round->bytes;
    reply->replying = root->size;
    *round = (struct round){.begun = false};
    for (uint32_t rank = 0; rank < root->size; rank++) {
        struct gba_boot_peer *peer = &root->peers[rank];

        *peer = (struct gba_boot_peer){.socket = peer->socket, .replying = true};
    }
    for (uint32_t rank = 0; rank < root->size && GBA_OK == status; rank++)
        status = write_reply(root, round, reply, rank);
    return status;
}

/* The root is closed. The member that closes it has its reply, and the others may still read
 * theirs. */
static void complete_replies(gba_bootstrap_root_t *root, struct round *round, struct reply *reply)
{
    while (reply->replying > 0) {
        for (uint32_t rank = 0; rank < root->size; rank++)
            root->pollers[rank] = (struct pollfd){
                .fd = root->peers[rank].replying ? root->peers[rank].socket.number : -1,
                .events = POLLOUT};
        if (poll(root->pollers, root->size, CLOSE_MS) <= 0)
            return;
        for (uint32_t rank = 0; rank < root->size; rank++)
            if (0 != root->pollers[rank].revents)
                (void)write_reply(root, round, reply, rank);
    }
}

void gba_boot_serve(gba_bootstrap_root_t *root)
{
    struct round round = {.begun = false};
    struct reply reply = {.replying = 0};
    gba_status_t status = GBA_OK;

    while (GBA_OK == status && root->present > 0) {
        status = wait_event(root, &round, &reply);
        if (GBA_OK == status)
            status = check_present(root, &round);
        if (GBA_OK == status && round.ready == root->size)
            status = complete(root, &round, &reply);
    }
    if (GBA_ERR_BUSY == status)
        complete_replies(root, &round, &reply);
    else if (GBA_OK != status)
        gba_boot_fail(root, status,
                      '\0' == round.text[0] ? "the root of the unique id has failed" : round.text);
    free(round.data);
    free(reply.data);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of members. Each member sends a request with its part of the data. When all requests
 * have come, the root sends all the data to all members. A member sends its next request only when
 * it has read the reply, so one buffer is enough.
 */
#define _GNU_SOURCE /* POLLRDHUP */
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

static bool not_ready(const struct gba_boot_peer *peer)
{
    return !peer->ready;
}

/* Begin a call with the request of its first member. */
static gba_status_t round_begin(const gba_bootstrap_root_t *root, struct round *round,
                                uint32_t rank, const struct gba_boot_request *request)
{
    uint64_t bytes =
        GBA_BOOT_GATHER == request->kind ? request->bytes * root->size : request->bytes;

    if ((GBA_BOOT_GATHER != request->kind && GBA_BOOT_BCAST != request->kind) ||
        request->root >= root->size || request->bytes > GBA_BOOT_BYTES_MAX ||
        bytes > GBA_BOOT_TOTAL_MAX) {
        snprintf(round->text, sizeof round->text, "rank %u has sent an invalid request",
                 (unsigned)rank);
        return GBA_ERR_OOB;
    }
    round->data = malloc(bytes > 0 ? bytes : 1);
    if (NULL == round->data) {
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
    if (GBA_BOOT_GATHER == round->request.kind)
        return round->data + rank * *bytes;
    if (rank != round->request.root)
        *bytes = 0;
    return round->data;
}

/* Close the connection of a member that has left. An error if a call is in progress. */
static gba_status_t leave(gba_bootstrap_root_t *root, struct round *round, uint32_t rank)
{
    struct gba_boot_peer *peer = &root->peers[rank];

    close(peer->fd);
    peer->fd = -1;
    root->present--;
    if (0 == peer->got && !round->begun)
        return GBA_OK;
    snprintf(round->text, sizeof round->text, "rank %u has left or died in a call of the others",
             (unsigned)rank);
    return GBA_ERR_OOB;
}

/* Read the request of a member, as far as it has come. */
static gba_status_t read_request(gba_bootstrap_root_t *root, struct round *round, uint32_t rank)
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
        got = header ? recv(peer->fd, peer->header + peer->got, sizeof peer->header - peer->got, 0)
                     : recv(peer->fd, part + of_data, bytes - of_data, 0);
        if (got < 0 && (EAGAIN == errno || EWOULDBLOCK == errno || EINTR == errno))
            return GBA_OK;
        if (got <= 0)
            return leave(root, round, rank);
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

/* Wait for an event and process it. Returns GBA_OK, an error with its text in the round, or
 * GBA_ERR_BUSY: the thread must end. */
static gba_status_t wait_event(gba_bootstrap_root_t *root, struct round *round)
{
    uint32_t size = root->size;
    char ranks[128];

    /* A member whose request is complete can only leave. */
    for (uint32_t rank = 0; rank < size; rank++)
        root->pollers[rank] = (struct pollfd){
            .fd = root->peers[rank].fd, .events = root->peers[rank].ready ? POLLRDHUP : POLLIN};
    root->pollers[size] = (struct pollfd){.fd = root->stop, .events = POLLIN};
    if (poll(root->pollers, size + 1, gba_boot_poll_ms(round->deadline)) < 0)
        return EINTR == errno ? GBA_OK : GBA_ERR_OOB;
    if (0 != root->pollers[size].revents)
        return GBA_ERR_BUSY;
    for (uint32_t rank = 0; rank < size; rank++) {
        gba_status_t status;

        if (0 == root->pollers[rank].revents)
            continue;
        status =
            root->peers[rank].ready ? leave(root, round, rank) : read_request(root, round, rank);
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
        if (root->peers[rank].fd < 0) {
            snprintf(ranks, sizeof ranks, "rank %u of %u", (unsigned)rank, (unsigned)root->size);
            break;
        }
    snprintf(round->text, sizeof round->text, "%s has left or died before a call of the others",
             ranks);
    return GBA_ERR_OOB;
}

/* Send the data to all members. If a write fails, the member has left. The next call detects
 * that. */
static void answer(gba_bootstrap_root_t *root, const struct round *round)
{
    const struct gba_boot_reply reply = {.status = GBA_OK, .bytes = round->bytes};
    uint8_t packed[GBA_BOOT_REPLY_BYTES];

    gba_boot_reply_pack(&reply, packed);
    for (uint32_t rank = 0; rank < root->size; rank++) {
        struct gba_boot_peer *peer = &root->peers[rank];
        uint64_t deadline = 0 == root->timeout ? 0 : gba_clock_ns() + root->timeout;

        if (GBA_OK != gba_boot_write(peer->fd, packed, sizeof packed, deadline) ||
            GBA_OK != gba_boot_write(peer->fd, round->data, round->bytes, deadline)) {
            close(peer->fd);
            peer->fd = -1;
            root->present--;
        }
    }
}

static gba_status_t serve_round(gba_bootstrap_root_t *root, struct round *round)
{
    for (uint32_t rank = 0; rank < root->size; rank++) {
        root->peers[rank].got = 0;
        root->peers[rank].ready = false;
    }
    while (round->ready < root->size) {
        gba_status_t status = wait_event(root, round);

        if (GBA_OK == status)
            status = check_present(root, round);
        if (GBA_OK != status)
            return status;
        if (0 == root->present)
            return GBA_ERR_BUSY;
    }
    answer(root, round);
    return GBA_OK;
}

void gba_boot_serve(gba_bootstrap_root_t *root)
{
    gba_status_t status;

    do {
        struct round round = {.begun = false};

        status = serve_round(root, &round);
        free(round.data);
        if (GBA_OK != status && GBA_ERR_BUSY != status)
            gba_boot_fail(root, status,
                          '\0' == round.text[0] ? "the root of the unique id has failed"
                                                : round.text);
    } while (GBA_OK == status);
}

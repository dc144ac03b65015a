/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The admission of members. A connection is a visitor until it has shown the secret. Visitors cost
 * the members nothing: they are few, each has a short time, and the oldest gives way to a new one.
 */
#define _GNU_SOURCE /* accept4, explicit_bzero */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gba/base/clock.h"
#include "gba/bootstrap/root.h"

#define VISITORS   256u
#define VISIT_NS   10000000000u
#define LOOK_NS    1000000000u /* at visitors' clocks and at `closing`, when nothing happens */
#define ACCEPTS    64u         /* at a time, so that those who came before are heard */
#define EXHAUST_MS 50          /* without accepting, when no descriptor is free */

struct visitor {
    int fd;
    uint64_t since;
    size_t got;
    uint8_t hello[GBA_BOOT_HELLO_BYTES];
};

struct lobby {
    gba_bootstrap_root_t *root;
    uint64_t deadline; /* 0: none yet */
    uint64_t looked;   /* when members were looked after */
    uint32_t count;
    struct visitor visitors[VISITORS]; /* oldest first */
    struct pollfd pollers[VISITORS + 2];
};

/* Take a visitor out of the lobby; its descriptor is the caller's. */
static void take_out(struct lobby *lobby, uint32_t index)
{
    lobby->count--;
    memmove(&lobby->visitors[index], &lobby->visitors[index + 1],
            (lobby->count - index) * sizeof lobby->visitors[0]);
}

static void dismiss(struct lobby *lobby, uint32_t index)
{
    close(lobby->visitors[index].fd);
    take_out(lobby, index);
}

static void welcome_visitors(struct lobby *lobby)
{
    for (unsigned i = 0; i < ACCEPTS; i++) {
        int fd = accept4(lobby->root->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd < 0) {
            /* Out of descriptors: an old visitor may hold the one that a member needs. */
            if (EMFILE == errno || ENFILE == errno || ENOBUFS == errno || ENOMEM == errno) {
                if (lobby->count > 0)
                    dismiss(lobby, 0);
                (void)poll(NULL, 0, EXHAUST_MS);
            }
            return;
        }
        if (VISITORS == lobby->count)
            dismiss(lobby, 0);
        gba_boot_tune(fd);
        lobby->visitors[lobby->count++] = (struct visitor){.fd = fd, .since = gba_clock_ns()};
    }
}

/* A member whose place is taken, or who believes in another size: tell it, without waiting. */
static void refuse(int fd, const char *text)
{
    const struct gba_boot_reply reply = {.status = GBA_ERR_PARAM, .bytes = strlen(text)};
    uint8_t packed[GBA_BOOT_REPLY_BYTES];

    gba_boot_reply_pack(&reply, packed);
    if (GBA_OK == gba_boot_write(fd, packed, sizeof packed, 1))
        (void)gba_boot_write(fd, text, reply.bytes, 1);
    close(fd);
}

/* The first member tells the size. */
static bool make_room(gba_bootstrap_root_t *root, uint32_t size)
{
    if (0 != root->size)
        return true;
    root->peers = calloc(size, sizeof *root->peers);
    root->pollers = calloc((size_t)size + 1, sizeof *root->pollers);
    if (NULL == root->peers || NULL == root->pollers) {
        free(root->peers);
        free(root->pollers);
        root->peers = NULL;
        root->pollers = NULL;
        return false;
    }
    for (uint32_t rank = 0; rank < size; rank++)
        root->peers[rank].fd = -1;
    root->size = size;
    return true;
}

/* A member that dies while it waits for the others frees its rank: it may come again. */
static void look_after_members(gba_bootstrap_root_t *root)
{
    for (uint32_t rank = 0; rank < root->size; rank++) {
        struct gba_boot_peer *peer = &root->peers[rank];
        char byte;
        ssize_t got;

        if (peer->fd < 0)
            continue;
        got = recv(peer->fd, &byte, 1, MSG_PEEK);
        if (got > 0 || (got < 0 && (EAGAIN == errno || EWOULDBLOCK == errno || EINTR == errno)))
            continue;
        close(peer->fd);
        peer->fd = -1;
        root->present--;
    }
}

/* A connection that has shown the secret. */
static void admit(struct lobby *lobby, int fd, const struct gba_boot_hello *hello)
{
    gba_bootstrap_root_t *root = lobby->root;
    char text[GBA_BOOT_MESSAGE];

    if (hello->rank < root->size && root->peers[hello->rank].fd >= 0)
        look_after_members(root); /* it may have died, and come again */
    if (0 == hello->size || hello->size > GBA_BOOT_SIZE_MAX || hello->rank >= hello->size) {
        refuse(fd, "rank or size is out of range");
    } else if (!make_room(root, hello->size)) {
        refuse(fd, "the root of the unique id is out of memory");
    } else if (hello->size != root->size) {
        snprintf(text, sizeof text, "rank %u expects %u members, and other members expect %u",
                 (unsigned)hello->rank, (unsigned)hello->size, (unsigned)root->size);
        refuse(fd, text);
    } else if (root->peers[hello->rank].fd >= 0) {
        snprintf(text, sizeof text, "another process has joined as rank %u of %u",
                 (unsigned)hello->rank, (unsigned)root->size);
        refuse(fd, text);
    } else {
        root->peers[hello->rank].fd = fd;
        root->present++;
        if (0 == lobby->deadline && 0 != root->timeout)
            lobby->deadline = gba_clock_ns() + root->timeout;
    }
}

/* Read what a visitor has sent. */
static void hear(struct lobby *lobby, uint32_t index)
{
    struct visitor *visitor = &lobby->visitors[index];
    struct gba_boot_hello hello;
    ssize_t got =
        recv(visitor->fd, visitor->hello + visitor->got, sizeof visitor->hello - visitor->got, 0);
    int fd = visitor->fd;

    if (got < 0 && (EAGAIN == errno || EWOULDBLOCK == errno || EINTR == errno))
        return;
    if (got <= 0) {
        dismiss(lobby, index);
        return;
    }
    visitor->got += (size_t)got;
    if (visitor->got < sizeof visitor->hello)
        return;
    if (!gba_boot_hello_unpack(visitor->hello, &hello) ||
        !gba_boot_secret_equal(hello.secret, lobby->root->secret)) {
        dismiss(lobby, index);
        return;
    }
    take_out(lobby, index);
    admit(lobby, fd, &hello);
}

static bool not_joined(const struct gba_boot_peer *peer)
{
    return peer->fd < 0;
}

/* Whether the time is over; members that came know why. */
static bool too_late(struct lobby *lobby)
{
    gba_bootstrap_root_t *root = lobby->root;
    char ranks[128], text[GBA_BOOT_MESSAGE];
    bool closing;

    pthread_mutex_lock(&root->lock);
    closing = root->closing;
    pthread_mutex_unlock(&root->lock);
    if (0 == lobby->deadline && closing && 0 != root->timeout)
        lobby->deadline = gba_clock_ns() + root->timeout;
    if (0 == lobby->deadline || gba_clock_ns() < lobby->deadline)
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

/* Wait for something to happen. Returns false if the thread must end. */
static bool attend(struct lobby *lobby)
{
    uint32_t count = lobby->count;

    lobby->pollers[0] = (struct pollfd){.fd = lobby->root->stop, .events = POLLIN};
    lobby->pollers[1] = (struct pollfd){.fd = lobby->root->listener, .events = POLLIN};
    for (uint32_t i = 0; i < count; i++)
        lobby->pollers[i + 2] = (struct pollfd){.fd = lobby->visitors[i].fd, .events = POLLIN};
    if (poll(lobby->pollers, count + 2, gba_boot_poll_ms(gba_clock_ns() + LOOK_NS)) < 0)
        return EINTR == errno;
    if (0 != lobby->pollers[0].revents)
        return false;
    /* From the last, because one that is taken out moves those behind it. */
    for (uint32_t i = count; i-- > 0;)
        if (0 != lobby->pollers[i + 2].revents)
            hear(lobby, i);
    while (lobby->count > 0 && gba_clock_ns() - lobby->visitors[0].since > VISIT_NS)
        dismiss(lobby, 0);
    if (0 != lobby->pollers[1].revents)
        welcome_visitors(lobby);
    return true;
}

/* Tell all that all are there. */
static void begin(gba_bootstrap_root_t *root)
{
    const struct gba_boot_reply reply = {.status = GBA_OK};
    uint8_t packed[GBA_BOOT_REPLY_BYTES];

    gba_boot_reply_pack(&reply, packed);
    /* A member that cannot be told has left; the first call finds out. */
    for (uint32_t rank = 0; rank < root->size; rank++)
        (void)gba_boot_write(root->peers[rank].fd, packed, sizeof packed, 1);
}

bool gba_boot_join(gba_bootstrap_root_t *root)
{
    struct lobby *lobby = calloc(1, sizeof *lobby);
    bool complete = false;

    if (NULL == lobby)
        return false;
    lobby->root = root;
    while (!complete && attend(lobby)) {
        if (gba_clock_ns() - lobby->looked > LOOK_NS) {
            look_after_members(root);
            lobby->looked = gba_clock_ns();
        }
        complete = root->size > 0 && root->present == root->size;
        if (!complete && too_late(lobby))
            break;
    }
    while (lobby->count > 0)
        dismiss(lobby, 0);
    explicit_bzero(lobby, sizeof *lobby);
    free(lobby);
    if (!complete)
        return false;
    /* Nobody else has any business here. */
    close(root->listener);
    root->listener = -1;
    begin(root);
    return true;
}

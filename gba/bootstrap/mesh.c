/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* explicit_bzero */
#include "gba/bootstrap/mesh.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gba/bootstrap/settings.h"

/* A host that acknowledges nothing for that time is dead; the time of the probes of gba_boot_tune.
 * The kernel of a member acknowledges, so the time that its program computes does not count. */
#define SILENT_MS 90000u

static gba_status_t mesh_fail(struct gba_boot_mesh *mesh, const struct gba_boot_link *link,
                              const char *what)
{
    char name[80];

    /* Once: later errors are consequences of the first. */
    if (mesh->failed)
        return GBA_ERR_IO;
    mesh->failed = true;
    gba_boot_address_name(&mesh->addresses[link->peer], name, sizeof name);
    snprintf(mesh->cause, GBA_BOOT_MESSAGE, "%s rank %u at %s: %s", what, (unsigned)link->peer,
             name, 0 == link->error ? "it has left or died" : strerror(link->error));
    return GBA_ERR_IO;
}

static void link_close(struct gba_boot_link *link, int error)
{
    gba_descriptor_close(&link->socket);
    link->state = GBA_BOOT_LINK_CLOSED;
    link->error = error;
}

static void queue_hello(const struct gba_boot_mesh *mesh, struct gba_boot_link *link)
{
    struct gba_boot_hello hello = {.rank = mesh->rank, .size = mesh->size};

    memcpy(hello.secret, mesh->addresses[link->peer].secret, sizeof hello.secret);
    gba_boot_hello_pack(&hello, link->out);
    explicit_bzero(&hello, sizeof hello);
    link->out_len = GBA_BOOT_HELLO_BYTES;
}

gba_status_t gba_boot_mesh_create(uint32_t rank, uint32_t size, struct gba_boot_address *mine,
                                  char *cause, struct gba_boot_mesh **mesh, char *message,
                                  size_t len)
{
    struct gba_boot_mesh *made = calloc(1, sizeof *made);
    gba_status_t status = GBA_ERR_NOMEM;

    snprintf(message, len, "out of memory");
    if (made == NULL)
        return GBA_ERR_NOMEM;
    made->rank = rank;
    made->size = size;
    made->cause = cause;
    made->listener.number = -1;
    made->addresses = calloc(size, sizeof *made->addresses);
    made->links = calloc(size, sizeof(struct gba_boot_link *));
    if (made->addresses == NULL || made->links == NULL)
        goto fail;
    status = gba_boot_random(mine->secret, sizeof mine->secret);
    if (GBA_OK != status) {
        snprintf(message, len, "the system has no random numbers for a secret");
        goto fail;
    }
    if (!gba_boot_listen(mine, &made->listener)) {
        snprintf(message, len, "cannot listen for members: %s", strerror(errno));
        status = GBA_ERR_IO;
        goto fail;
    }
    made->addresses[rank] = *mine;
    *mesh = made;
    return GBA_OK;

fail:
    gba_boot_mesh_destroy(made);
    return status;
}

void gba_boot_mesh_destroy(struct gba_boot_mesh *mesh)
{
    if (mesh == NULL)
        return;
    for (uint32_t peer = 0; mesh->links != NULL && peer < mesh->size; peer++) {
        if (mesh->links[peer] != NULL && GBA_BOOT_LINK_OPEN == mesh->links[peer]->state)
            gba_descriptor_close(&mesh->links[peer]->socket);
        free(mesh->links[peer]);
    }
    gba_boot_pending_close(&mesh->pending);
    gba_descriptor_close(&mesh->listener);
    if (mesh->addresses != NULL)
        explicit_bzero(mesh->addresses, mesh->size * sizeof *mesh->addresses);
    free(mesh->addresses);
    free(mesh->links);
    free(mesh);
}

struct gba_boot_link *gba_boot_mesh_link(struct gba_boot_mesh *mesh, uint32_t peer)
{
    struct gba_boot_link *link = mesh->links[peer];

    if (link != NULL)
        return link;
    link = calloc(1, sizeof *link);
    if (link == NULL)
        return NULL;
    link->socket.number = -1;
    link->peer = peer;
    mesh->links[peer] = link;
    return link;
}

static void link_opened(struct gba_boot_link *link, const struct gba_descriptor *socket)
{
    const unsigned silent = SILENT_MS;

    gba_boot_tune(socket->number);
    /* Without it, a dead host is detected later. */
    (void)setsockopt(socket->number, IPPROTO_TCP, TCP_USER_TIMEOUT, &silent, sizeof silent);
    link->socket = *socket;
    link->state = GBA_BOOT_LINK_OPEN;
}

gba_status_t gba_boot_mesh_connect(struct gba_boot_mesh *mesh, struct gba_boot_link *link)
{
    const struct gba_boot_address *to = &mesh->addresses[link->peer];
    struct gba_descriptor kept;
    int fd;

    if (GBA_BOOT_LINK_NONE != link->state || mesh->rank < link->peer)
        return GBA_OK;
    fd = socket(to->socket.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || !gba_descriptor_keep(&kept, fd)) {
        link->error = errno;
        return mesh_fail(mesh, link, "no socket for");
    }
    link_opened(link, &kept);
    if (0 != connect(fd, &to->socket.any, to->len) && EINPROGRESS != errno && EINTR != errno) {
        link_close(link, errno);
        return mesh_fail(mesh, link, "cannot connect to");
    }
    queue_hello(mesh, link);
    return GBA_ERR_IO == gba_boot_mesh_flush(mesh, link) ? GBA_ERR_IO : GBA_OK;
}

/* A connection has shown the secret. It belongs to the member that its hello names, if that member
 * has none yet and is one that connects to this member. */
static void admit(struct gba_boot_mesh *mesh, struct gba_descriptor *socket,
                  const struct gba_boot_hello *hello)
{
    struct gba_boot_link *link = NULL;

    if (hello->size == mesh->size && hello->rank < mesh->size && hello->rank > mesh->rank)
        link = gba_boot_mesh_link(mesh, hello->rank);
    if (link == NULL || GBA_BOOT_LINK_NONE != link->state) {
        gba_descriptor_close(socket);
        return;
    }
    link_opened(link, socket);
    link->trusted = true;
}

void gba_boot_mesh_accept(struct gba_boot_mesh *mesh)
{
    struct gba_boot_pending *pending = &mesh->pending;
    struct gba_descriptor socket;
    struct gba_boot_hello hello;

    (void)gba_boot_pending_accept(pending, &mesh->listener);
    /* From the last one, because removing a connection moves the later ones. */
    for (uint32_t i = pending->count; i-- > 0;) {
        if (gba_boot_pending_read(pending, i, mesh->addresses[mesh->rank].secret, &hello, &socket))
            admit(mesh, &socket, &hello);
    }
    gba_boot_pending_expire(pending);
    explicit_bzero(&hello, sizeof hello);
}

gba_status_t gba_boot_mesh_send(struct gba_boot_mesh *mesh, struct gba_boot_link *link,
                                const struct gba_boot_signal *signal)
{
    /* The connecting member has queued its hello already. */
    if (0 == link->out_len && !link->greeted && mesh->rank < link->peer)
        queue_hello(mesh, link);
    if (link->out_len + GBA_BOOT_SIGNAL_BYTES > sizeof link->out) {
        link->error = ENOBUFS;
        return mesh_fail(mesh, link, "more signals than a barrier has for");
    }
    gba_boot_signal_pack(signal, link->out + link->out_len);
    link->out_len += GBA_BOOT_SIGNAL_BYTES;
    link->greeted = link->signals = true;
    return GBA_ERR_IO == gba_boot_mesh_flush(mesh, link) ? GBA_ERR_IO : GBA_OK;
}

gba_status_t gba_boot_mesh_flush(struct gba_boot_mesh *mesh, struct gba_boot_link *link)
{
    while (link->out_len > 0 && GBA_BOOT_LINK_OPEN == link->state) {
        /* While connect is in progress: EAGAIN. If it has failed: its error. */
        ssize_t sent =
            send(gba_descriptor_number(&link->socket), link->out, link->out_len, MSG_NOSIGNAL);

        if (sent < 0 && EINTR == errno)
            continue;
        if (sent < 0 && gba_boot_try_again())
            return GBA_INPROGRESS;
        if (sent < 0) {
            link_close(link, errno);
            break;
        }
        link->out_len -= (uint32_t)sent;
        memmove(link->out, link->out + sent, link->out_len);
    }
    if (0 == link->out_len) {
        link->signals = false;
        return GBA_OK;
    }
    if (GBA_BOOT_LINK_NONE == link->state)
        return GBA_INPROGRESS;
    /* Only a hello is left, and it cannot be sent. That is no failure of a barrier yet: the
     * connection is closed, and a member that awaits a signal on it detects that. */
    if (!link->signals) {
        link->out_len = 0;
        return GBA_OK;
    }
    return mesh_fail(mesh, link, "cannot send a signal to");
}

/* Drop what is kept of another path. */
static void drop_others(struct gba_boot_link *link, const struct gba_boot_signal *signal)
{
    if (0 != link->kept[signal->channel] && link->signal[signal->channel][0].epoch != signal->epoch)
        link->kept[signal->channel] = 0;
}

/* Keep one message. Returns false if it is not one that a member sends. */
static bool keep(const struct gba_boot_mesh *mesh, struct gba_boot_link *link)
{
    struct gba_boot_signal signal;
    struct gba_boot_hello hello;

    if (!link->trusted) {
        link->trusted = gba_boot_hello_unpack(link->in, &hello) && hello.rank == link->peer &&
                        hello.size == mesh->size &&
                        gba_boot_secret_equal(hello.secret, mesh->addresses[mesh->rank].secret);
        return link->trusted;
    }
    gba_boot_signal_unpack(link->in, &signal);
    if (signal.channel >= GBA_BOOT_CHANNELS)
        return false;
    drop_others(link, &signal);
    if (GBA_BOOT_KEPT == link->kept[signal.channel])
        return false;
    link->signal[signal.channel][link->kept[signal.channel]++] = signal;
    return true;
}

gba_status_t gba_boot_mesh_receive(struct gba_boot_mesh *mesh, struct gba_boot_link *link)
{
    while (GBA_BOOT_LINK_OPEN == link->state) {
        ssize_t got = recv(gba_descriptor_number(&link->socket), link->in + link->in_len,
                           sizeof link->in - link->in_len, 0);

        if (got < 0 && EINTR == errno)
            continue;
        if (got < 0 && gba_boot_try_again())
            return GBA_OK;
        if (got <= 0) {
            link_close(link, got < 0 ? errno : 0);
            return GBA_OK;
        }
        link->in_len += (uint32_t)got;
        for (;;) {
            uint32_t bytes = link->trusted ? GBA_BOOT_SIGNAL_BYTES : GBA_BOOT_HELLO_BYTES;

            if (link->in_len < bytes)
                break;
            if (!keep(mesh, link)) {
                link_close(link, EPROTO);
                return mesh_fail(mesh, link, "invalid message from");
            }
            link->in_len -= bytes;
            memmove(link->in, link->in + bytes, link->in_len);
        }
    }
    return GBA_OK;
}

gba_status_t gba_boot_mesh_take(struct gba_boot_mesh *mesh, struct gba_boot_link *link,
                                const struct gba_boot_signal *expected)
{
    struct gba_boot_signal *kept = link->signal[expected->channel];
    uint32_t *count = &link->kept[expected->channel];

    drop_others(link, expected);
    for (uint32_t i = 0; i < *count; i++) {
        if (kept[i].slot != expected->slot)
            continue;
        if (kept[i].sequence != expected->sequence) {
            link->error = EPROTO;
            return mesh_fail(mesh, link, "signal of another barrier from");
        }
        (*count)--;
        memmove(&kept[i], &kept[i + 1], (*count - i) * sizeof kept[0]);
        return GBA_OK;
    }
    if (GBA_BOOT_LINK_CLOSED == link->state)
        return mesh_fail(mesh, link, "no signal from");
    return GBA_INPROGRESS;
}

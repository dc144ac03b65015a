/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection of a virtual machine monitor: requests with descriptors in, replies out. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/switch/vfio/client.h"

/* Maximum number of requests that one call of gba_vfio_client_progress executes. */
#define BATCH 32

void gba_vfio_client_init(struct gba_vfio_client *client, int fd, struct gba_vfio_device *device)
{
    int flags = fcntl(fd, F_GETFL);

    client->fd = fd;
    client->device = device;
    client->agreed = client->sending = false;
    client->received = client->size = client->sent = 0;
    client->fds = 0;
    client->requests = 0;
    client->refused = 0;
    (void)fcntl(fd, F_SETFL, (flags < 0 ? 0 : flags) | O_NONBLOCK);
}

static void close_fds(struct gba_vfio_client *client)
{
    for (unsigned i = 0; i < client->fds; i++)
        if (client->fd_of[i] >= 0)
            (void)close(client->fd_of[i]);
    client->fds = 0;
}

void gba_vfio_client_end(struct gba_vfio_client *client)
{
    close_fds(client);
    (void)close(client->fd);
    client->fd = -1;
}

/* Take the descriptors of a control message. Those that the request has no room for are closed.
 * Returns 0 or EPROTO. */
static int take_fds(struct gba_vfio_client *client, const struct cmsghdr *control)
{
    size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    int error = 0;

    for (size_t i = 0; i < count; i++) {
        int fd;

        memcpy(&fd, CMSG_DATA(control) + i * sizeof fd, sizeof fd);
        if (client->fds < GBA_VFIO_FDS_MAX) {
            client->fd_of[client->fds++] = fd;
        } else {
            (void)close(fd);
            error = EPROTO;
        }
    }
    return error;
}

/* Receive up to `length` bytes of the request, and descriptors. Never receives a byte of the next
 * request, whose descriptors would come with it. Returns 0, EAGAIN, or an error. */
static int receive(struct gba_vfio_client *client, size_t length)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(GBA_VFIO_FDS_MAX * sizeof(int))];
    } control;
    struct iovec part = {client->request + client->received, length};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t count = recvmsg(client->fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    int error = 0;

    if (count < 0)
        return EINTR == errno || EWOULDBLOCK == errno ? EAGAIN : errno;
    for (struct cmsghdr *i = CMSG_FIRSTHDR(&message); i != NULL; i = CMSG_NXTHDR(&message, i))
        if (SOL_SOCKET == i->cmsg_level && SCM_RIGHTS == i->cmsg_type && 0 != take_fds(client, i))
            error = EPROTO;
    if (0 != (message.msg_flags & MSG_CTRUNC))
        error = EPROTO; /* more descriptors than were announced; the kernel has closed the others */
    if (0 != error)
        return error;
    client->received += (size_t)count;
    return 0 == count ? ECONNRESET : 0;
}

/* Send the rest of the reply. Returns 0, EAGAIN, or an error. */
static int transmit(struct gba_vfio_client *client)
{
    while (client->sent < client->size) {
        ssize_t count = send(client->fd, client->reply + client->sent, client->size - client->sent,
                             MSG_NOSIGNAL | MSG_DONTWAIT);

        if (count < 0 && EINTR != errno) {
            client->sending = EAGAIN == errno || EWOULDBLOCK == errno;
            return client->sending ? EAGAIN : errno;
        }
        if (count > 0)
            client->sent += (size_t)count;
    }
    client->sending = false;
    return 0;
}

/* Execute the complete request, and begin to send the reply. The first request must be VERSION, and
 * no later request can be VERSION. */
static int execute(struct gba_vfio_client *client)
{
    struct gba_vfio_request request;
    size_t length = 0;
    int error = gba_vfio_decode(&client->header, client->request + GBA_VFIO_HEADER_SIZE,
                                client->fds, &request);

    if (!client->agreed && GBA_VFIO_VERSION != client->header.command)
        return EPROTO;
    if (0 == error && client->agreed && GBA_VFIO_VERSION == client->header.command)
        error = EINVAL;
    if (0 == error)
        error = gba_vfio_device_execute(client->device, &request, client->fd_of, client->fds,
                                        client->reply + GBA_VFIO_HEADER_SIZE, &length);
    else
        client->device->counters.refused++;
    if (0 == error && GBA_VFIO_VERSION == client->header.command)
        client->agreed = true;
    if (0 != error) {
        client->refused = error;
        client->refused_command = client->header.command;
    }
    client->requests++;
    client->received = 0;
    close_fds(client);
    if (0 != (client->header.flags & GBA_VFIO_NO_REPLY))
        return 0;
    client->size = gba_vfio_encode_reply(&client->header, error, length, client->reply);
    client->sent = 0;
    return transmit(client);
}

/* Receive one request, or a part of it, and execute it if it is complete. */
static int progress(struct gba_vfio_client *client)
{
    int error = 0;

    if (client->received < GBA_VFIO_HEADER_SIZE) {
        error = receive(client, GBA_VFIO_HEADER_SIZE - client->received);
        if (0 != error)
            return error;
        if (client->received < GBA_VFIO_HEADER_SIZE)
            return EAGAIN;
        error = gba_vfio_decode_header(client->request, &client->header);
        if (0 != error)
            return error;
    }
    if (client->received < client->header.size) {
        error = receive(client, client->header.size - client->received);
        if (0 != error)
            return error;
        if (client->received < client->header.size)
            return EAGAIN;
    }
    return execute(client);
}

int gba_vfio_client_progress(struct gba_vfio_client *client)
{
    int error = client->sending ? transmit(client) : 0;

    for (int i = 0; 0 == error && i < BATCH; i++)
        error = progress(client);
    return EAGAIN == error ? 0 : error;
}

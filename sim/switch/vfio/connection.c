/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection of a virtual machine monitor: requests with descriptors in, replies out. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/switch/vfio/connection.h"

/* Maximum number of requests that one call of gba_vfio_connection_progress executes. */
#define BATCH 32

void gba_vfio_connection_init(struct gba_vfio_connection *connection, int fd,
                              struct gba_vfio_device *device)
{
    int flags = fcntl(fd, F_GETFL);

    connection->fd = fd;
    connection->device = device;
    connection->agreed = false;
    connection->received = 0;
    connection->fds = 0;
    connection->requests = 0;
    connection->refused = 0;
    (void)fcntl(fd, F_SETFL, (flags < 0 ? 0 : flags) | O_NONBLOCK);
}

static void close_fds(struct gba_vfio_connection *connection)
{
    for (unsigned i = 0; i < connection->fds; i++)
        if (connection->fd_of[i] >= 0)
            (void)close(connection->fd_of[i]);
    connection->fds = 0;
}

void gba_vfio_connection_end(struct gba_vfio_connection *connection)
{
    close_fds(connection);
    (void)close(connection->fd);
    connection->fd = -1;
}

/* Take the descriptors of a control message. Those that the request has no room for are closed.
 * Returns 0 or EPROTO. */
static int take_fds(struct gba_vfio_connection *connection, const struct cmsghdr *control)
{
    size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    int error = 0;

    for (size_t i = 0; i < count; i++) {
        int fd;

        memcpy(&fd, CMSG_DATA(control) + i * sizeof fd, sizeof fd);
        if (connection->fds < GBA_VFIO_FDS_MAX) {
            connection->fd_of[connection->fds++] = fd;
        } else {
            (void)close(fd);
            error = EPROTO;
        }
    }
    return error;
}

/* Receive up to `length` bytes of the request, and descriptors. Never receives a byte of the next
 * request, whose descriptors would come with it. Returns 0, EAGAIN, or an error. */
static int receive(struct gba_vfio_connection *connection, size_t length)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(GBA_VFIO_FDS_MAX * sizeof(int))];
    } control;
    struct iovec part = {connection->request + connection->received, length};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t count = recvmsg(connection->fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    int error = 0;

    if (count < 0)
        return EINTR == errno || EWOULDBLOCK == errno ? EAGAIN : errno;
    for (struct cmsghdr *i = CMSG_FIRSTHDR(&message); i != NULL; i = CMSG_NXTHDR(&message, i))
        if (SOL_SOCKET == i->cmsg_level && SCM_RIGHTS == i->cmsg_type &&
            0 != take_fds(connection, i))
            error = EPROTO;
    if (0 != (message.msg_flags & MSG_CTRUNC))
        error = EPROTO; /* more descriptors than were announced; the kernel has closed the others */
    if (0 != error)
        return error;
    connection->received += (size_t)count;
    return 0 == count ? ECONNRESET : 0;
}

/* Send the reply. Returns 0, or an error: ENOBUFS if the socket does not take all of it. */
static int transmit(const struct gba_vfio_connection *connection, size_t size)
{
    ssize_t count = send(connection->fd, connection->reply, size, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (count < 0 && EAGAIN != errno)
        return errno;
    return count == (ssize_t)size ? 0 : ENOBUFS;
}

/* Execute the complete request, and send the reply. The first request must be VERSION, and no later
 * request can be VERSION. */
static int execute(struct gba_vfio_connection *connection)
{
    struct gba_vfio_request request;
    size_t length = 0;
    int error = gba_vfio_decode(&connection->header, connection->request + GBA_VFIO_HEADER_SIZE,
                                connection->fds, &request);

    if (!connection->agreed && GBA_VFIO_VERSION != connection->header.command)
        return EPROTO;
    if (0 == error && connection->agreed && GBA_VFIO_VERSION == connection->header.command)
        error = EINVAL;
    if (0 == error)
        error = gba_vfio_device_execute(connection->device, &request, connection->fd_of,
                                        connection->fds, connection->reply + GBA_VFIO_HEADER_SIZE,
                                        &length);
    else
        connection->device->counters.refused++;
    if (0 == error && GBA_VFIO_VERSION == connection->header.command)
        connection->agreed = true;
    if (0 != error) {
        connection->refused = error;
        connection->refused_command = connection->header.command;
    }
    connection->requests++;
    connection->received = 0;
    close_fds(connection);
    if (0 != (connection->header.flags & GBA_VFIO_NO_REPLY))
        return 0;
    return transmit(connection,
                    gba_vfio_encode_reply(&connection->header, error, length, connection->reply));
}

/* Until that many bytes of the request are there. Returns 0, EAGAIN, or an error. */
static int receive_up_to(struct gba_vfio_connection *connection, size_t size)
{
    int error = connection->received < size ? receive(connection, size - connection->received) : 0;

    return 0 == error && connection->received < size ? EAGAIN : error;
}

/* Receive one request, or a part of it, and execute it if it is complete. */
static int progress(struct gba_vfio_connection *connection)
{
    int error = receive_up_to(connection, GBA_VFIO_HEADER_SIZE);

    if (0 == error)
        error = gba_vfio_decode_header(connection->request, &connection->header);
    if (0 == error)
        error = receive_up_to(connection, connection->header.size);
    return 0 == error ? execute(connection) : error;
}

int gba_vfio_connection_progress(struct gba_vfio_connection *connection)
{
    int error = 0;

    for (int i = 0; 0 == error && i < BATCH; i++)
        error = progress(connection);
    return EAGAIN == error ? 0 : error;
}

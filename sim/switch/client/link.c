/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stream between a process and the switch, for all threads of the process.
 *
 * One lock guards output, input and batches. A thread that only polls holds it for system calls
 * that do not block. A thread that waits for input releases the lock, and sets `receiving`. No
 * other thread receives until the waiting thread wakes, because it could take the message that
 * should wake the waiting thread. All further threads that wait sleep on `moved`. So every release
 * wakes its member: the member waits at the connection, or the thread that waits there wakes it.
 */
#define _GNU_SOURCE /* ppoll */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "gba/base/clock.h"
#include "gba/base/log.h"
#include "sim/switch/client/client.h"

/* Bytes of the first output buffer. It grows only while the switch takes no data. */
#define OUTPUT_FIRST (64u * GBA_SWITCH_MESSAGE_BYTES)

gba_status_t gba_link_init(struct gba_client *client)
{
    pthread_condattr_t clock;

    client->output.bytes = malloc(OUTPUT_FIRST);
    if (client->output.bytes == NULL)
        return GBA_ERR_NOMEM;
    client->output.size = OUTPUT_FIRST;
    client->last = &client->first;
    client->owner = getpid();
    pthread_mutex_init(&client->alloc_lock, NULL);
    pthread_mutex_init(&client->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&client->moved, &clock);
    pthread_condattr_destroy(&clock);
    return GBA_OK;
}

void gba_link_fini(struct gba_client *client)
{
    struct gba_client_batch *batch = client->first, *next;

    for (; batch != NULL; batch = next) {
        next = batch->next;
        free(batch);
    }
    for (uint32_t group = 0; group < GBA_GROUPS; group++)
        free(client->member[group]);
    /* In a child of fork another thread of the parent may have held them. */
    if (!gba_file_is_child(client)) {
        pthread_cond_destroy(&client->moved);
        pthread_mutex_destroy(&client->lock);
        pthread_mutex_destroy(&client->alloc_lock);
    }
    free(client->output.bytes);
}

/* End the first batch: it has all its answers, or the connection is lost. */
static void batch_end(struct gba_client *client, gba_status_t status)
{
    struct gba_client_batch *batch = client->first;

    client->first = batch->next;
    if (client->first == NULL)
        client->last = &client->first;
    batch->status = status;
    if (batch->abandoned)
        free(batch);
}

/* A program's function for log lines may end something that another thread needs the lock for. */
void gba_link_unlock(struct gba_client *client)
{
    const bool says = client->says;

    client->says = false;
    pthread_mutex_unlock(&client->lock);
    if (says)
        gba_log(GBA_LOG_INFO, "%s: %s", client->name, client->why);
}

void gba_link_die(struct gba_client *client, const char *why)
{
    if (gba_link_dead(client))
        return;
    snprintf(client->why, sizeof client->why, "%s", why); /* once: nobody reads it meanwhile */
    client->says = true;
    gba_word_store_relaxed(&client->dead, 1);
    /* At the end of the connection the switch takes back the groups and memberships of this
     * process. */
    if (gba_file_is_ours(&client->file))
        (void)shutdown(client->file.socket.number, SHUT_RDWR);
    while (client->first != NULL)
        batch_end(client, GBA_ERR_DEAD);
    pthread_cond_broadcast(&client->moved);
}

/* Whether `file` is still the connection. If the program has closed it, the connection is lost. */
static bool file_check(struct gba_client *client)
{
    if (gba_file_is_ours(&client->file))
        return true;
    client->file.socket.number = -1;
    gba_link_die(client, "the program has closed the connection to the switch");
    return false;
}

/* --- Output --- */

static void output_send(struct gba_client *client)
{
    struct gba_client_output *output = &client->output;
    char why[96];

    /* Each time, because an arrival must not go into another file of the program. */
    if (!file_check(client))
        return;
    while (output->begin < output->end) {
        ssize_t sent = send(client->file.socket.number, output->bytes + output->begin,
                            output->end - output->begin, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (sent >= 0) {
            output->begin += (size_t)sent;
        } else if (EAGAIN == errno || EWOULDBLOCK == errno) {
            return; /* the next poll sends the rest */
        } else if (EINTR != errno) {
            snprintf(why, sizeof why, "cannot send to the switch: %s", strerror(errno));
            gba_link_die(client, why);
            return;
        }
    }
    output->begin = output->end = 0;
}

/* Make room for one message. Returns false: out of memory. */
static bool output_room(struct gba_client_output *output)
{
    uint8_t *more;

    if (output->size - output->end >= GBA_SWITCH_MESSAGE_BYTES)
        return true;
    if (output->begin > 0) {
        memmove(output->bytes, output->bytes + output->begin, output->end - output->begin);
        output->end -= output->begin;
        output->begin = 0;
    }
    if (output->size - output->end >= GBA_SWITCH_MESSAGE_BYTES)
        return true;
    more = realloc(output->bytes, 2 * output->size);
    if (more == NULL)
        return false;
    output->bytes = more;
    output->size *= 2;
    return true;
}

static void output_add(struct gba_client *client, const struct gba_switch_message *message)
{
    if (!output_room(&client->output)) {
        gba_link_die(client, "out of memory for a message to the switch");
        return;
    }
    gba_switch_encode(message, client->output.bytes + client->output.end);
    client->output.end += GBA_SWITCH_MESSAGE_BYTES;
}

void gba_link_post(struct gba_client *client, const struct gba_switch_message *message)
{
    if (gba_link_dead(client))
        return;
    output_add(client, message);
    output_send(client);
}

/* --- Input --- */

static bool is_answered(const struct gba_switch_message *message)
{
    return GBA_SWITCH_READ == message->type || GBA_SWITCH_COMMAND == message->type ||
           GBA_SWITCH_OWNER == message->type;
}

/* The first request of the batch from `at` on that has an answer; batch->count: none. */
static uint32_t batch_next(const struct gba_client_batch *batch, uint32_t at)
{
    while (at < batch->count && !is_answered(&batch->message[at]))
        at++;
    return at;
}

static void answer_dispatch(struct gba_client *client, const struct gba_switch_message *message)
{
    struct gba_client_batch *batch = client->first;
    struct gba_switch_message *request;

    if (batch == NULL) {
        gba_link_die(client, "the switch answered without a request");
        return;
    }
    request = &batch->message[batch->next_answer];
    if (message->tag != request->tag || message->type != request->type + 1) {
        gba_link_die(client, "the switch answered another request");
        return;
    }
    *request = *message;
    batch->next_answer = batch_next(batch, batch->next_answer + 1);
    if (batch->next_answer == batch->count)
        batch_end(client, GBA_OK);
}

static void dispatch(struct gba_client *client, const struct gba_switch_message *message)
{
    char why[96];

    switch (message->type) {
    case GBA_SWITCH_RELEASE:
        gba_client_release(client, message);
        break;
    case GBA_SWITCH_VALUE:
    case GBA_SWITCH_RESULT:
    case GBA_SWITCH_OWNED:
        answer_dispatch(client, message);
        break;
    case GBA_SWITCH_EVENT:
        gba_client_event(client, message);
        break;
    case GBA_SWITCH_ERROR:
        snprintf(why, sizeof why, "the switch ended the connection: %s",
                 gba_switch_refusal_text(message->code));
        gba_link_die(client, why);
        break;
    default:
        gba_link_die(client, "the switch sent an unexpected message");
    }
}

/* Dispatch all whole messages of the input. */
static void input_dispatch(struct gba_client *client)
{
    struct gba_switch_message message;
    uint32_t at = 0;

    for (; client->input.used - at >= GBA_SWITCH_MESSAGE_BYTES; at += GBA_SWITCH_MESSAGE_BYTES) {
        if (gba_switch_decode(client->input.bytes + at, GBA_SWITCH_SERVER, &message))
            dispatch(client, &message);
        else
            gba_link_die(client, "the switch sent an invalid message");
    }
    client->input.used -= at;
    memmove(client->input.bytes, client->input.bytes + at, client->input.used);
}

static void input_receive(struct gba_client *client)
{
    char why[96];

    for (;;) {
        size_t room = sizeof client->input.bytes - client->input.used;
        uint8_t *end = client->input.bytes + client->input.used;
        /* Data may be that of another file of the program, which must not lose it. The check needs
         * a system call, so a poll without data makes none. */
        ssize_t got = recv(client->file.socket.number, end, 1, MSG_DONTWAIT | MSG_PEEK);

        if (got > 0 && !file_check(client))
            return;
        if (got > 0)
            got = recv(client->file.socket.number, end, room, MSG_DONTWAIT);
        if (got > 0) {
            client->input.used += (uint32_t)got;
            input_dispatch(client);
            if ((size_t)got < room || gba_link_dead(client))
                return;
        } else if (0 == got) {
            gba_link_die(client, "the switch closed the connection");
            return;
        } else if (EAGAIN == errno || EWOULDBLOCK == errno) {
            return;
        } else if (EINTR != errno) {
            snprintf(why, sizeof why, "cannot receive from the switch: %s", strerror(errno));
            gba_link_die(client, why);
            return;
        }
    }
}

void gba_link_move(struct gba_client *client)
{
    if (gba_link_dead(client))
        return;
    if (client->output.begin < client->output.end)
        output_send(client);
    if (!client->receiving && !gba_link_dead(client))
        input_receive(client);
}

/* --- Waiting --- */

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
                             .tv_nsec = (long)(ns % 1000000000u)};
}

void gba_link_wait(struct gba_client *client, uint64_t timeout)
{
    struct timespec until, most = timespec_of(timeout);
    struct pollfd connection = {.fd = client->file.socket.number, .events = POLLIN};

    if (gba_link_dead(client))
        return;
    if (client->receiving) {
        until = timespec_of(gba_clock_ns() + timeout);
        (void)pthread_cond_timedwait(&client->moved, &client->lock, &until);
        return;
    }
    if (client->output.begin < client->output.end)
        connection.events |= POLLOUT;
    client->receiving = true;
    pthread_mutex_unlock(&client->lock);
    (void)ppoll(&connection, 1, &most, NULL);
    pthread_mutex_lock(&client->lock);
    client->receiving = false;
    gba_link_move(client);
    pthread_cond_broadcast(&client->moved);
}

/* --- Batches --- */

void gba_batch_send(struct gba_client *client, struct gba_client_batch *batch)
{
    batch->next_answer = batch_next(batch, 0);
    pthread_mutex_lock(&client->lock);
    batch->sent = gba_clock_ns();
    *client->last = batch;
    client->last = &batch->next;
    for (uint32_t i = 0; i < batch->count && !gba_link_dead(client); i++) {
        if (is_answered(&batch->message[i]))
            batch->message[i].tag = ++client->tag;
        output_add(client, &batch->message[i]);
    }
    if (!gba_link_dead(client))
        output_send(client);
    else if (GBA_INPROGRESS == batch->status)
        batch_end(client, GBA_ERR_DEAD); /* it is the only one */
    gba_link_unlock(client);
}

/* The batch has waited too long for its answers. If this process was stopped, the answers may have
 * come, while the thread that waits at the connection has not run yet. Only in this case receive
 * in its place; it then sleeps until its timeout. */
static void overdue(struct gba_client *client, const struct gba_client_batch *batch)
{
    if (!gba_link_dead(client))
        input_receive(client);
    if (GBA_INPROGRESS == batch->status)
        gba_link_die(client, "the switch has not answered for 10 s");
    pthread_cond_broadcast(&client->moved);
}

gba_status_t gba_batch_wait(struct gba_client *client, struct gba_client_batch *batch,
                            uint64_t timeout)
{
    uint64_t now = gba_clock_ns(), until = now + timeout;
    gba_status_t status;

    pthread_mutex_lock(&client->lock);
    gba_link_move(client);
    while (GBA_INPROGRESS == batch->status && now < until) {
        gba_link_wait(client, until - now);
        now = gba_clock_ns();
    }
    if (GBA_INPROGRESS == batch->status && now - batch->sent >= GBA_CLIENT_SILENCE)
        overdue(client, batch);
    status = batch->status;
    gba_link_unlock(client);
    return status;
}

void gba_batch_abandon(struct gba_client *client, struct gba_client_batch *batch)
{
    if (batch == NULL)
        return;
    pthread_mutex_lock(&client->lock);
    batch->abandoned = true;
    if (GBA_INPROGRESS != batch->status)
        free(batch);
    gba_link_unlock(client);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Execution of the messages of a client, and the messages for the releases and events of its
 * port. */
#include "sim/switch/net/messages.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>

#include "sim/switch/net/report.h"

/* --- From the port --- */

static void take_release(void *context, uint64_t address, uint32_t group, uint32_t member,
                         uint32_t sequence)
{
    struct gba_switch_message message = {.type = GBA_SWITCH_RELEASE,
                                         .group = group,
                                         .member = member,
                                         .value = sequence,
                                         .key = address};

    gba_session_put(context, &message);
}

static void take_interrupt(void *context)
{
    struct gba_session *session = context;

    session->interrupted = true;
    gba_session_mark(session);
}

static const struct gba_switch_session_ops ops = {.release = take_release,
                                                  .interrupt = take_interrupt};

/* Acknowledge first: the registers that the client reads later are then at least as new as the
 * event. [IRQ-3] */
void gba_session_send_events(struct gba_session *session)
{
    struct gba_switch *device = session->daemon->device;
    uint64_t cause = gba_switch_read(device, session->port, GBA_PORT_REG(GBA_PORT_IRQ_CAUSE), 4);

    session->interrupted = false;
    for (uint32_t group = 0; group < GBA_GROUPS; group++) {
        uint32_t address = GBA_PORT_EVENT(group);
        struct gba_switch_message message = {.type = GBA_SWITCH_EVENT, .group = group};

        if ((cause >> group & 1) == 0)
            continue;
        message.value = gba_switch_read(device, session->port, address, 4);
        gba_switch_write(device, session->port, address, 4, message.value);
        message.generation = (uint32_t)gba_switch_read(device, session->port,
                                                       GBA_GROUP_REG(group, GBA_REG_GENERATION), 4);
        gba_session_put(session, &message);
    }
}

/* --- Greeting --- */

static void welcome(struct gba_session *session)
{
    struct gba_switchd *daemon = session->daemon;
    const struct gba_model *model = gba_switch_model(daemon->device);
    int port = gba_switch_attach(daemon->device, &ops, session, &session->identity);
    struct gba_switch_message message = {.type = GBA_SWITCH_WELCOME,
                                         .code = GBA_SWITCH_PROTOCOL,
                                         .group = model->groups,
                                         .generation = model->version,
                                         .member = model->ports,
                                         .value = model->uuid[0],
                                         .key = model->uuid[1]};

    if (port < 0) {
        gba_session_end(session, port == GBA_SWITCH_PORT_QUOTA ? GBA_SWITCH_REFUSED_QUOTA
                                                               : GBA_SWITCH_REFUSED_PORTS);
        return;
    }
    event_del(session->events.greeting);
    session->state = GBA_SESSION_OPEN;
    session->port = (uint32_t)port;
    message.tag = (uint16_t)port;
    /* The session passes on the events of all groups. */
    gba_switch_write(daemon->device, session->port, GBA_PORT_REG(GBA_PORT_IRQ_MASK), 4, UINT32_MAX);
    gba_session_put(session, &message);
    gba_switchd_log(GBA_SWITCHD_INFO, "port %" PRIu32 ": up: %s", session->port,
                    gba_session_label(session));
}

static void report(struct gba_session *session)
{
    struct gba_switch_message message = {.type = GBA_SWITCH_TEXT};
    struct gba_switchd_view view = {.daemon = session->daemon,
                                    .late_ms = session->late_ms,
                                    .viewer = gba_session_viewer(session)};
    size_t length;
    char *text;

    if (session->wants == GBA_SWITCH_STATUS_TEXT)
        text = gba_switchd_report_text(&view, &length);
    else
        text = gba_switchd_report(&view, &length);

    event_del(session->events.greeting);
    event_del(session->events.readable);
    session->state = GBA_SESSION_LAST;
    message.value = length;
    message.member = view.faults;
    gba_session_put(session, &message);
    if (text == NULL || evbuffer_add(session->out, text, length) != 0)
        gba_session_end(session, GBA_SWITCH_REFUSED_SLOW);
    free(text);
    gba_session_end(session, GBA_SESSION_DONE);
}

static void proceed(struct gba_session *session)
{
    if (session->wants_status)
        report(session);
    else
        welcome(session);
}

static void take_greeting(struct gba_session *session, const struct gba_switch_message *message)
{
    session->wants_status = message->type == GBA_SWITCH_STATUS;
    session->wants = message->tag;
    if ((message->type != GBA_SWITCH_HELLO && message->type != GBA_SWITCH_STATUS) ||
        message->group != GBA_SWITCH_MAGIC ||
        (session->wants_status && session->wants > GBA_SWITCH_STATUS_TEXT)) {
        gba_session_end(session, GBA_SWITCH_REFUSED_MESSAGE);
        return;
    }
    if (message->code != GBA_SWITCH_PROTOCOL) {
        gba_session_end(session, GBA_SWITCH_REFUSED_VERSION);
        return;
    }
    session->identity.job = message->value;
    session->late_ms = (uint32_t)message->value;
    if (session->tcp) { /* on a Unix socket the kernel has supplied both */
        session->identity.user = message->generation;
        session->identity.process = message->member;
        session->state = GBA_SESSION_SECRET;
    } else {
        proceed(session);
    }
}

static void take_secret(struct gba_session *session, const struct gba_switch_message *message)
{
    uint8_t secret[GBA_SWITCH_SECRET_BYTES];

    if (message->type != GBA_SWITCH_SECRET) {
        gba_session_end(session, GBA_SWITCH_REFUSED_MESSAGE);
        return;
    }
    gba_switch_secret_get(message, secret);
    if (!gba_switch_secret_equal(secret, session->daemon->secret))
        gba_session_end(session, GBA_SWITCH_REFUSED_SECRET);
    else
        proceed(session);
}

/* --- Messages of an open session --- */

static void take_name(struct gba_session *session, const struct gba_switch_message *message)
{
    struct gba_switch_identity *identity = &session->identity;
    char name[GBA_SWITCH_NAME_BYTES + 1], host[sizeof(identity->host)];

    gba_switch_name_get(message, name);
    if (message->code == GBA_SWITCH_NAME_JOB) {
        snprintf(identity->batch_job, sizeof(identity->batch_job), "%s", name); /* for the log */
        gba_switch_set_batch_job(session->daemon->device, session->port, name);
        return;
    }
    if (message->code != GBA_SWITCH_NAME_HOST) {
        gba_session_end(session, GBA_SWITCH_REFUSED_MESSAGE);
        return;
    }
    if (session->tcp)
        snprintf(host, sizeof(host), "%s at %.31s", name, identity->host);
    else
        snprintf(host, sizeof(host), "%s", name);
    gba_switch_set_host(session->daemon->device, session->port, host);
}

static void take_command(struct gba_session *session, const struct gba_switch_message *message)
{
    struct gba_switch_mailbox mailbox = {.group = message->group,
                                         .generation = message->generation,
                                         .member = message->member,
                                         .value = (uint32_t)message->value,
                                         .key = message->key};
    struct gba_switch_message answer = {.type = GBA_SWITCH_RESULT, .tag = message->tag};

    /* An event of an earlier allocation of the group must not come after the RESULT, because its
     * generation would be that of this allocation. */
    if (message->code == GBA_CMD_JOIN)
        gba_session_send_events(session);
    answer.code = (uint8_t)gba_switch_command(session->daemon->device, session->port, message->code,
                                              &mailbox);
    answer.group = mailbox.group;
    answer.generation = mailbox.generation;
    answer.member = mailbox.member;
    answer.value = mailbox.value;
    answer.key = mailbox.key;
    gba_session_put(session, &answer);
}

static void take_read(struct gba_session *session, const struct gba_switch_message *message)
{
    struct gba_switch_message answer = *message;

    answer.type = GBA_SWITCH_VALUE;
    answer.value = gba_switch_read(session->daemon->device, session->port, (uint32_t)message->key,
                                   message->code);
    gba_session_put(session, &answer);
}

static uint8_t owned_code(const struct gba_switch_identity *owner)
{
    return owner->local ? GBA_SWITCH_OWNED_HERE : GBA_SWITCH_OWNED_AWAY;
}

/* Answer an OWNER with the name of the job. */
static void put_owner_job(struct gba_session *session, const struct gba_switch_message *message,
                          const struct gba_switch_identity *owner)
{
    struct gba_switch_message answer;

    gba_switch_name_set(&answer, GBA_SWITCH_NAME_JOB, owner->batch_job);
    answer.type = GBA_SWITCH_OWNED;
    answer.code = owned_code(owner);
    answer.tag = message->tag;
    gba_session_put(session, &answer);
}

/* Answer an OWNER with the first port whose link is lost. */
static void put_lost(struct gba_session *session, const struct gba_switch_message *message)
{
    const struct gba_switch *device = session->daemon->device;
    const uint32_t ports = gba_switch_model(device)->ports;
    char text[GBA_SWITCH_NAME_BYTES + 1] = "";
    struct gba_switch_message answer;

    for (uint32_t port = 0; port < ports && text[0] == '\0'; port++) {
        const char *host = gba_switch_lost(device, port);

        if (host[0] != '\0') /* without the address: a name has no blanks */
            snprintf(text, sizeof(text), "%" PRIu32 ":%.*s", port, (int)strcspn(host, " "), host);
    }
    gba_switch_name_set(&answer, GBA_SWITCH_NAME_HOST, text);
    answer.type = GBA_SWITCH_OWNED;
    answer.tag = message->tag;
    gba_session_put(session, &answer);
}

static void take_owner(struct gba_session *session, const struct gba_switch_message *message)
{
    const struct gba_switch *device = session->daemon->device;
    const struct gba_model *model = gba_switch_model(device);
    struct gba_switch_message answer = {
        .type = GBA_SWITCH_OWNED,
        .tag = message->tag,
        .group = message->code == 0 ? message->group : 0}; /* a name has these bytes */

    if (message->code == 2) {
        put_lost(session, message);
        return;
    }
    if (message->group < model->groups &&
        model->group[message->group].record.life != GBA_LIFE_FREE) {
        const struct gba_switch_identity *owner = gba_switch_owner(device, message->group);

        if (!gba_switch_sees(gba_session_viewer(session), owner)) {
            answer.code = GBA_SWITCH_OWNED_HIDDEN;
            gba_session_put(session, &answer);
            return;
        }
        if (message->code != 0) {
            put_owner_job(session, message, owner);
            return;
        }
        answer.code = owned_code(owner);
        answer.generation = owner->user;
        answer.member = owner->process;
        answer.value = owner->job;
        answer.key = (uint64_t)model->group[message->group].record.present << 32 |
                     model->group[message->group].record.members;
    }
    gba_session_put(session, &answer);
}

static void take_message(struct gba_session *session, const struct gba_switch_message *message)
{
    switch (message->type) {
    case GBA_SWITCH_ARRIVE:
        gba_switch_ring(session->daemon->device, session->port, message->group, GBA_BELL_ARRIVAL,
                        message->value);
        break;
    case GBA_SWITCH_COMMAND:
        take_command(session, message);
        break;
    case GBA_SWITCH_READ:
        take_read(session, message);
        break;
    case GBA_SWITCH_OWNER:
        take_owner(session, message);
        break;
    case GBA_SWITCH_WRITE:
        gba_switch_write(session->daemon->device, session->port, (uint32_t)message->key,
                         message->code, message->value);
        break;
    case GBA_SWITCH_NAME:
        take_name(session, message);
        break;
    default:
        gba_session_end(session, GBA_SWITCH_REFUSED_MESSAGE);
    }
}

void gba_session_take(struct gba_session *session, const uint8_t bytes[GBA_SWITCH_MESSAGE_BYTES])
{
    struct gba_switch_message message;

    if (!gba_switch_decode(bytes, GBA_SWITCH_CLIENT, &message))
        gba_session_end(session, GBA_SWITCH_REFUSED_MESSAGE);
    else if (session->state == GBA_SESSION_GREETING)
        take_greeting(session, &message);
    else if (session->state == GBA_SESSION_SECRET)
        take_secret(session, &message);
    else
        take_message(session, &message);
}

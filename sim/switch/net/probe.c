/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/switch/net/probe.h"

#include <event2/buffer.h>

#include "gba/base/clock.h"

/* The ports of groups that wait. */
struct ports {
    bool missing[GBA_PORTS_MAX]; /* a member has not arrived */
    bool arrived[GBA_PORTS_MAX]; /* a member has arrived, so its process waits */
};

static void ports_of_group(struct ports *ports, const struct gba_model_group *group)
{
    if (group->record.life != GBA_LIFE_ARMED || group->core.arrived_count == 0)
        return;
    for (uint32_t member = 0; member < group->record.members; member++) {
        bool arrived = (group->core.arrived_mask[member / 64] >> member % 64 & 1) != 0;

        if (group->bound[member] == 0)
            continue;
        if (arrived)
            ports->arrived[group->bound[member] - 1u] = true;
        else
            ports->missing[group->bound[member] - 1u] = true;
    }
}

static bool is_open(const struct gba_session *session)
{
    return session->state == GBA_SESSION_OPEN && session->end == GBA_SESSION_GOES_ON;
}

/* Whether a client may see the process of another one. Each client checks the user of the process
 * itself, too. */
static bool is_neighbour(const struct gba_session *session, const struct gba_session *other)
{
    return session != other && is_open(session) && session->process.host == other->process.host &&
           session->identity.user == other->identity.user;
}

static void end_probe(struct gba_session *session)
{
    if (session->process.probe != 0)
        session->daemon->probes--;
    session->process.probe = 0;
}

/* Ask about the process of that session. */
static void send_probe(struct gba_session *session, const struct ports *ports)
{
    struct gba_switchd *daemon = session->daemon;
    struct gba_session_process *process = &session->process;
    const struct gba_switch_message message = {.type = GBA_SWITCH_PROBE,
                                               .tag = (uint16_t)session->port,
                                               .member = session->identity.process,
                                               .value = daemon->probe + 1,
                                               .key = process->start};
    struct gba_session *other;

    process->answers = 0;
    LIST_FOREACH(other, &daemon->sessions, link)
    {
        if (process->answers == GBA_PROBE_CLIENTS)
            break;
        if (!is_neighbour(other, session) || !ports->arrived[other->port] || other->held ||
            evbuffer_get_length(other->out) >= GBA_SESSION_OUT_PAUSE)
            continue;
        gba_session_put(other, &message);
        process->answers++;
    }
    if (process->answers == 0)
        return;
    process->probe = ++daemon->probe;
    process->asked = gba_clock_ns();
    daemon->probes++;
}

void gba_probe_identify(struct gba_session *session, const struct gba_switch_message *message)
{
    if (session->process.host != 0 || message->value == 0) {
        gba_session_end(session, GBA_SWITCH_REFUSED_MESSAGE);
        return;
    }
    session->process.host = message->value;
    session->process.start = message->key;
}

bool gba_probe_send(struct gba_switchd *daemon)
{
    const struct gba_model *model = gba_switch_model(daemon->device);
    uint64_t now = gba_clock_ns();
    struct ports ports = {.missing = {false}};
    struct gba_session *session;

    for (uint32_t group = 0; group < model->groups; group++)
        ports_of_group(&ports, &model->group[group]);
    LIST_FOREACH(session, &daemon->sessions, link)
    {
        struct gba_session_process *process = &session->process;

        if (process->probe != 0 && now - process->asked < GBA_PROBE_MS * UINT64_C(1000000))
            continue;
        end_probe(session);
        process->state = GBA_PROCESS_UNKNOWN;
        if (is_open(session) && !session->identity.local && process->host != 0 &&
            ports.missing[session->port])
            send_probe(session, &ports);
    }
    return daemon->probes != 0;
}

bool gba_probe_take(struct gba_session *session, const struct gba_switch_message *message)
{
    struct gba_switchd *daemon = session->daemon;
    struct gba_session *about;

    LIST_FOREACH(about, &daemon->sessions, link)
    {
        if (about->process.probe != 0 && about->process.probe == message->value)
            break;
    }
    if (about == NULL || !is_neighbour(session, about))
        return false;
    if (message->code != GBA_PROCESS_UNKNOWN && message->code <= GBA_PROCESS_GONE)
        about->process.state = message->code;
    else if (--about->process.answers != 0)
        return false;
    end_probe(about);
    return daemon->probes == 0;
}

void gba_probe_show(struct gba_switchd_view *view)
{
    const struct gba_session *session;

    LIST_FOREACH(session, &view->daemon->sessions, link)
    {
        if (is_open(session) && !session->identity.local)
            view->process[session->port] = gba_switchd_process_name(session->process.state);
    }
}

void gba_probe_forget(struct gba_session *session)
{
    end_probe(session);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/switch/dead.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool may_end(const struct gba_session *caller, const struct gba_session *session)
{
    uint32_t user = caller->identity.user;

    return !caller->tcp && (user == 0 || user == geteuid() || user == session->identity.user);
}

static void free_dead(FILE *out, struct gba_switchd_view *view)
{
    const struct gba_session *caller = view->context;
    struct gba_session *session;
    uint32_t dead = 0;

    LIST_FOREACH(session, &caller->daemon->sessions, link)
    {
        const char *process;

        if (session->state != GBA_SESSION_OPEN || session->end != GBA_SESSION_GOES_ON)
            continue;
        process = gba_switchd_process(view, session->port);
        if (process == NULL || strcmp(process, "gone") != 0)
            continue;
        dead++;
        fprintf(out, "port %" PRIu32 ": process %" PRIu32 " of user %" PRIu32 " is gone: %s\n",
                session->port, session->identity.process, session->identity.user,
                may_end(caller, session)
                    ? "connection closed"
                    : "not closed: needs that user, root, or the daemon's user");
        if (may_end(caller, session))
            gba_session_end(session, GBA_SESSION_DEAD);
        else
            view->faults++;
    }
    if (dead == 0)
        fputs("no port of a dead process\n", out);
}

char *gba_session_free_dead(const struct gba_session *caller, struct gba_switchd_view *view,
                            size_t *length)
{
    view->context = caller;
    return gba_switchd_print(view, free_dead, length);
}

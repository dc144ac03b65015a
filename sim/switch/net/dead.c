/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/switch/net/dead.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool may_end(const struct gba_session *caller, const struct gba_session *session)
{
    return !caller->tcp && gba_switch_sees(gba_session_viewer(caller), &session->identity);
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
        if (may_end(caller, session)) {
            fprintf(out,
                    "port %" PRIu32 ": process %" PRIu32 " of user %" PRIu32
                    " is gone: connection closed\n",
                    session->port, session->identity.process, session->identity.user);
            gba_session_end(session, GBA_SESSION_DEAD);
        } else {
            fprintf(out,
                    "port %" PRIu32 ": its process is gone: not closed: needs its user, root, or "
                    "the daemon's user\n",
                    session->port);
            view->faults++;
        }
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

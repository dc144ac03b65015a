/* SPDX-License-Identifier: BSD-3-Clause */
/* The jobs of this host, and where their processes are. */
#include <stdio.h>

#include "gba/gba.h"
#include "gba/tools/info.h"

static gba_status_t job_show(void *ctx, const gba_where_process_t *process)
{
    char text[1024];

    ++*(unsigned *)ctx;
    gba_where_text(process, text, sizeof text);
    if (!report_is_json()) {
        printf("job %s, rank %u, user %u, pid %u, %s: %s\n", process->job, process->rank,
               process->user, process->pid, process->program, text);
        return GBA_INPROGRESS;
    }
    report_begin(NULL, '{');
    report_text("job", "%s", process->job);
    report_number("rank", process->rank);
    report_number("pid", process->pid);
    report_number("user", process->user);
    report_text("program", "%s", process->program);
    report_text("where", "%s", text);
    report_end();
    return GBA_INPROGRESS;
}

int info_jobs(void)
{
    unsigned count = 0;
    gba_status_t status;

    report_begin(NULL, '{');
    report_begin("processes", '[');
    status = gba_where_read(NULL, job_show, &count);
    report_end();
    report_end();
    if (GBA_INPROGRESS != status)
        return report_error(INFO_EXIT_NO_DEVICE, "cannot list the jobs: %s",
                            gba_status_text(status));
    if (0 == count && !report_is_json())
        printf("no job: no process of this user has barriers of the plugins\n");
    return INFO_EXIT_OK;
}

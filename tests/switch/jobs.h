/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs on a gba-switchd whose members a test has: one member, the victim, has a connection that
 * another process has made. That process can be stopped, or killed while the connection stays open.
 */
#ifndef TESTS_SWITCH_JOBS_H
#define TESTS_SWITCH_JOBS_H

#include "tests/switch/peer.h"

#include <sys/types.h>

/* What happens to one member of a job, the victim. */
enum event {
    /* Healthy, and perhaps slow. */
    EVENT_NONE,
    EVENT_JOINS_LATE,   /* no membership yet */
    EVENT_LEAVES,       /* the job ends; no member waits */
    EVENT_STOPPED_IDLE, /* no member waits for the stopped process */
    /* Faults. */
    EVENT_NEVER_CAME, /* like EVENT_JOINS_LATE: only time distinguishes them */
    EVENT_LEAVES_WAITING,
    EVENT_DIES, /* its driver reports the death */
    EVENT_LINK_DOWN,
    EVENT_STOPPED,
    EVENT_GONE, /* its connection stays open */
    EVENTS
};

struct job {
    enum event event;
    uint32_t members, victim, rounds;
    bool waiting;      /* the others arrive in the last round */
    bool arrive_first; /* before the event */
    pid_t child;       /* made the connection of the victim */
    int channel[2];    /* of this process, and of the child */
    int victim_fd, home_fd;
    uint32_t victim_port, home_port;
    struct gba_switch_message group;
};

/* Fork the process of the victim. */
void job_fork(const struct daemon_process *process, struct job *job);

/* Connect the victim, whose host has that name, and the others. */
void job_connect(const struct daemon_process *process, struct job *job, const char *host);

/* Does the victim join late, or never? */
bool job_comes_late(const struct job *job);

/* Allocate the group, join, and make some rounds. */
void job_start(struct job *job);

/* All but the victim arrive, if they wait. */
void job_arrive(const struct job *job);

/* The victim leaves. why: 0 or GBA_LEAVE_DIED. */
void job_leave(const struct job *job, uint32_t why);

/* Stop or kill the process of the victim. The killed one becomes a zombie; reap: not even that. */
void job_stop(const struct job *job);
void job_kill(struct job *job, bool reap);

/* Kill the process and close all connections. */
void job_end(struct job *job);

/* Wait until all groups are free. */
void job_wait_until_free(const struct daemon_process *process);

#endif

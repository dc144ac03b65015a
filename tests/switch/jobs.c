/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* CLONE_FILES */
#include "tests/switch/jobs.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- The process of the victim --- */

/* After a byte on the channel: connect, answer, and sleep. The other end of the connection has this
 * process. */
static void run_child(const struct daemon_process *process, int fd, int channel)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char byte;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    memcpy(address.sun_path, process->socket, sizeof(process->socket));
    if (recv(channel, &byte, 1, 0) != 1)
        _exit(1);
    byte = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 ? 1 : 0;
    (void)send(channel, &byte, 1, MSG_NOSIGNAL);
    for (;;)
        pause();
}

/* The child shares the descriptors of the test, so it keeps no connection of another job open. */
void job_fork(const struct daemon_process *process, struct job *job)
{
    job->victim_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_return_code(job->victim_fd, errno);
    assert_return_code(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, job->channel), errno);
    job->child = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
    assert_return_code(job->child, errno);
    if (job->child == 0)
        run_child(process, job->victim_fd, job->channel[1]);
}

/* Let the child connect. It waits for that, because the daemon drops a connection without a
 * greeting after GBA_SESSION_GREETING_S, and jobs before that of this child may take longer. */
static void connect_child(const struct job *job)
{
    char byte = 0;

    assert_int_equal(send(job->channel[0], &byte, 1, MSG_NOSIGNAL), 1);
    assert_int_equal(recv(job->channel[0], &byte, 1, 0), 1);
    assert_int_equal(byte, 1);
}

/* --- A job --- */

static void greet(int fd, const char *host, uint32_t *port)
{
    struct gba_switch_message name;

    peer_hello(fd);
    *port = peer_expect(fd, GBA_SWITCH_WELCOME).tag;
    gba_switch_name_set(&name, GBA_SWITCH_NAME_HOST, host);
    peer_send(fd, &name);
}

void job_connect(const struct daemon_process *process, struct job *job, const char *host)
{
    connect_child(job);
    greet(job->victim_fd, host, &job->victim_port);
    job->home_fd = peer_unix(process);
    greet(job->home_fd, "home", &job->home_port);
}

static int fd_of(const struct job *job, uint32_t member)
{
    return member == job->victim ? job->victim_fd : job->home_fd;
}

bool job_comes_late(const struct job *job)
{
    return job->event == EVENT_JOINS_LATE || job->event == EVENT_NEVER_CAME;
}

static void join(struct job *job, uint32_t member)
{
    struct gba_switch_message mailbox = job->group;

    mailbox.member = member;
    assert_int_equal(peer_command(fd_of(job, member), GBA_CMD_JOIN, &mailbox), GBA_RESULT_OK);
    peer_write(fd_of(job, member), GBA_TABLE_ENTRY(job->group.group, member), 8, 8 + 8 * member);
    peer_settle(fd_of(job, member));
}

void job_start(struct job *job)
{
    struct gba_switch_message mailbox;

    job->group = (struct gba_switch_message){.group = GBA_GROUP_ANY, .value = job->members};
    assert_int_equal(peer_command(job->home_fd, GBA_CMD_ALLOC, &job->group), GBA_RESULT_OK);
    for (uint32_t member = 0; member < job->members; member++) {
        if (member != job->victim || !job_comes_late(job))
            join(job, member);
    }
    if (job_comes_late(job))
        return;
    mailbox = job->group;
    mailbox.value = 0;
    assert_int_equal(peer_command(job->home_fd, GBA_CMD_ARM, &mailbox), GBA_RESULT_OK);
    for (uint32_t round = 1; round <= job->rounds; round++) {
        for (uint32_t member = 0; member < job->members; member++)
            peer_arrive(fd_of(job, member), &job->group, member, round);
        for (uint32_t member = 0; member < job->members; member++)
            (void)peer_expect(fd_of(job, member), GBA_SWITCH_RELEASE);
    }
}

void job_arrive(const struct job *job)
{
    if (!job->waiting)
        return;
    for (uint32_t member = 0; member < job->members; member++) {
        if (member != job->victim)
            peer_arrive(job->home_fd, &job->group, member, job->rounds + 1);
    }
    peer_settle(job->home_fd);
}

void job_leave(const struct job *job, uint32_t why)
{
    struct gba_switch_message mailbox = job->group;

    mailbox.member = job->victim;
    mailbox.value = why;
    assert_int_equal(peer_command(job->victim_fd, GBA_CMD_LEAVE, &mailbox), GBA_RESULT_OK);
}

void job_stop(const struct job *job)
{
    int status;

    assert_return_code(kill(job->child, SIGSTOP), errno);
    assert_int_equal(waitpid(job->child, &status, WUNTRACED), job->child);
    assert_true(WIFSTOPPED(status));
}

void job_kill(struct job *job, bool reap)
{
    siginfo_t info;

    assert_return_code(kill(job->child, SIGKILL), errno);
    assert_return_code(waitid(P_PID, (id_t)job->child, &info, WEXITED | WNOWAIT), errno);
    if (reap) {
        assert_int_equal(waitpid(job->child, NULL, 0), job->child);
        job->child = -1;
    }
}

void job_end(struct job *job)
{
    if (job->child > 0) {
        kill(job->child, SIGKILL);
        assert_int_equal(waitpid(job->child, NULL, 0), job->child);
    }
    if (job->victim_fd >= 0)
        close(job->victim_fd);
    close(job->home_fd);
    close(job->channel[0]);
    close(job->channel[1]);
}

void job_wait_until_free(const struct daemon_process *process)
{
    uint32_t port;
    int fd = peer_client(process, &port);

    while (peer_read(fd, GBA_DEVICE_BASE + GBA_DEV_GROUPS_FREE, 4) != GBA_GROUPS)
        usleep(1000);
    close(fd);
}

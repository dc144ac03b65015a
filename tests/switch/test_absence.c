/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gba_diag names the absent members of all groups of a gba-switchd, and why they are absent. The
 * groups are jobs that are healthy, slow, or have a fault, chosen at random: 30 faults, or as many
 * as GBA_TEST_FAULTS in the environment. It prints how long gba_diag took.
 */
#define _GNU_SOURCE /* SCM_RIGHTS */
#include "tests/switch/peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gba/base/clock.h"

#define JOBS        GBA_GROUPS
#define MEMBERS_MAX 6u
#define FAULTS      30u

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

#define FIRST_FAULT EVENT_NEVER_CAME

struct job {
    enum event event;
    uint32_t members, victim, rounds;
    bool waiting;      /* the others arrive in the last round */
    bool arrive_first; /* before the event */
    pid_t child;       /* made the connection of the victim */
    int channel;       /* to and from the child */
    int victim_fd, home_fd;
    uint32_t victim_port, home_port;
    struct gba_switch_message group;
};

/* What gba_diag prints about a member. */
struct verdict {
    bool listed, fault;
    char absence[32];
    uint32_t port, pid;
    char host[64];
};

static struct daemon_process process;
static struct job jobs[JOBS];
static uint64_t seed = 1, slowest_ns;

static uint32_t pick(uint32_t count)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % count;
}

/* --- The process of the victim --- */

/* After a byte on the channel: connect, send the descriptor, and sleep. The other end of the
 * connection has this process. */
static void run_child(int channel)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.bytes = {0}};
    char byte = 0;
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    memcpy(address.sun_path, process.socket, sizeof(process.socket));
    if (fd < 0 || recv(channel, &byte, 1, 0) != 1 ||
        connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
        _exit(1);
    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
    if (sendmsg(channel, &message, MSG_NOSIGNAL) != 1)
        _exit(1);
    close(fd); /* the test has it */
    for (;;)
        pause();
}

/* All children are forked before the test has a connection, because they would keep it open. */
static void fork_child(struct job *job)
{
    int ends[2];

    assert_return_code(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), errno);
    job->child = fork();
    assert_return_code(job->child, errno);
    if (job->child == 0)
        run_child(ends[1]);
    close(ends[1]);
    job->channel = ends[0];
}

/* Let the child connect, and receive the descriptor. The child waits for that, because the daemon
 * drops a connection without a greeting after GBA_SESSION_GREETING_S, and jobs before that of this
 * child may take longer. */
static int connect_child(int channel)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    char byte = 0;
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    int fd;

    assert_int_equal(send(channel, &byte, 1, MSG_NOSIGNAL), 1);
    assert_int_equal(recvmsg(channel, &message, MSG_CMSG_CLOEXEC), 1);
    assert_int_equal(message.msg_controllen, sizeof(control.bytes));
    memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
    return fd;
}

/* --- A job --- */

static void greet(int fd, const char *host, uint32_t *port)
{
    struct gba_switch_message name;

    peer_hello(fd);
    *port = peer_expect(fd, GBA_SWITCH_WELCOME).tag;
    gba_switch_name_set(&name, host);
    peer_send(fd, &name);
}

/* Wait until the daemon has executed all messages of the connection. */
static void settle(int fd)
{
    (void)peer_read(fd, GBA_DEVICE_BASE + GBA_DEV_GROUPS, 4);
}

static int fd_of(const struct job *job, uint32_t member)
{
    return member == job->victim ? job->victim_fd : job->home_fd;
}

static bool comes_late(const struct job *job)
{
    return job->event == EVENT_JOINS_LATE || job->event == EVENT_NEVER_CAME;
}

static void join(struct job *job, uint32_t member)
{
    struct gba_switch_message mailbox = job->group;

    mailbox.member = member;
    assert_int_equal(peer_command(fd_of(job, member), GBA_CMD_JOIN, &mailbox), GBA_RESULT_OK);
    peer_write(fd_of(job, member), GBA_TABLE_ENTRY(job->group.group, member), 8, 8 + 8 * member);
    settle(fd_of(job, member));
}

/* Allocate the group, join, and make some rounds. */
static void start_job(struct job *job)
{
    struct gba_switch_message mailbox;

    job->group = (struct gba_switch_message){.group = GBA_GROUP_ANY, .value = job->members};
    assert_int_equal(peer_command(job->home_fd, GBA_CMD_ALLOC, &job->group), GBA_RESULT_OK);
    for (uint32_t member = 0; member < job->members; member++) {
        if (member != job->victim || !comes_late(job))
            join(job, member);
    }
    if (comes_late(job))
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

/* All but the victim arrive. */
static void arrive(const struct job *job)
{
    if (!job->waiting)
        return;
    for (uint32_t member = 0; member < job->members; member++) {
        if (member != job->victim)
            peer_arrive(job->home_fd, &job->group, member, job->rounds + 1);
    }
    settle(job->home_fd);
}

static void leave(const struct job *job, uint32_t why)
{
    struct gba_switch_message mailbox = job->group;

    mailbox.member = job->victim;
    mailbox.value = why;
    assert_int_equal(peer_command(job->victim_fd, GBA_CMD_LEAVE, &mailbox), GBA_RESULT_OK);
}

static void stop_child(const struct job *job)
{
    int status;

    assert_return_code(kill(job->child, SIGSTOP), errno);
    assert_int_equal(waitpid(job->child, &status, WUNTRACED), job->child);
    assert_true(WIFSTOPPED(status));
}

/* The child becomes a zombie, or not even that. */
static void kill_child(struct job *job)
{
    siginfo_t info;

    assert_return_code(kill(job->child, SIGKILL), errno);
    assert_return_code(waitid(P_PID, (id_t)job->child, &info, WEXITED | WNOWAIT), errno);
    if (pick(2) == 0) {
        assert_int_equal(waitpid(job->child, NULL, 0), job->child);
        job->child = -1;
    }
}

static void make_event(struct job *job)
{
    switch (job->event) {
    case EVENT_LEAVES:
    case EVENT_LEAVES_WAITING:
        leave(job, 0);
        break;
    case EVENT_DIES:
        leave(job, GBA_LEAVE_DIED);
        break;
    case EVENT_LINK_DOWN:
        kill_child(job);
        close(job->victim_fd);
        job->victim_fd = -1;
        assert_int_equal(peer_expect(job->home_fd, GBA_SWITCH_EVENT).value, GBA_IRQ_PORT_DOWN);
        break;
    case EVENT_STOPPED:
    case EVENT_STOPPED_IDLE:
        stop_child(job);
        break;
    case EVENT_GONE:
        kill_child(job);
        break;
    default:
        break;
    }
}

static void choose(struct job *job, bool fault)
{
    const uint32_t healthy = FIRST_FAULT, faults = EVENTS - FIRST_FAULT;

    *job = (struct job){.event = fault ? FIRST_FAULT + pick(faults) : pick(healthy),
                        .members = 2 + pick(MEMBERS_MAX - 1),
                        .rounds = pick(4),
                        .waiting = pick(2) == 0,
                        .arrive_first = pick(2) == 0};
    job->victim = pick(job->members);
    if (job->event == EVENT_LEAVES_WAITING || job->event == EVENT_STOPPED)
        job->waiting = true;
    if (job->event == EVENT_LEAVES || job->event == EVENT_STOPPED_IDLE || comes_late(job))
        job->waiting = false;
    /* After DIED and PORT_DOWN the first message of the home connection is the event. */
    if (job->event == EVENT_DIES || job->event == EVENT_LINK_DOWN)
        job->arrive_first = true;
}

static void end_job(struct job *job)
{
    if (job->child > 0) {
        kill(job->child, SIGKILL);
        assert_int_equal(waitpid(job->child, NULL, 0), job->child);
    }
    if (job->victim_fd >= 0)
        close(job->victim_fd);
    close(job->home_fd);
    close(job->channel);
}

/* --- The answer --- */

/* The value of "NAME": in a line of JSON; NULL: none. */
static const char *value_of(const char *line, const char *name)
{
    char key[32];
    const char *at;

    snprintf(key, sizeof(key), "\"%s\":", name);
    at = strstr(line, key);
    return at == NULL ? NULL : at + strlen(key);
}

static uint32_t number_of(const char *line, const char *name)
{
    const char *text = value_of(line, name);

    return text == NULL ? UINT32_MAX : (uint32_t)strtoul(text, NULL, 10);
}

static void read_member(const char *line, struct verdict *verdict)
{
    const char *absence = value_of(line, "absence"), *host = value_of(line, "host");

    if (absence == NULL)
        return;
    verdict->listed = true;
    verdict->fault = strncmp(value_of(line, "fault"), "true", 4) == 0;
    verdict->port = number_of(line, "port");
    verdict->pid = number_of(line, "pid");
    (void)sscanf(absence, "\"%31[^\"]", verdict->absence);
    if (host != NULL)
        (void)sscanf(host, "\"%63[^\"]", verdict->host);
}

/* Run gba_diag. Returns its exit status. */
static int ask(struct verdict verdict[GBA_GROUPS][MEMBERS_MAX])
{
    char command[sizeof(GBA_TEST_DIAG) + 512], line[4096];
    uint64_t begin = gba_clock_ns(), took;
    uint32_t group = 0;
    FILE *out;
    int status;

    memset(verdict, 0, sizeof(verdict[0]) * GBA_GROUPS);
    snprintf(command, sizeof(command), "exec '%s' --json 'switch:%s'", GBA_TEST_DIAG,
             process.socket);
    out = popen(command, "re");
    assert_non_null(out);
    while (fgets(line, sizeof(line), out) != NULL) {
        if (strncmp(line, "{\"group\":", 9) == 0)
            group = number_of(line, "group");
        if (strncmp(line, "{\"member\":", 10) != 0)
            continue;
        assert_true(group < GBA_GROUPS && number_of(line, "member") < MEMBERS_MAX);
        read_member(line, &verdict[group][number_of(line, "member")]);
    }
    status = pclose(out);
    assert_true(WIFEXITED(status));
    took = gba_clock_ns() - begin;
    slowest_ns = took > slowest_ns ? took : slowest_ns;
    return WEXITSTATUS(status);
}

/* What gba_diag must print about the victim; NULL: nothing. */
static const char *expected(const struct job *job)
{
    switch (job->event) {
    case EVENT_JOINS_LATE:
    case EVENT_NEVER_CAME:
        return "not joined";
    case EVENT_LEAVES:
    case EVENT_LEAVES_WAITING:
        return "left";
    case EVENT_DIES:
        return "died";
    case EVENT_LINK_DOWN:
        return "link down";
    case EVENT_STOPPED:
        return "process stopped";
    case EVENT_GONE:
        return "process gone";
    default:
        return job->waiting ? "late" : NULL;
    }
}

/* A member that never came may still come, so that is no fault until time has passed. */
static bool is_fault(const struct job *job)
{
    return job->event > FIRST_FAULT;
}

static bool is_right(const struct job *job, uint32_t member, const struct verdict *verdict)
{
    const char *absence = member == job->victim ? expected(job) : NULL;
    char host[64];

    if (absence == NULL)
        return !verdict->listed;
    if (!verdict->listed || strcmp(verdict->absence, absence) != 0 ||
        verdict->fault != is_fault(job))
        return false;
    snprintf(host, sizeof(host), "host-%u", (unsigned)(job - jobs));
    return comes_late(job) || (verdict->port == job->victim_port && verdict->pid != 0 &&
                               strcmp(verdict->host, host) == 0);
}

/* Compare the answer about a job. Returns whether it is right, or prints it. */
static bool check_job(const struct job *job, struct verdict verdict[MEMBERS_MAX])
{
    bool right = true;

    for (uint32_t member = 0; member < job->members; member++) {
        const struct verdict *v = &verdict[member];

        if (is_right(job, member, v))
            continue;
        right = false;
        print_error("event %d, member %" PRIu32 " of %" PRIu32 ", victim %" PRIu32
                    ": \"%s\", fault %d, port %" PRIu32 ", process %" PRIu32 " on %s\n",
                    (int)job->event, member, job->members, job->victim, v->absence, v->fault,
                    v->port, v->pid, v->host);
    }
    return right;
}

/* --- Tests --- */

static void wait_until_free(void)
{
    uint32_t port;
    int fd = peer_client(&process, &port);

    while (peer_read(fd, GBA_DEVICE_BASE + GBA_DEV_GROUPS_FREE, 4) != GBA_GROUPS)
        usleep(1000);
    close(fd);
}

/* Make `count` jobs, `faults` of them with a fault, and ask. Returns the number of jobs for which
 * the answer is right. */
static unsigned run_jobs(unsigned count, unsigned faults)
{
    static struct verdict verdict[GBA_GROUPS][MEMBERS_MAX];
    bool fault = false;
    unsigned right = 0;

    for (unsigned i = 0; i < count; i++) {
        choose(&jobs[i], i < faults);
        fork_child(&jobs[i]);
        fault |= is_fault(&jobs[i]);
    }
    for (unsigned i = 0; i < count; i++) {
        char host[64];

        snprintf(host, sizeof(host), "host-%u", i);
        jobs[i].victim_fd = connect_child(jobs[i].channel);
        greet(jobs[i].victim_fd, host, &jobs[i].victim_port);
        jobs[i].home_fd = peer_unix(&process);
        greet(jobs[i].home_fd, "home", &jobs[i].home_port);
        start_job(&jobs[i]);
        if (jobs[i].arrive_first)
            arrive(&jobs[i]);
        make_event(&jobs[i]);
        if (!jobs[i].arrive_first)
            arrive(&jobs[i]);
    }
    assert_int_equal(ask(verdict), fault ? 1 : 0);
    for (unsigned i = 0; i < count; i++) {
        right += check_job(&jobs[i], verdict[jobs[i].group.group]);
        end_job(&jobs[i]);
    }
    wait_until_free();
    return right;
}

static void test_random(void **state)
{
    const char *wanted = getenv("GBA_TEST_FAULTS");
    unsigned faults = wanted == NULL ? FAULTS : (unsigned)strtoul(wanted, NULL, 10);
    unsigned done = 0, healthy = 0, right = 0;

    (void)state;
    assert_int_not_equal(faults, 0);
    /* A job that only looks like a fault must not hide among jobs that have one. */
    right += run_jobs(JOBS, 0);
    healthy += JOBS;
    while (done < faults) {
        unsigned now = faults - done < JOBS / 2 ? faults - done : JOBS / 2;

        right += run_jobs(JOBS, now);
        done += now;
        healthy += JOBS - now;
    }
    print_message("%u faults and %u healthy jobs: %u right; slowest answer %.3f s\n", done, healthy,
                  right, (double)slowest_ns / 1e9);
    assert_int_equal(right, done + healthy);
}

static uint32_t absent_after(uint64_t late_ms)
{
    const struct gba_switch_message message = {.type = GBA_SWITCH_STATUS,
                                               .code = GBA_SWITCH_PROTOCOL,
                                               .tag = GBA_SWITCH_STATUS_TEXT,
                                               .group = GBA_SWITCH_MAGIC,
                                               .value = late_ms};
    int fd = peer_unix(&process);
    uint32_t absent;

    peer_send(fd, &message);
    absent = peer_expect(fd, GBA_SWITCH_TEXT).member;
    close(fd);
    return absent;
}

/* A group that waits for long enough has a fault, if the user asks for that. */
static void test_late(void **state)
{
    struct gba_switch_message group = {.group = GBA_GROUP_ANY, .value = 1};
    int client[2], other;
    uint32_t port;

    (void)state;
    for (unsigned i = 0; i < 2; i++)
        client[i] = peer_client(&process, &port);
    group = peer_group(client, 2);
    peer_arrive(client[0], &group, 0, 1);
    settle(client[0]);
    assert_int_equal(absent_after(0), 0);
    assert_int_equal(absent_after(1000u * 86400), 0);
    while (absent_after(20) != 1)
        usleep(1000);
    peer_arrive(client[1], &group, 1, 1);
    (void)peer_expect(client[1], GBA_SWITCH_RELEASE);
    assert_int_equal(absent_after(1), 0); /* no member waits */
    close(client[0]);
    close(client[1]);
    wait_until_free();
    other = peer_client(&process, &port);
    group = (struct gba_switch_message){.group = GBA_GROUP_ANY, .value = 1};
    assert_int_equal(peer_command(other, GBA_CMD_ALLOC, &group), GBA_RESULT_OK);
    assert_int_equal(absent_after(0), 0);
    while (absent_after(20) != 1)
        usleep(1000);
    close(other);
    wait_until_free();
}

static int run_free_dead(void)
{
    char command[sizeof(GBA_TEST_DIAG) + 512];
    int status;

    snprintf(command, sizeof(command), "exec '%s' --free-dead 'switch:%s' >%s/free 2>&1",
             GBA_TEST_DIAG, process.socket, process.directory);
    status = system(command);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* --free-dead closes the connection of a process that is dead, and no other. */
static void test_free_dead(void **state)
{
    struct job *job = &jobs[0];
    char byte;

    (void)state;
    *job = (struct job){.event = EVENT_GONE, .members = 2, .victim = 1, .waiting = true};
    fork_child(job);
    job->victim_fd = connect_child(job->channel);
    greet(job->victim_fd, "a", &job->victim_port);
    job->home_fd = peer_unix(&process);
    greet(job->home_fd, "home", &job->home_port);
    start_job(job);
    arrive(job);
    stop_child(job); /* a stopped process is not dead */
    assert_int_equal(run_free_dead(), 0);
    settle(job->victim_fd);
    kill_child(job);
    assert_int_equal(run_free_dead(), 0);
    assert_int_equal(peer_expect(job->home_fd, GBA_SWITCH_EVENT).value, GBA_IRQ_PORT_DOWN);
    assert_int_equal(recv(job->victim_fd, &byte, 1, 0), 0);
    end_job(job);
    wait_until_free();
}

/* gba_diag gives up when a host does not answer. */
static void test_timeout(void **state)
{
    enum { WAITING = 4 };
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), client[WAITING], status;
    socklen_t length = sizeof(address);
    char command[sizeof(GBA_TEST_DIAG) + 512];

    (void)state;
    assert_return_code(bind(listener, (struct sockaddr *)&address, sizeof(address)), errno);
    assert_return_code(getsockname(listener, (struct sockaddr *)&address, &length), errno);
    assert_return_code(listen(listener, 0), errno);
    /* When connections that were not accepted fill the queue, the kernel drops further ones. */
    for (unsigned i = 0; i < WAITING; i++) {
        client[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        (void)connect(client[i], (struct sockaddr *)&address, sizeof(address));
    }
    peer_write_key(&process, PEER_KEY, 0600);
    snprintf(command, sizeof(command),
             "exec timeout 60 '%s' --timeout=1 --key-file=%s switch://127.0.0.1:%u 2>%s/error",
             GBA_TEST_DIAG, process.key, ntohs(address.sin_port), process.directory);
    status = system(command);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
    for (unsigned i = 0; i < WAITING; i++)
        close(client[i]);
    close(listener);
}

static int setup(void **state)
{
    static const char *const options[] = {"--log-level=error", NULL};

    (void)state;
    peer_directory(&process);
    peer_start(&process, options);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    peer_clean(&process);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_random, setup, teardown),
        cmocka_unit_test_setup_teardown(test_late, setup, teardown),
        cmocka_unit_test_setup_teardown(test_free_dead, setup, teardown),
        cmocka_unit_test_setup_teardown(test_timeout, setup, teardown),
    };

    return cmocka_run_group_tests_name("gba-switchd: absent members", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gba_diag names the absent members of all groups of a gba-switchd, and why they are absent. The
 * groups are jobs that are healthy, slow, or have a fault, chosen at random: 500 faults, or as
 * many as GBA_TEST_FAULTS in the environment. It prints how long gba_diag took.
 */
#include "tests/switch/jobs.h"

#include <inttypes.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gba/base/clock.h"

#define JOBS        GBA_GROUPS
#define MEMBERS_MAX 6u
#define FAULTS      500u
#define FIRST_FAULT EVENT_NEVER_CAME

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

static void make_event(struct job *job)
{
    switch (job->event) {
    case EVENT_LEAVES:
    case EVENT_LEAVES_WAITING:
        job_leave(job, 0);
        break;
    case EVENT_DIES:
        job_leave(job, GBA_LEAVE_DIED);
        break;
    case EVENT_LINK_DOWN:
        job_kill(job, pick(2) == 0);
        close(job->victim_fd);
        job->victim_fd = -1;
        assert_int_equal(peer_expect(job->home_fd, GBA_SWITCH_EVENT).value, GBA_IRQ_PORT_DOWN);
        break;
    case EVENT_STOPPED:
    case EVENT_STOPPED_IDLE:
        job_stop(job);
        break;
    case EVENT_GONE:
        job_kill(job, pick(2) == 0);
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
    if (job->event == EVENT_LEAVES || job->event == EVENT_STOPPED_IDLE || job_comes_late(job))
        job->waiting = false;
    /* After DIED and PORT_DOWN the first message of the home connection is the event. */
    if (job->event == EVENT_DIES || job->event == EVENT_LINK_DOWN)
        job->arrive_first = true;
}

/* --- The answer --- */

/* The value of "NAME": in a line of JSON; NULL: none. */
static const char *value_of(const char *line, const char *name)
{
    char key[32];
    const char *at;

    snprintf(key, sizeof(key), "\"%s\": ", name);
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
    snprintf(command, sizeof(command), "exec '%s' --json \"switch:$PWD/%s\"", GBA_TEST_DIAG,
             process.socket);
    out = popen(command, "re");
    assert_non_null(out);
    while (fgets(line, sizeof(line), out) != NULL) {
        const char *element = line + strspn(line, " ");

        if (strncmp(element, "\"group\": ", 9) == 0)
            group = number_of(line, "group");
        if (strncmp(element, "{\"member\": ", 11) != 0)
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
        return "is stopped";
    case EVENT_GONE:
        return "has ended";
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
    return job_comes_late(job) || (verdict->port == job->victim_port && verdict->pid != 0 &&
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

/* Make `count` jobs, `faults` of them with a fault, and ask. Returns the number of jobs for which
 * the answer is right. */
static unsigned run_jobs(unsigned count, unsigned faults)
{
    static struct verdict verdict[GBA_GROUPS][MEMBERS_MAX];
    bool fault = false;
    unsigned right = 0;

    for (unsigned i = 0; i < count; i++) {
        choose(&jobs[i], i < faults);
        job_fork(&process, &jobs[i]);
        fault |= is_fault(&jobs[i]);
    }
    for (unsigned i = 0; i < count; i++) {
        char host[64];

        snprintf(host, sizeof(host), "host-%u", i);
        job_connect(&process, &jobs[i], host);
        job_start(&jobs[i]);
        if (jobs[i].arrive_first)
            job_arrive(&jobs[i]);
        make_event(&jobs[i]);
        if (!jobs[i].arrive_first)
            job_arrive(&jobs[i]);
    }
    assert_int_equal(ask(verdict), fault ? 1 : 0);
    for (unsigned i = 0; i < count; i++) {
        right += check_job(&jobs[i], verdict[jobs[i].group.group]);
        job_end(&jobs[i]);
    }
    job_wait_until_free(&process);
    return right;
}

PEER_TEST(test_random, peer_begin_started, peer_end)
{
    const char *wanted = getenv("GBA_TEST_FAULTS");
    unsigned faults = wanted == NULL ? FAULTS : (unsigned)strtoul(wanted, NULL, 10);
    unsigned done = 0, healthy = 0, right = 0;

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

TEST_MAIN()

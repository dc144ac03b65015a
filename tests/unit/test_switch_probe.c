/* SPDX-License-Identifier: BSD-3-Clause */
/* The client of gba-switchd, while it waits in a barrier, answers how another process of its host
 * is. The switch is scripted. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "gba/base/process.h"
#include "tests/suite.h"
#include "tests/unit/switch_members.h"

struct probe {
    uint32_t number;
    uint64_t start;
    unsigned state; /* that the client must answer */
};

static struct probe probes[10];
static unsigned count, wrong;

static void serve_probes(int file)
{
    struct gba_switch_message message;

    script_greet(file);
    do
        if (!script_get(file, &message))
            return;
    while (script_answer(file, message)); /* up to the arrival */
    for (unsigned i = 0; i < count; i++) {
        script_put(file, (struct gba_switch_message){.type = GBA_SWITCH_PROBE,
                                                     .tag = (uint16_t)(7 + i),
                                                     .member = probes[i].number,
                                                     .value = 100 + i,
                                                     .key = probes[i].start});
        do
            if (!script_get(file, &message))
                abort();
        while (script_answer(file, message));
        wrong += GBA_SWITCH_PROBED != message.type || 7 + i != message.tag ||
                 100 + i != message.value || probes[i].state != message.code;
    }
    script_release(file, 0, 1);
    while (script_get(file, &message))
        (void)script_answer(file, message);
}

static pid_t child_make(uid_t user)
{
    pid_t child = fork();

    assert_return_code(child, errno);
    if (0 != child)
        return child;
    if (geteuid() != user && 0 != setuid(user))
        _exit(1);
    raise(SIGSTOP);
    for (;;)
        pause();
}

static void child_end(pid_t child)
{
    assert_return_code(kill(child, SIGKILL), errno);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void expect(pid_t number, uint64_t start, unsigned state)
{
    probes[count++] = (struct probe){(uint32_t)number, start, state};
}

static uint64_t start_of(pid_t number)
{
    struct gba_process process;

    gba_process_read((uint32_t)number, &process);
    assert_int_not_equal(process.start, 0);
    return process.start;
}

TEST(answers)
{
    const uid_t other_user = 0 == geteuid() ? 65534 : geteuid();
    pid_t stopped = child_make(geteuid()), running, other, zombie, dead;
    siginfo_t info;
    int status;

    assert_int_equal(waitpid(stopped, &status, WUNTRACED), stopped);
    assert_true(WIFSTOPPED(status));
    expect(stopped, start_of(stopped), GBA_PROCESS_STOPPED);
    /* Another process with the number of one that has ended. */
    expect(stopped, start_of(stopped) - 1, GBA_PROCESS_GONE);
    running = getpid();
    expect(running, start_of(running), GBA_PROCESS_RUNNING);
    zombie = child_make(geteuid());
    expect(zombie, start_of(zombie), GBA_PROCESS_GONE);
    assert_return_code(kill(zombie, SIGKILL), errno);
    assert_return_code(waitid(P_PID, (id_t)zombie, &info, WEXITED | WNOWAIT), errno);
    dead = child_make(geteuid());
    expect(dead, start_of(dead), GBA_PROCESS_GONE);
    child_end(dead);
    /* No process has these numbers. A negative one is a group of processes for the kernel. */
    expect(0, 1, GBA_PROCESS_UNKNOWN);
    expect(-1, 1, GBA_PROCESS_UNKNOWN);
    expect(INT32_MIN, 1, GBA_PROCESS_UNKNOWN);
    /* A process of another user: of this test, or the first one of the host. */
    other = 0 == geteuid() ? child_make(other_user) : 1;
    if (0 == geteuid())
        assert_int_equal(waitpid(other, &status, WUNTRACED), other);
    expect(other, 0 == geteuid() ? start_of(other) : 1, GBA_PROCESS_UNKNOWN);

    script_start(serve_probes);
    members_make(1);
    gba_send_arrival(state_of[0]);
    assert_int_equal(await(0), GBA_OK);
    members_end(1);
    assert_int_equal(wrong, 0);
    child_end(stopped);
    child_end(zombie);
    if (0 == geteuid())
        child_end(other);
}

int main(void)
{
    return SUITE_RUN(setup, script_teardown);
}

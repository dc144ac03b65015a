/* SPDX-License-Identifier: BSD-3-Clause */
/* The job of a batch system, from files like /proc/PID/environ. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gba/base/batch_job.h"
#include "tests/suite.h"

/* The text for an environment of that many bytes. */
static const char *job_of(const char *environment, size_t bytes)
{
    static char text[GBA_BATCH_JOB];
    char name[] = "/tmp/gba-environ.XXXXXX";
    int file = mkstemp(name);

    assert_true(file >= 0);
    assert_int_equal(write(file, environment, bytes), (ssize_t)bytes);
    assert_int_equal(close(file), 0);
    gba_batch_job_in(name, text);
    assert_int_equal(unlink(name), 0);
    return text;
}

#define JOB_OF(text) job_of(text, sizeof(text))

TEST(test_systems)
{
    assert_string_equal(JOB_OF("HOME=/\0SLURM_JOB_ID=1234\0A=b"), "slurm:1234");
    assert_string_equal(JOB_OF("PBS_JOBID=17.server"), "pbs:17.server");
    assert_string_equal(JOB_OF("LSB_JOBID=18"), "lsf:18");
    assert_string_equal(JOB_OF("FLUX_JOB_ID=\xC6\x92"
                               "2oLkTLb"),
                        "flux:f2oLkTLb");
    assert_string_equal(JOB_OF("FLUX_JOB_ID=f1\0PBS_JOBID=2\0SLURM_JOB_ID=3"), "slurm:3");
}

TEST(test_none)
{
    char text[GBA_BATCH_JOB] = "x";

    assert_string_equal(JOB_OF(""), "");
    assert_string_equal(JOB_OF("XSLURM_JOB_ID=1\0SLURM_JOB_ID=\0SLURM_JOB_IDS=4"), "");
    gba_batch_job_in("/nonexistent", text);
    assert_string_equal(text, "");
}

/* A user can set the variable to anything, and the text is part of logs and JSON. */
TEST(test_nonsense)
{
    assert_string_equal(JOB_OF("SLURM_JOB_ID=1\n\x1b[2J \xff"), "slurm:1??[2J??");
    assert_string_equal(JOB_OF("PBS_JOBID=123456789012345678901234567890"),
                        "pbs:123456789012345678901234");
}

TEST(test_process)
{
    char sleeper[] = "sleep", minute[] = "60", job[] = "LSB_JOBID=9";
    char *const arguments[] = {sleeper, minute, NULL}, *const environment[] = {job, NULL};
    char text[GBA_BATCH_JOB];
    pid_t child = fork();

    if (0 == child) {
        execve("/bin/sleep", arguments, environment);
        _exit(1);
    }
    do /* until it has executed */
        gba_batch_job((uint32_t)child, text);
    while ('\0' == text[0] && 0 == waitpid(child, NULL, WNOHANG));
    assert_string_equal(text, "lsf:9");
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

TEST_MAIN()

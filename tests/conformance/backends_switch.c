/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gba-switchd as a backend of the suite: over a Unix socket, over TCP, and with latency. The
 * program starts two daemons, which end with it.
 */
#include "tests/conformance/conformance.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SWITCHD   "sim/switch/gba-switchd" /* in the build directory, where the tests run */
#define EXIT_SKIP 77                       /* for automake */

struct daemon {
    pid_t process;
    char unix_path[128], tcp_path[128];
};

static struct daemon fast, slow;
static char directory[] = "/tmp/gba-test-conformance-XXXXXX";
static char key[64];

static struct conf_backend conf_unix = {
    .name = "switch", .path = fast.unix_path, .ops = &gba_dev_switch, .daemon = true};
static struct conf_backend conf_tcp = {
    .name = "switch over TCP", .path = fast.tcp_path, .ops = &gba_dev_switch, .daemon = true};
static struct conf_backend conf_slow = {
    .name = "switch with latency", .path = slow.unix_path, .ops = &gba_dev_switch, .daemon = true};

const struct conf_backend *const conf_backends[] = {&conf_unix, &conf_tcp, &conf_slow, NULL};

/* In the child: become the daemon, with that standard output. */
static void daemon_exec(int output, const char *name, const char *latency, pid_t parent)
{
    char socket[64];

    snprintf(socket, sizeof socket, "%s/%s", directory, name);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (parent != getppid() || dup2(output, STDOUT_FILENO) < 0)
        _exit(1);
    execl(SWITCHD, SWITCHD, "--listen", socket, "--tcp", "127.0.0.1:0", "--key-file", key,
          "--log-level", "error", "--latency", latency, (char *)NULL);
    _exit(1);
}

/* Start a daemon, and wait until it is ready. Returns false if that failed. */
static bool daemon_start(struct daemon *daemon, const char *name, const char *latency)
{
    const pid_t parent = getpid();
    int output[2];
    FILE *ready;
    bool good;

    if (0 != pipe(output))
        return false;
    daemon->process = fork();
    if (0 == daemon->process)
        daemon_exec(output[1], name, latency, parent);
    close(output[1]);
    ready = fdopen(output[0], "r");
    if (daemon->process < 0 || ready == NULL)
        return false;
    good =
        2 == fscanf(ready, "gba-switchd ready: %127s %127s", daemon->unix_path, daemon->tcp_path);
    fclose(ready);
    return good;
}

static void daemon_stop(const struct daemon *daemon)
{
    if (daemon->process <= 0)
        return;
    kill(daemon->process, SIGTERM);
    waitpid(daemon->process, NULL, 0);
}

static void leave(void)
{
    daemon_stop(&fast);
    daemon_stop(&slow);
    unlink(key);
    rmdir(directory);
}

static bool key_write(void)
{
    static const char digits[] = "00112233445566778899aabbccddeeff\n";
    int file;
    bool good;

    snprintf(key, sizeof key, "%s/key", directory);
    file = open(key, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    good = (ssize_t)strlen(digits) == write(file, digits, strlen(digits));
    close(file);
    return good && 0 == setenv("GBA_SWITCH_KEY_FILE", key, 1);
}

int conf_prepare(void)
{
    if (0 != access(SWITCHD, X_OK)) {
        printf("skipped: there is no " SWITCHD "\n");
        return EXIT_SKIP;
    }
    if (mkdtemp(directory) == NULL || 0 != atexit(leave))
        return 1;
    if (key_write() && daemon_start(&fast, "fast", "up=0") &&
        daemon_start(&slow, "slow", "up=2us,match=1us,release=100ns,down=2us,jitter=3us"))
        return 0;
    printf("cannot start " SWITCHD "\n");
    return 1;
}

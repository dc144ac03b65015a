/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device whose gba-switchd is away, hangs, or was restarted, against a scripted switch: what an
 * agreement of another team sees of it, what it costs, and what is left of the former connection.
 * The test sets the clock and counts the calls that may block (the linker substitutes them), so
 * nothing here depends on speed.
 */
#include <dirent.h>
#include <poll.h>
#include <time.h>

#include "gba/base/clock.h"
#include "gba/team.h"
#include "tests/suite.h"
#include "tests/unit/switch_members.h"

#define SECOND UINT64_C(1000000000)

/* --- The clock, and calls that may block --- */

static gba_word_t clock_ahead; /* ns, added to the clock */
static unsigned connects, waits;

int __real_clock_gettime(clockid_t id, struct timespec *now);
int __wrap_clock_gettime(clockid_t id, struct timespec *now);
int __real_connect(int file, const struct sockaddr *address, socklen_t len);
int __wrap_connect(int file, const struct sockaddr *address, socklen_t len);
int __real_poll(struct pollfd *files, nfds_t count, int timeout);
int __wrap_poll(struct pollfd *files, nfds_t count, int timeout);

int __wrap_clock_gettime(clockid_t id, struct timespec *now)
{
    int result = __real_clock_gettime(id, now);
    uint64_t ns = (uint64_t)now->tv_nsec + gba_word_load_relaxed(&clock_ahead);

    now->tv_sec += (time_t)(ns / SECOND);
    now->tv_nsec = (long)(ns % SECOND);
    return result;
}

int __wrap_connect(int file, const struct sockaddr *address, socklen_t len)
{
    connects++;
    return __real_connect(file, address, len);
}

int __wrap_poll(struct pollfd *files, nfds_t count, int timeout)
{
    waits += 0 != timeout;
    return __real_poll(files, count, timeout);
}

static void clock_advance(uint64_t ns)
{
    (void)gba_word_add_relaxed(&clock_ahead, ns);
}

/* --- A switch that is killed and restarted --- */

static gba_word_t served; /* the socket of the client, from its greeting on */
static gba_word_t ending; /* 1: the client that the switch serves is its last one */
static gba_word_t frees;  /* commands to free a group */

static void client_serve(int file)
{
    struct gba_switch_message message;

    script_greet(file);
    gba_word_store_relaxed(&served, (uint64_t)file);
    while (script_get(file, &message)) {
        if (GBA_SWITCH_COMMAND == message.type && GBA_CMD_FREE == message.code)
            gba_word_add_relaxed(&frees, 1);
        script_answer(file, message);
    }
}

/* Serve one client after the other. Those that have given up meanwhile have gone. */
static void *switch_main(void *arg)
{
    do {
        int file = accept(script_listener, NULL, NULL);

        client_serve(file);
        close(file);
    } while (0 == gba_word_load_acquire(&ending));
    return arg;
}

/* Another switch at the same path. */
static void switch_start(void)
{
    script_uuid++;
    gba_word_store_release(&ending, 0);
    assert_int_equal(pthread_create(&script_thread, NULL, switch_main, NULL), 0);
}

/* What an agreement does. Returns whether it has found a switch. */
static bool switch_found(void)
{
    struct gba_device snapshot;
    gba_device_info_t info;

    gba_device_snapshot(device, &snapshot);
    assert_int_equal(gba_device_query(&snapshot, &info), GBA_OK);
    gba_dev_put(snapshot.dev);
    return !info.dead;
}

/* The switch ends, and the device notices. */
static void switch_end(void)
{
    gba_device_info_t info = {.dead = false};

    assert_true(switch_found()); /* so the switch serves it */
    gba_word_store_release(&ending, 1);
    (void)shutdown((int)gba_word_load_relaxed(&served), SHUT_RDWR);
    script_join();
    assert_int_equal(gba_device_query(device, &info), GBA_OK);
    assert_true(info.dead);
}

static void device_open(void)
{
    switch_start();
    assert_int_equal(gba_device_init(script_path, NULL, &device), GBA_OK);
}

static void device_close(void)
{
    gba_word_store_release(&ending, 1);
    gba_device_fini(device);
    script_join();
}

static void socket_listen(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(address.sun_path, sizeof address.sun_path, "%s", script_file);
    (void)unlink(script_file);
    script_listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(script_listener, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(script_listener, 64), 0);
}

/* --- What it costs --- */

/* The first agreement waits for milliseconds; the following ones make no call that blocks. The
 * attempt is begun anew after a pause that doubles to a minute. A switch that goes on answers it.
 */
TEST(a_hanging_switch)
{
    uint64_t pause = SECOND;

    socket_listen();
    device_open();
    switch_end();
    connects = waits = 0;
    assert_false(switch_found());
    assert_int_equal(connects, 1);
    for (unsigned attempt = 1; attempt <= 10; attempt++) {
        waits = 0;
        clock_advance(pause / 2);
        for (int i = 0; i < 100; i++)
            assert_false(switch_found());
        assert_int_equal(waits, 0);
        assert_int_equal(connects, attempt);
        clock_advance(pause / 2);
        assert_false(switch_found());
        assert_int_equal(connects, attempt + 1);
        pause = 2 * pause < 60 * SECOND ? 2 * pause : 60 * SECOND;
    }
    switch_start();
    while (!switch_found())
        ;
    assert_int_equal(connects, 11);
    device_close();
}

/* A switch that is away costs a system call, and is taken a second after its restart, however long
 * it was away. */
TEST(a_switch_that_is_away)
{
    unsigned before;

    device_open();
    close(script_listener);
    switch_end();
    waits = 0;
    for (int i = 0; i < 100; i++) {
        clock_advance(60 * SECOND);
        assert_false(switch_found());
    }
    assert_int_equal(waits, 0);
    socket_listen();
    switch_start();
    clock_advance(SECOND);
    before = connects;
    while (!switch_found()) /* its answer may take longer than an agreement waits */
        ;
    assert_int_equal(connects, before + 1);
    device_close();
}

/* A switch that hung is killed, and another one takes its place. */
TEST(a_hanging_switch_is_restarted)
{
    device_open();
    switch_end();
    for (int i = 0; i < 6; i++) { /* the pause is half a minute */
        clock_advance(60 * SECOND);
        assert_false(switch_found());
    }
    close(script_listener);
    socket_listen();
    switch_start();
    while (!switch_found())
        ;
    device_close();
}

/* --- What is left --- */

static unsigned descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned count = 0;

    assert_non_null(dir);
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count;
}

static void restart(void)
{
    switch_end();
    switch_start();
    clock_advance(60 * SECOND);
    while (!switch_found())
        ;
}

/* The former connection goes with its last membership. */
TEST(former_connections)
{
    gba_group_handle_t handle;
    unsigned before;

    device_open();
    before = descriptors();
    for (int i = 0; i < 20; i++)
        restart();
    assert_int_equal(descriptors(), before);
    assert_int_equal(gba_allocate_group(device, 1, &handle), GBA_OK);
    assert_int_equal(gba_join_group(device, &handle, 0, &group[0]), GBA_OK);
    restart();
    assert_int_equal(descriptors(), before + 1);
    restart();
    assert_int_equal(descriptors(), before + 1);
    gba_free_group(group[0]);
    assert_int_equal(descriptors(), before);
    device_close();
}

/* A handle of the former switch frees no group of the present one. */
TEST(a_handle_of_the_former_switch)
{
    gba_group_handle_t handle;

    device_open();
    assert_int_equal(gba_allocate_group(device, 1, &handle), GBA_OK);
    restart();
    gba_word_store_relaxed(&frees, 0);
    gba_free_handle(device, &handle);
    assert_int_equal(gba_join_group(device, &handle, 0, &group[0]), GBA_ERR_OTHER_DEVICE);
    assert_true(switch_found()); /* the switch has read all that was sent before */
    assert_int_equal(gba_word_load_relaxed(&frees), 0);
    assert_int_equal(gba_allocate_group(device, 1, &handle), GBA_OK);
    gba_free_handle(device, &handle);
    assert_true(switch_found());
    assert_int_equal(gba_word_load_relaxed(&frees), 1);
    device_close();
}

/* --- Two agreements --- */

/* The exchange of a team of one member, which may be held up. */
static gba_status_t own_min(void *ctx, uint64_t *words, uint32_t count)
{
    (void)ctx;
    (void)words;
    (void)count;
    return GBA_OK;
}

static gba_status_t own_allgather(void *ctx, const void *in, void *out, size_t bytes)
{
    (void)ctx;
    memcpy(out, in, bytes);
    return GBA_OK;
}

static gba_status_t own_test(void *ctx)
{
    return *(const bool *)ctx ? GBA_INPROGRESS : GBA_OK;
}

static void own_name(void *ctx, uint32_t rank, char *text, size_t len)
{
    (void)ctx;
    snprintf(text, len, "member %u", rank);
}

static gba_oob_t own_oob(bool *held)
{
    return (gba_oob_t){.min = own_min,
                       .allgather = own_allgather,
                       .test = own_test,
                       .name_member = own_name,
                       .ctx = held,
                       .size = 1};
}

static uint32_t own_devices(void *ctx, gba_device_t **list, uint32_t max)
{
    (void)ctx;
    assert_true(max > 0);
    list[0] = device;
    return 1;
}

/* A switch that was away when its device was opened. A team of then gets its group later. */
TEST(a_switch_that_is_away_at_first)
{
    const gba_device_attr_t later = {.later = true};
    bool held = false;
    const gba_oob_t oob = own_oob(&held);
    gba_params_t params;
    gba_team_attr_t attr = {.params = &params,
                            .devices = own_devices,
                            .name = "early",
                            .id = 1,
                            .name_member = own_name};
    gba_team_t *team[2];

    gba_params_default(&params);
    params.offload = GBA_OFFLOAD_ALWAYS;
    close(script_listener);
    assert_int_equal(gba_device_init(script_path, NULL, &device), GBA_ERR_AWAY);
    assert_int_equal(gba_device_init(script_path, &later, &device), GBA_OK);
    assert_false(switch_found());
    attr.device = device;
    for (int i = 0; i < 2; i++, attr.devices = NULL, attr.id++) { /* as one of a list, and alone */
        assert_int_equal(gba_team_create(&attr, &oob, &team[i]), GBA_OK);
        assert_int_not_equal(gba_team_path(team[i]), GBA_PATH_SWITCH);
        assert_int_equal(gba_team_reason(team[i]), GBA_ERR_AWAY);
    }
    socket_listen();
    switch_start();
    clock_advance(SECOND);
    attr.devices = own_devices;
    for (int i = 0; i < 2; i++, attr.devices = NULL) {
        while (GBA_PATH_SWITCH != gba_team_path(team[i])) {
            for (int n = 0; GBA_DUE_REQUEST != gba_team_due(team[i], true); n++) {
                assert_true(n < 100000);
                assert_true(gba_barrier_wait(team[i], NULL, NULL) >= GBA_OK);
            }
            assert_int_equal(gba_team_renegotiate(team[i], &attr, &oob), GBA_OK);
        }
        gba_team_destroy(team[i]);
    }
    device_close();
}

/* An agreement has begun without the switch. That of another team connects to it, and takes a
 * group. The first one goes on with what it had: the dead connection. */
static void two_agreements(bool lists)
{
    bool held = true, free = false;
    const gba_oob_t slow = own_oob(&held), fast = own_oob(&free);
    gba_agreement_t *agreement;
    gba_params_t params;
    gba_team_attr_t attr = {.params = &params,
                            .device = device,
                            .devices = lists ? own_devices : NULL,
                            .name = "slow",
                            .id = 1,
                            .name_member = own_name};
    gba_team_t *first, *second;

    gba_params_default(&params);
    params.offload = GBA_OFFLOAD_ALWAYS;
    device_open();
    attr.device = device;
    switch_end();
    assert_int_equal(gba_agree_start(NULL, GBA_DUE_CREATE, &attr, &slow, &agreement), GBA_OK);
    assert_int_equal(gba_agree_test(agreement, &first), GBA_INPROGRESS);
    switch_start();
    while (!switch_found())
        ;
    attr.name = "fast";
    attr.id = 2;
    assert_int_equal(gba_team_create(&attr, &fast, &second), GBA_OK);
    assert_int_equal(gba_team_path(second), GBA_PATH_SWITCH);
    assert_int_equal(gba_agree_test(agreement, &first), GBA_INPROGRESS);
    held = false;
    assert_int_equal(gba_agree_test(agreement, &first), GBA_OK);
    assert_int_not_equal(gba_team_path(first), GBA_PATH_SWITCH);
    if (strstr(gba_team_why(first), gba_status_text(GBA_ERR_DEAD)) == NULL)
        fail_msg("%s", gba_team_why(first));
    gba_team_destroy(first);
    gba_team_destroy(second);
    device_close();
}

TEST(two_agreements_on_one_device)
{
    two_agreements(false);
}

TEST(two_agreements_on_a_list)
{
    two_agreements(true);
}

/* Each test has a listener of its own. */
static int path_setup(void **state)
{
    const int failed = setup(state);

    close(script_listener);
    return failed;
}

static int path_teardown(void **state)
{
    (void)state;
    unlink(script_file);
    return rmdir(script_dir);
}

int main(void)
{
    return SUITE_RUN(path_setup, path_teardown);
}

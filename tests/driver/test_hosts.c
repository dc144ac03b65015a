/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups with members in two guests. The first guest runs the tests, and the second one
 * "test_hosts peer", which executes steps. /run/vm is a directory of both guests: the file step.N
 * has step N and its arguments, and step.N.done shows that the peer has executed it.
 *
 *   test_hosts          in the first guest
 *   test_hosts peer     in the second guest
 */
#define _GNU_SOURCE
#include <stdbool.h>

#include "tests/driver/driver_test.h"

static int steps;

static bool exists(const char *path)
{
    return 0 == access(path, F_OK);
}

static void put(const char *path, const char *text)
{
    char new[128];
    FILE *file;

    snprintf(new, sizeof new, "%s.new", path);
    file = fopen(new, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(rename(new, path), 0);
}

/* Let the peer execute a step, and wait until it has done so. */
__attribute__((format(printf, 1, 2))) static void peer(const char *format, ...)
{
    char path[64], text[128];
    uint64_t end = now_ns() + test_limit(120) * UINT64_C(1000000000);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(path, sizeof path, "/run/vm/step.%d", ++steps);
    put(path, text);
    strcat(path, ".done");
    while (!exists(path)) {
        assert_true(now_ns() < end);
        usleep(5000);
    }
}

/* The arguments of the step "join" for a member of an allocation. */
static void peer_joins(const struct gba_ioc_alloc *alloc, uint32_t member)
{
    peer("join %u %u %llu %u", alloc->group, alloc->generation, (unsigned long long)alloc->key,
         member);
}

/* Execute the steps of the first guest, until "end". */
static int run_peer(void)
{
    int file = -1;

    for (int step = 1;; step++) {
        struct gba_ioc_alloc alloc = {0};
        char path[64], word[16] = "";
        unsigned long long key = 0;
        uint32_t member = 0;
        FILE *text;

        snprintf(path, sizeof path, "/run/vm/step.%d", step);
        while (!exists(path))
            usleep(5000);
        text = fopen(path, "r");
        assert_non_null(text);
        assert_true(fscanf(text, "%15s %u %u %llu %u", word, &alloc.group, &alloc.generation, &key,
                           &member) >= 1);
        fclose(text);
        alloc.key = key;
        if (0 == strcmp(word, "join")) {
            file = open_device();
            (void)join_group(file, &alloc, member);
        } else if (0 == strcmp(word, "die")) {
            close(file);
        }
        strcat(path, ".done");
        put(path, "");
        if (0 == strcmp(word, "end"))
            return 0;
    }
}

/* The death of a member of another host is an event of the group's members, but not of the next
 * owner of the group, even if its interrupt comes only then. */
TEST(test_DRV_18_a_death_on_another_host)
{
    int file = open_device(), registers = open_registers();

    for (int masked = 0; masked < 2; masked++) {
        struct gba_ioc_alloc alloc = alloc_group(file, 2);
        struct test_member m = join_group(file, &alloc, 0);

        peer_joins(&alloc, 1);
        mask_group(registers, alloc.group, masked);
        peer("die");
        if (0 == masked) {
            assert_int_equal(next_events(file), GBA_EVENT_DIED);
        } else {
            assert_true(has_event(registers, alloc.group, GBA_IRQ_DIED));
        }
        assert_int_equal(leave(&m), 0);
        unmap(&m);
        if (1 == masked)
            assert_int_equal(events_of_next_owner(file, registers, alloc.group), GBA_EVENT_ROUND);
    }
    close(registers);
    close(file);
}

static int end_peer(void **state)
{
    (void)state;
    peer("end");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && 0 == strcmp(argv[1], "peer"))
        return run_peer();
    return SUITE_RUN(NULL, end_peer);
}

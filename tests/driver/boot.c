/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first and only process of a small guest (tests/driver/reboots): load gba.ko, use the device,
 * and reboot. It finds all groups of the device free, although the boot before ended in the middle
 * of a round. Prints "boot: ok" or "boot: FAIL", with the line, to the console.
 */
#include <fcntl.h>
#include <linux/reboot.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "gba/spec/gba_ioctl.h"

#define ROUNDS 3

struct member {
    struct gba_ioc_join join;
    volatile uint64_t *bell;
    volatile struct gba_flag_slot *slot;
};

static void check(int condition, int line)
{
    if (condition)
        return;
    printf("boot: FAIL line %d\n", line);
    sleep(1000); /* until the guest is killed */
}
#define CHECK(condition) check(condition, __LINE__)

static void join_group(int file, const struct gba_ioc_alloc *alloc, uint32_t number,
                       struct member *member)
{
    char *page;

    member->join = (struct gba_ioc_join){.size = sizeof member->join,
                                         .group = alloc->group,
                                         .generation = alloc->generation,
                                         .key = alloc->key,
                                         .member = number};
    CHECK(0 == ioctl(file, GBA_IOC_JOIN, &member->join));
    page = mmap(NULL, member->join.map_size, PROT_WRITE, MAP_SHARED, file,
                (off_t)member->join.doorbell_offset);
    CHECK(MAP_FAILED != page);
    member->bell = (void *)page;
    page = mmap(NULL, member->join.map_size, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                (off_t)member->join.flag_offset);
    CHECK(MAP_FAILED != page);
    member->slot = (void *)(page + member->join.flag_position);
}

static void arrive(const struct member *member, uint32_t round)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    member->bell[GBA_BELL_ARRIVAL / 8] = GBA_ARRIVAL(round, member->join.member);
}

/* A group of two members with some rounds. Neither member is released before both have arrived. */
static void complete_rounds(int file, struct member member[2])
{
    struct gba_ioc_alloc alloc = {.size = sizeof alloc, .members = 2, .job = 1};
    struct gba_ioc_configure configure = {.size = sizeof configure};

    CHECK(0 == ioctl(file, GBA_IOC_ALLOC, &alloc));
    join_group(file, &alloc, 0, &member[0]);
    join_group(file, &alloc, 1, &member[1]);
    configure.group = alloc.group;
    configure.generation = alloc.generation;
    CHECK(0 == ioctl(file, GBA_IOC_CONFIGURE, &configure));
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        const time_t end = time(NULL) + 60;

        arrive(&member[round % 2], round);
        usleep(1000);
        CHECK(round - 1 == member[0].slot->release && round - 1 == member[1].slot->release);
        arrive(&member[1 - round % 2], round);
        while ((round != member[0].slot->release || round != member[1].slot->release) &&
               time(NULL) < end)
            usleep(100);
        CHECK(round == member[0].slot->release && round == member[1].slot->release);
    }
}

static uint32_t groups_free(int file)
{
    struct gba_ioc_query query = {.size = sizeof query};

    CHECK(0 == ioctl(file, GBA_IOC_QUERY, &query));
    return query.groups_free;
}

int main(void)
{
    struct member member[2];
    int module, file;

    CHECK(1 == getpid());
    mkdir("/dev", 0755);
    CHECK(0 == mount("devtmpfs", "/dev", "devtmpfs", 0, NULL));
    file = open("/dev/console", O_RDWR);
    CHECK(file >= 0 && 1 == dup2(file, 1));
    setvbuf(stdout, NULL, _IONBF, 0);
    module = open("/gba.ko", O_RDONLY);
    CHECK(module >= 0 && 0 == syscall(SYS_finit_module, module, "", 0));

    file = open("/dev/gba0", O_RDWR);
    CHECK(file >= 0 && GBA_GROUPS == groups_free(file));
    complete_rounds(file, member);
    for (uint32_t i = 0; i < 2; i++) {
        struct gba_ioc_leave leave = {.size = sizeof leave,
                                      .group = member[i].join.group,
                                      .generation = member[i].join.generation,
                                      .member = i};

        CHECK(0 == ioctl(file, GBA_IOC_LEAVE, &leave));
    }
    CHECK(GBA_GROUPS == groups_free(file));
    /* The reboot comes between the arrivals of the two members of another group. */
    complete_rounds(file, member);
    arrive(&member[0], ROUNDS + 1);
    CHECK(GBA_GROUPS - 1 == groups_free(file));
    printf("boot: ok\n");
    CHECK(0 == reboot(LINUX_REBOOT_CMD_RESTART));
    return 1;
}

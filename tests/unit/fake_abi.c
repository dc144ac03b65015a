/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry of the fake driver: the rules that all calls share. */
#include "tests/unit/fake_driver.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* Each call, with the checks that all calls share. */
static const struct call {
    unsigned long request;
    int (*run)(int file, void *argument);
    size_t size;
    size_t reserved;   /* offset of the field that must be 0; 0: none */
    uint32_t flags;    /* the valid flags */
    bool answers;      /* has outputs */
    bool on_dead;      /* works on a dead device */
    bool from_anybody; /* works in a process that is not the file's owner */
} calls[] = {
    {GBA_IOC_QUERY, fake_query, sizeof(struct gba_ioc_query), 0, GBA_QUERY_COUNTERS, true, true,
     true},
    {GBA_IOC_ALLOC, fake_alloc, sizeof(struct gba_ioc_alloc),
     offsetof(struct gba_ioc_alloc, reserved), 0, true, false, false},
    {GBA_IOC_FREE, fake_free, sizeof(struct gba_ioc_free), 0, 0, false, true, false},
    {GBA_IOC_JOIN, fake_join, sizeof(struct gba_ioc_join), offsetof(struct gba_ioc_join, reserved),
     0, true, false, false},
    {GBA_IOC_CONFIGURE, fake_configure, sizeof(struct gba_ioc_configure),
     offsetof(struct gba_ioc_configure, reserved), 0, false, false, false},
    {GBA_IOC_LEAVE, fake_leave, sizeof(struct gba_ioc_leave),
     offsetof(struct gba_ioc_leave, reserved), 0, false, true, false},
    {GBA_IOC_INSPECT, fake_inspect, sizeof(struct gba_ioc_inspect),
     offsetof(struct gba_ioc_inspect, reserved), 0, true, false, false},
    {GBA_IOC_WAIT, fake_wait, sizeof(struct gba_ioc_wait), 0, 0, true, true, false},
    {GBA_IOC_OWNER, fake_owner, sizeof(struct gba_ioc_owner), 0, 0, true, false, false},
};

/* The rules for structures that can grow, and for flags. Returns 0 or the errno. */
static int check(const struct call *call, const unsigned char *argument, uint32_t size)
{
    uint32_t flags, reserved = 0;

    if (size < call->size)
        return EINVAL;
    if (size > 4096)
        return E2BIG;
    for (size_t i = call->size; i < size; i++)
        if (0 != argument[i])
            return E2BIG;
    memcpy(&flags, argument + sizeof size, sizeof flags);
    if (0 != call->reserved)
        memcpy(&reserved, argument + call->reserved, sizeof reserved);
    return 0 != (flags & ~call->flags) || 0 != reserved ? EINVAL : 0;
}

/* QUERY of version 2, the only call of that version that a driver of version 3 answers. */
#define QUERY_OLD _IOC(_IOC_READ | _IOC_WRITE, 0xBA, 0, 136)

static int do_query_old(uint32_t *answer)
{
    memset(answer + 2, 0, 136 - 8);
    answer[2] = fake_kernel.old_driver ? 2 : fake_kernel.abi_version;
    answer[3] = fake_kernel.regs_version;
    return 0;
}

int fake_driver_ioctl(int file, unsigned long request, void *argument)
{
    _Alignas(8) unsigned char copy[sizeof(struct gba_ioc_inspect)]; /* the largest one */
    const struct call *call = calls;
    uint32_t size;
    int error;

    if (QUERY_OLD == request)
        return do_query_old(argument);
    while (call < calls + sizeof calls / sizeof calls[0] && call->request != request)
        call++;
    if (fake_kernel.old_driver || call == calls + sizeof calls / sizeof calls[0] ||
        (GBA_IOC_OWNER == request && 0 == (fake_kernel.features & GBA_FEATURE_OWNER)))
        return ENOTTY;
    memcpy(&size, argument, sizeof size);
    error = check(call, argument, size);
    if (0 != error) {
        if (!fake_kernel.probing)
            fake_violation("call %lu of size %u: %s", _IOC_NR(request), size, strerror(error));
        return error;
    }
    if (fake_kernel.other_process && !call->from_anybody)
        return EPERM;
    if (fake_kernel.dead && !call->on_dead)
        return ENODEV;
    memcpy(copy, argument, call->size);
    error = call->run(file, copy);
    if (0 == error && call->answers) /* as the kernel: outputs are set only on success */
        memcpy(argument, copy, call->size);
    return error;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A 32-bit x86 process on /dev/gba0: its structures, pointers and mappings. The exit status is 0,
 * or the line of the check that failed. It uses no C library, so a 64-bit compiler builds it
 * without further packages: cc -m32 -msse2 -ffreestanding -nostdlib -static -fno-stack-protector.
 */
#include "gba/spec/gba_ioctl.h"

#define NR_EXIT    1
#define NR_OPEN    5
#define NR_CLOSE   6
#define NR_IOCTL   54
#define NR_MMAP2   192
#define PROT_RW    3
#define MAP_SHARED 1
#define O_RDWR     2

static long syscall6(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    long arguments[2] = {number, f};

    /* The sixth argument is in ebp, which the compiler may use. */
    __asm__ volatile("pushl %%ebp\n\t"
                     "movl 4(%%eax), %%ebp\n\t"
                     "movl (%%eax), %%eax\n\t"
                     "int $0x80\n\t"
                     "popl %%ebp"
                     : "=a"(result)
                     : "a"(arguments), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
                     : "memory", "cc");
    return result;
}

__attribute__((noreturn)) static void leave(int status)
{
    for (;;)
        (void)syscall6(NR_EXIT, status, 0, 0, 0, 0, 0);
}

#define CHECK(condition)     \
    do {                     \
        if (!(condition))    \
            leave(__LINE__); \
    } while (0)

static long call(long file, unsigned number, void *argument)
{
    return syscall6(NR_IOCTL, file, (long)number, (long)argument, 0, 0, 0);
}

static void *map(long file, unsigned protection, unsigned long long offset)
{
    return (void *)syscall6(NR_MMAP2, 0, 4096, (long)protection, MAP_SHARED, file,
                            (long)(offset >> 12));
}

/* The store of a doorbell is one store of 8 bytes. */
static void store64(volatile void *address, unsigned long long value)
{
    __asm__ volatile("mfence\n\tmovq %0, %%xmm0\n\tmovq %%xmm0, (%1)"
                     :
                     : "m"(value), "r"(address)
                     : "xmm0", "memory");
}

static void test(void)
{
    struct gba_ioc_query query = {.size = sizeof query};
    struct gba_ioc_alloc alloc = {.size = sizeof alloc, .members = 1};
    struct gba_ioc_join join = {.size = sizeof join};
    struct gba_ioc_configure configure = {.size = sizeof configure};
    struct gba_ioc_wait wait = {.size = sizeof wait, .sequence = 1, .timeout = 20000000000ull};
    struct gba_ioc_inspect inspect = {.size = sizeof inspect};
    struct gba_ioc_leave leave_call = {.size = sizeof leave_call};
    volatile struct gba_flag_slot *slot;
    char *bell, *page;
    long file = syscall6(NR_OPEN, (long)"/dev/gba0", O_RDWR, 0, 0, 0, 0);

    CHECK(file >= 0);
    CHECK(call(file, GBA_IOC_QUERY, &query) == 0);
    CHECK(query.abi_version == GBA_ABI_VERSION && query.groups_free == query.groups);
    CHECK(call(file, GBA_IOC_ALLOC, &alloc) == 0);
    join.group = configure.group = wait.group = inspect.group = leave_call.group = alloc.group;
    join.generation = configure.generation = wait.generation = alloc.generation;
    inspect.generation = leave_call.generation = alloc.generation;
    join.key = alloc.key;
    CHECK(call(file, GBA_IOC_JOIN, &join) == 0);
    bell = map(file, 2, join.doorbell_offset);
    CHECK((unsigned long)bell < 0xFFFFF000ul);
    page = map(file, PROT_RW, join.flag_offset);
    CHECK((unsigned long)page < 0xFFFFF000ul);
    slot = (volatile struct gba_flag_slot *)(void *)(page + join.flag_position);
    CHECK(slot->release == 0 && slot->revoked == 0);
    CHECK(call(file, GBA_IOC_CONFIGURE, &configure) == 0);
    store64(bell + GBA_BELL_ARRIVAL, GBA_ARRIVAL(1, alloc.generation, 0));
    CHECK(call(file, GBA_IOC_WAIT, &wait) == 0);
    CHECK(wait.events == GBA_EVENT_ROUND && slot->release == 1);
    CHECK(call(file, GBA_IOC_INSPECT, &inspect) == 0);
    CHECK(inspect.sequence == 1 && inspect.members == 1 && inspect.last_error == GBA_ERROR_NONE);
    CHECK(call(file, GBA_IOC_LEAVE, &leave_call) == 0);
    CHECK(call(file, GBA_IOC_QUERY, &query) == 0);
    CHECK(query.groups_free == query.groups);
    CHECK(syscall6(NR_CLOSE, file, 0, 0, 0, 0, 0) == 0);
}

/* The stack is aligned as the code of the compiler expects. */
__attribute__((noreturn, force_align_arg_pointer)) void _start(void);

void _start(void)
{
    test();
    leave(0);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Byte order: the data that the device reads and writes is little endian on every host; all other
 * data has the host's order. On a little-endian host most of this is trivial;
 * contrib/maint/check-foreign runs it on big-endian hosts.
 */

#include "gba/base/park.h"
#include "gba/spec/gba_regs.h"
#include "tests/suite.h"

#define VALUE UINT64_C(0x0807060504030201)

static const unsigned char little[8] = {1, 2, 3, 4, 5, 6, 7, 8};

/* The arguments of the last futex call; the caller does not sleep. */
static struct {
    const uint32_t *word;
    uint32_t seen;
    unsigned calls;
} futex;

long __wrap_syscall(long number, ...);

long __wrap_syscall(long number, ...)
{
    va_list args;

    (void)number;
    va_start(args, number);
    futex.word = (const uint32_t *)va_arg(args, uintptr_t);
    (void)va_arg(args, int);
    futex.seen = va_arg(args, uint32_t);
    va_end(args);
    futex.calls++;
    return 0;
}

/* The device writes bytes; the host reads a value. [REL-3] */
TEST(test_REL_3_flags_are_little_endian)
{
    gba_flag_t flag;
    unsigned char bytes[sizeof flag];

    memcpy(&flag, little, sizeof flag);
    assert_true(gba_flag_load_acquire(&flag) == VALUE);
    assert_true(gba_flag_load_relaxed(&flag) == VALUE);
    memset(&flag, 0, sizeof flag);
    gba_flag_store_relaxed(&flag, VALUE);
    memcpy(bytes, &flag, sizeof bytes);
    assert_memory_equal(bytes, little, sizeof bytes);
    memset(&flag, 0, sizeof flag);
    gba_flag_store_release(&flag, VALUE);
    memcpy(bytes, &flag, sizeof bytes);
    assert_memory_equal(bytes, little, sizeof bytes);
}

TEST(test_doorbells_are_little_endian)
{
    _Alignas(8) unsigned char page[16];

    memset(page, 0xA5, sizeof page);
    gba_mmio_write64((gba_mmio64_t *)(void *)page, VALUE);
    assert_memory_equal(page, little, sizeof little);
    assert_int_equal(page[8], 0xA5);
}

/* A sleeper compares the 32 bits that a new sequence changes, in the order in which the kernel
 * reads them. */
TEST(test_sleepers_watch_the_low_half)
{
    const uint64_t before = 41, after = 42;
    gba_word_t word, sleepers;
    gba_flag_t flag;

    gba_word_store_relaxed(&sleepers, 0);
    gba_flag_store_relaxed(&flag, before);
    gba_flag_park(&flag, before, 0, &sleepers);
    assert_int_equal(*futex.word, futex.seen); /* it sleeps */
    gba_flag_store_relaxed(&flag, after);
    assert_int_not_equal(*futex.word, futex.seen); /* it does not, or wakes */
    gba_word_store_relaxed(&word, before);
    gba_word_park(&word, before, 0, &sleepers);
    assert_int_equal(*futex.word, futex.seen);
    gba_word_store_relaxed(&word, after);
    assert_int_not_equal(*futex.word, futex.seen);
    assert_int_equal(gba_word_load_relaxed(&sleepers), 0);
}

/* The store is made while a process sleeps. */
TEST(test_wakers_find_the_sleepers)
{
    gba_word_t word, sleepers;
    gba_flag_t flag;
    const uint32_t *slept;

    gba_word_store_relaxed(&word, 1);
    gba_flag_store_relaxed(&flag, 1);
    gba_word_store_relaxed(&sleepers, 0);
    gba_flag_park(&flag, 1, 0, &sleepers);
    slept = futex.word;
    futex.calls = 0;
    gba_flag_unpark(&flag, &sleepers);
    gba_word_unpark(&word, &sleepers);
    assert_int_equal(futex.calls, 0); /* no process sleeps: no system call */
    gba_word_store_relaxed(&sleepers, 1);
    gba_flag_unpark(&flag, &sleepers);
    assert_int_equal(futex.calls, 1);
    assert_ptr_equal(futex.word, slept);
    gba_word_park(&word, 1, 0, &sleepers);
    slept = futex.word;
    gba_word_unpark(&word, &sleepers);
    assert_ptr_equal(futex.word, slept);
}

TEST_MAIN()

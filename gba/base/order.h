/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one home of memory ordering. Nothing else in libgba uses fences, atomics or volatile.
 *
 * A barrier orders memory in two steps: what a member wrote before it arrives must be visible
 * before its arrival is (release), and what it reads after it leaves must not have been read before
 * it saw the release (acquire). Two worlds need different words for that:
 *
 * CPU to CPU: C11 atomics. `volatile` alone orders nothing.
 * CPU to device: the doorbell is device memory. A store to it must not pass earlier stores to
 * ordinary memory, and the compiler must make exactly one access of exactly that width of it. The
 * device's release flag is ordinary, coherent memory that the device writes by DMA; reading it is
 * as reading another CPU's store.
 */
#ifndef GBA_BASE_ORDER_H
#define GBA_BASE_ORDER_H

#include <endian.h>
#include <stdatomic.h>
#include <stdint.h>

/* A word that another CPU or the device stores and this one polls. */
typedef _Atomic uint64_t gba_word_t;

/*
 * Whether this CPU stores 64 bits in one access. Where it does not (i386, 32-bit Arm), the compiler
 * makes two stores of what gba_mmio_write64 is to store in one, and the device refuses both.
 */
#if defined(__LP64__) || defined(__x86_64__)
#define GBA_MMIO_64 1
#else
#define GBA_MMIO_64 0
#endif

/* A pointer that another thread stores. */
typedef _Atomic(void *) gba_pointer_t;

/* A 64-bit register of a device, mapped; written with gba_mmio_write64 only. */
typedef volatile uint64_t gba_mmio64_t;

/* Pairs with gba_word_load_acquire of the reader. */
static inline void gba_word_store_release(gba_word_t *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_release);
}

/* Pairs with gba_word_store_release, or with the device's release store. */
static inline uint64_t gba_word_load_acquire(const gba_word_t *word)
{
    return atomic_load_explicit(word, memory_order_acquire);
}

/* What this thread did to the object is visible to who loads the pointer to it with acquire. */
static inline void gba_pointer_store_release(gba_pointer_t *pointer, void *value)
{
    atomic_store_explicit(pointer, value, memory_order_release);
}

/* Pairs with gba_pointer_store_release. */
static inline void *gba_pointer_load_acquire(gba_pointer_t *pointer)
{
    return atomic_load_explicit(pointer, memory_order_acquire);
}

/* For a word that carries no other data: a counter, a hint. */
static inline void gba_word_store_relaxed(gba_word_t *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_relaxed);
}

static inline uint64_t gba_word_load_relaxed(const gba_word_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

/* Before a store that somebody else's code makes for this thread: what it wrote before is visible
 * to who sees that store and then uses the fence below, or loads with acquire. */
static inline void gba_fence_release(void)
{
    atomic_thread_fence(memory_order_release);
}

/* After a relaxed or foreign load that saw what is waited for: what its writer wrote before is
 * visible from here on. For flags of other people, which the words above do not cover. */
static inline void gba_fence_acquire(void)
{
    atomic_thread_fence(memory_order_acquire);
}

/*
 * All earlier accesses to memory before all later stores to device memory: before a doorbell. Loads
 * too, and that is more than a driver needs which hands over a buffer: what this member read before
 * it arrived must not be what another one wrote after it had left.
 * x86 lets no store to uncached memory pass an earlier load or store; Arm and POWER need a barrier
 * that covers device memory, which a C11 fence does not promise. On Arm "dsb st" alone waits for
 * stores only, and a load may be performed after a later store; "dmb ld" keeps the loads before.
 */
static inline void gba_fence_doorbell(void)
{
#if defined(__x86_64__) || defined(__i386__)
    atomic_signal_fence(memory_order_release);
#elif defined(__aarch64__)
    __asm__ __volatile__("dmb ld\n\tdsb st" ::: "memory");
#elif defined(__powerpc64__)
    __asm__ __volatile__("sync" ::: "memory");
#else
    atomic_thread_fence(memory_order_seq_cst);
    __sync_synchronize();
#endif
}

/*
 * Store to a 64-bit device register: one access, after all earlier accesses to memory of this
 * thread. The device is little endian.
 */
static inline void gba_mmio_write64(gba_mmio64_t *reg, uint64_t value)
{
    gba_fence_doorbell();
    *reg = htole64(value);
}

/*
 * One access of that width (1, 2, 4 or 8 bytes) to device memory, for diagnosis. Values are in the
 * CPU's byte order. A read is not ordered with anything; a write is, as gba_mmio_write64.
 */
static inline uint64_t gba_mmio_read(const void *base, uint32_t offset, unsigned width)
{
    const volatile void *reg = (const char *)base + offset;

    switch (width) {
    case 1:
        return *(const volatile uint8_t *)reg;
    case 2:
        return le16toh(*(const volatile uint16_t *)reg);
    case 4:
        return le32toh(*(const volatile uint32_t *)reg);
    default:
        return le64toh(*(const volatile uint64_t *)reg);
    }
}

static inline void gba_mmio_write(void *base, uint32_t offset, unsigned width, uint64_t value)
{
    volatile void *reg = (char *)base + offset;

    gba_fence_doorbell();
    switch (width) {
    case 1:
        *(volatile uint8_t *)reg = (uint8_t)value;
        break;
    case 2:
        *(volatile uint16_t *)reg = htole16((uint16_t)value);
        break;
    case 4:
        *(volatile uint32_t *)reg = htole32((uint32_t)value);
        break;
    default:
        *(volatile uint64_t *)reg = htole64(value);
        break;
    }
}

/* Count: returns the value before. Orders nothing else. */
static inline uint64_t gba_word_add_relaxed(gba_word_t *word, uint64_t value)
{
    return atomic_fetch_add_explicit(word, value, memory_order_relaxed);
}

/*
 * Count, and hand on: what this thread wrote or saw is visible to whoever adds to the word, or
 * loads it with acquire, after it. Returns the value before.
 */
static inline uint64_t gba_word_add_acq_rel(gba_word_t *word, uint64_t value)
{
    return atomic_fetch_add_explicit(word, value, memory_order_acq_rel);
}

/*
 * The compiler moves no access to memory across this. Enough for a journal that is read only after
 * its writer was killed: a CPU completes its instructions in order, so what the dead one leaves is
 * a prefix of its program, and the kernel's hand-over of the robust lock makes all of it visible.
 */
static inline void gba_fence_compiler(void)
{
    atomic_signal_fence(memory_order_seq_cst);
}

/* Tell the CPU that this is a loop that waits: leaves the pipeline to the other hyper-thread. */
static inline void gba_cpu_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield" ::: "memory");
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

#endif

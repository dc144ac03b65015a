/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one home of memory ordering. No other file of libgba uses fences, atomics or volatile.
 *
 * A barrier orders memory in two steps. Release: the writes of a member before its arrival are
 * visible before the arrival is. Acquire: the reads of a member after it leaves take place after it
 * saw the release. The two kinds of access need different primitives:
 *
 * CPU to CPU: C11 atomics. `volatile` alone orders nothing.
 * CPU to device: the doorbell is device memory. A store to it must not pass earlier stores to
 * ordinary memory, and the compiler must emit exactly one access of exactly that width. The
 * device's release flag is ordinary, coherent memory that the device writes by DMA. Reading it is
 * the same as reading another CPU's store.
 *
 * tests/litmus has a litmus test for each pairing of these functions in the product. A new pairing
 * needs a new test there.
 */
#ifndef GBA_BASE_ORDER_H
#define GBA_BASE_ORDER_H

#include <endian.h>
#include <stdatomic.h>
#include <stdint.h>

/* A word that another CPU or the device stores and this CPU polls. */
typedef _Atomic uint64_t gba_word_t;

/*
 * 1 if loads and stores of this CPU reach a mapped device. On s390x they do not: PCI memory needs
 * its own instructions (pcilg, pcistg), and a plain access raises an exception.
 */
#if defined(__s390x__)
#define GBA_MMIO 0
#else
#define GBA_MMIO 1
#endif

/*
 * 1 if this CPU stores 64 bits to a device in one access. Where it does not (i386), the compiler
 * splits the store of gba_mmio_write64 into two, and the device refuses both.
 */
#if GBA_MMIO && (defined(__LP64__) || defined(__x86_64__))
#define GBA_MMIO_64 1
#else
#define GBA_MMIO_64 0
#endif

/*
 * A member's release flag: coherent memory of the host that the device writes by DMA, in the byte
 * order of the device, little endian. It has its own type because gba_word_load_acquire does not
 * convert: on a big-endian host that load would return a wrong number.
 */
typedef struct {
    gba_word_t device_order;
} gba_flag_t;

/* A pointer that another thread stores. */
typedef _Atomic(void *) gba_pointer_t;

/* A mapped 64-bit register of a device. Written with gba_mmio_write64 only. */
typedef volatile uint64_t gba_mmio64_t;

/* Store with release. Pairs with gba_word_load_acquire of the reader. */
static inline void gba_word_store_release(gba_word_t *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_release);
}

/* Load with acquire. Pairs with gba_word_store_release, or with the device's release store. */
static inline uint64_t gba_word_load_acquire(const gba_word_t *word)
{
    return atomic_load_explicit(word, memory_order_acquire);
}

/* Publish an object: a thread that loads the pointer with acquire sees all earlier writes of this
 * thread to the object. Pairs with gba_pointer_load_acquire. */
static inline void gba_pointer_store_release(gba_pointer_t *pointer, void *value)
{
    atomic_store_explicit(pointer, value, memory_order_release);
}

/* Load with acquire. Pairs with gba_pointer_store_release. */
static inline void *gba_pointer_load_acquire(gba_pointer_t *pointer)
{
    return atomic_load_explicit(pointer, memory_order_acquire);
}

/* For a word that guards no other data: a counter, a hint. Orders nothing. */
static inline void gba_word_store_relaxed(gba_word_t *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_relaxed);
}

static inline uint64_t gba_word_load_relaxed(const gba_word_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

/* The value of a release flag, with acquire. Pairs with the device's release store, or with
 * gba_flag_store_release. */
static inline uint64_t gba_flag_load_acquire(const gba_flag_t *flag)
{
    return le64toh(gba_word_load_acquire(&flag->device_order));
}

/* The value of a release flag. Orders nothing. */
static inline uint64_t gba_flag_load_relaxed(const gba_flag_t *flag)
{
    return le64toh(gba_word_load_relaxed(&flag->device_order));
}

/* The release store of a device simulated in software. Pairs with gba_flag_load_acquire of the
 * member. */
static inline void gba_flag_store_release(gba_flag_t *flag, uint64_t value)
{
    gba_word_store_release(&flag->device_order, htole64(value));
}

/* Set the first value of a release flag. Orders nothing. */
static inline void gba_flag_store_relaxed(gba_flag_t *flag, uint64_t value)
{
    gba_word_store_relaxed(&flag->device_order, htole64(value));
}

/* Release fence, before a store that foreign code makes for this thread. The earlier writes of this
 * thread are visible to a thread that sees that store and then executes gba_fence_acquire, or that
 * loads it with acquire. */
static inline void gba_fence_release(void)
{
    atomic_thread_fence(memory_order_release);
}

/* Acquire fence, after a relaxed or foreign load that saw the awaited value: the writes that
 * precede that value's store are visible from here on. For flags in foreign memory, which the
 * functions above do not cover. Pairs with gba_fence_release, or with a store with release. */
static inline void gba_fence_acquire(void)
{
    atomic_thread_fence(memory_order_acquire);
}

/*
 * Order all earlier accesses to memory before all later stores to device memory: the fence before a
 * doorbell. It orders loads too, more than a driver needs that only passes a buffer to a device:
 * what this member read before it arrived must not be what another member wrote after it left.
 *
 * A C11 fence orders ordinary memory only. Each architecture therefore has its own line, and an
 * architecture that is not listed does not compile: a wrong guess loses data without an error.
 * - x86: a store to uncached memory does not pass an earlier load or store. Only the compiler needs
 *   the fence.
 * - AArch64: the order of two accesses is enough; neither has to be complete. Armv8 is
 *   other-multi-copy atomic: an observer of the doorbell also observes all accesses that "dmb"
 *   orders before it. Linux relaxed its own accessors from "dsb" for that reason. "osh", not "ish":
 *   the device is an observer outside the CPUs' domain. Not "oshst": it orders no loads. A "dsb"
 *   waits for completion, which no caller needs.
 * - POWER: "lwsync" and "eieio" do not order memory against a device; "sync" does.
 * - RISC-V: i and o are accesses to devices. "fence rw,w", a C11 release fence, leaves them out.
 * - s390x: stores stay in order, and "bcr 15,0" is the full barrier. It serves simulated devices;
 *   see GBA_MMIO.
 */
static inline void gba_fence_doorbell(void)
{
#if defined(__x86_64__) || defined(__i386__)
    atomic_signal_fence(memory_order_release);
#elif defined(__aarch64__)
    __asm__ __volatile__("dmb osh" ::: "memory");
#elif defined(__powerpc64__)
    __asm__ __volatile__("sync" ::: "memory");
#elif defined(__riscv) && 64 == __riscv_xlen
    __asm__ __volatile__("fence iorw,ow" ::: "memory");
#elif defined(__s390x__)
    __asm__ __volatile__("bcr 15,0" ::: "memory");
#else
#error "gba_fence_doorbell: add the barrier of this architecture between memory and device memory"
#endif
}

/*
 * Store to a 64-bit device register: one access, after all earlier accesses of this thread to
 * memory. The value is in the CPU's byte order; the device is little endian.
 */
static inline void gba_mmio_write64(gba_mmio64_t *reg, uint64_t value)
{
    gba_fence_doorbell();
    *reg = htole64(value);
}

/* Add, and return the value before. Orders nothing. */
static inline uint64_t gba_word_add_relaxed(gba_word_t *word, uint64_t value)
{
    return atomic_fetch_add_explicit(word, value, memory_order_relaxed);
}

/*
 * Add, and return the value before. Acquire and release: the earlier writes of this thread, and all
 * that it has seen, are visible to a thread that later adds to the word, or that loads it with
 * acquire.
 */
static inline uint64_t gba_word_add_acq_rel(gba_word_t *word, uint64_t value)
{
    return atomic_fetch_add_explicit(word, value, memory_order_acq_rel);
}

/* Mark a waiting loop for the CPU: the pipeline serves the other hyper-thread meanwhile. */
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

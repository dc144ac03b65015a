/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A coroutine: a function on a stack of its own, which can be left in the middle and continued. It
 * is for libgba's agreement in progress of a nonblocking barrier. The steps of the agreement are
 * written once, with calls that wait (gba_oob_t). Here such a call leaves the coroutine until its
 * result is known.
 *
 * ucontext and not a thread: a coroutine runs only within a call of MPI, so it needs no support for
 * threads from Open MPI, no scheduling, and no other lock. Any thread may continue it, one at a
 * time. So no function that is left may keep a lock or the address of a thread-local variable.
 */
#include "ompi/mca/coll/gba_barrier/coll_gba_barrier.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

/* Bytes of address space. Memory is used for touched pages only: two or three, and more if the
 * agreement opens the device or prints a line. */
#define STACK_BYTES ((size_t)512 * 1024)

struct gba_coll_coroutine {
    ucontext_t inside, outside;
    void (*run)(void *argument);
    void *argument;
    bool ended;
    char *stack; /* the lowest page is not accessible, and stops an overflow */
};

/* The type is that of makecontext, which passes int arguments only. */
static void coroutine_run(unsigned high, unsigned low)
{
    struct gba_coll_coroutine *c =
        (struct gba_coll_coroutine *)((uintptr_t)high << 16 << 16 | (uintptr_t)low);

    c->run(c->argument);
    c->ended = true;
}

/* Apart, because getcontext is a function that the compiler takes to return twice. */
static bool context_get(ucontext_t *context)
{
    return 0 == getcontext(context);
}

gba_coll_coroutine_t *gba_coll_coroutine_create(void (*run)(void *argument), void *argument)
{
    gba_coll_coroutine_t *c = calloc(1, sizeof *c);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (NULL == c)
        return NULL;
    c->run = run;
    c->argument = argument;
    c->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (MAP_FAILED == c->stack)
        goto free_coroutine;
    if (0 != mprotect(c->stack, page, PROT_NONE) || !context_get(&c->inside))
        goto unmap_stack;
    c->inside.uc_stack.ss_sp = c->stack + page;
    c->inside.uc_stack.ss_size = STACK_BYTES - page;
    c->inside.uc_link = &c->outside;
    makecontext(&c->inside, (void (*)(void))coroutine_run, 2, (unsigned)((uintptr_t)c >> 16 >> 16),
                (unsigned)(uintptr_t)c);
    return c;

unmap_stack:
    (void)munmap(c->stack, STACK_BYTES);
free_coroutine:
    free(c);
    return NULL;
}

bool gba_coll_coroutine_resume(gba_coll_coroutine_t *c)
{
    (void)swapcontext(&c->outside, &c->inside);
    return c->ended;
}

void gba_coll_coroutine_yield(gba_coll_coroutine_t *c)
{
    (void)swapcontext(&c->inside, &c->outside);
}

void gba_coll_coroutine_destroy(gba_coll_coroutine_t *c)
{
    (void)munmap(c->stack, STACK_BYTES);
    free(c);
}

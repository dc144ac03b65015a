/* SPDX-License-Identifier: BSD-3-Clause */
/* Accesses to memory and eventfds that another process shares. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>
#include <unistd.h>

#include "sim/switch/vfio/guard.h"

static sigjmp_buf resume;
/* The flag of the current store; NULL: none. */
static gba_pointer_t guarded;
static bool installed;
/* The eventfd of a write with a time limit; NULL: none. */
static gba_pointer_t limited;

/* The kernel raises the signal during the store, so the jump abandons only the store. The code of a
 * signal that a process sent is 0 or less. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code > 0 && gba_pointer_load_acquire(&guarded) != NULL)
        siglongjmp(resume, 1);
    signal(number, SIG_DFL);
    raise(number);
}

/* The signal of the time limit has interrupted the write, so the handler does nothing else. */
static void on_alarm(int number)
{
    if (gba_pointer_load_acquire(&limited) != NULL)
        return;
    signal(number, SIG_DFL);
    raise(number);
}

int gba_vfio_guard_install(void)
{
    /* SA_NODEFER: the handler is left by a jump, which does not restore the signal mask. */
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_NODEFER};
    struct sigaction limit = {.sa_handler = on_alarm}; /* not SA_RESTART */

    sigemptyset(&action.sa_mask);
    sigemptyset(&limit.sa_mask);
    if (0 != sigaction(SIGBUS, &action, NULL) || 0 != sigaction(SIGALRM, &limit, NULL))
        return errno;
    installed = true;
    return 0;
}

bool gba_vfio_guard_store(gba_flag_t *flag, uint64_t value)
{
    /* Each store below has release order, so the compiler keeps their order. The handler runs in
     * this thread. */
    if (0 != sigsetjmp(resume, 0)) {
        gba_pointer_store_release(&guarded, NULL);
        return false;
    }
    gba_pointer_store_release(&guarded, flag);
    gba_flag_store_release(flag, value);
    gba_pointer_store_release(&guarded, NULL);
    return true;
}

int gba_vfio_guard_signal(int fd)
{
    /* The timer repeats, because the first signal can come before the write begins to wait. */
    static const struct itimerval limit = {.it_interval = {.tv_usec = GBA_VFIO_GUARD_US},
                                           .it_value = {.tv_usec = GBA_VFIO_GUARD_US}};
    const uint64_t one = 1;
    struct pollfd writable = {.fd = fd, .events = POLLOUT};
    struct itimerval before = {.it_value = {.tv_sec = 0}};
    int error = 0;

    if (1 != poll(&writable, 1, 0))
        return EAGAIN;
    gba_pointer_store_release(&limited, &writable);
    if (installed)
        (void)setitimer(ITIMER_REAL, &limit, &before);
    if (sizeof one != write(fd, &one, sizeof one))
        error = errno;
    if (installed)
        (void)setitimer(ITIMER_REAL, &before, NULL); /* a signal that is due comes here */
    gba_pointer_store_release(&limited, NULL);
    return error;
}

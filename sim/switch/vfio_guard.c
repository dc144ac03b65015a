/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores to memory that another process can take away. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

#include "sim/switch/vfio_guard.h"

static sigjmp_buf resume;
/* The flag of the store that is being made; NULL: none. */
static gba_pointer_t guarded;

/* The kernel raises the signal in the middle of the store, so only the store is left. A signal that
 * a process sent has a code of 0 or less. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code > 0 && NULL != gba_pointer_load_acquire(&guarded))
        siglongjmp(resume, 1);
    signal(number, SIG_DFL);
    raise(number);
}

int gba_vfio_guard_install(void)
{
    /* SA_NODEFER: the handler is left by a jump, which does not restore the signal mask. */
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_NODEFER};

    sigemptyset(&action.sa_mask);
    return 0 == sigaction(SIGBUS, &action, NULL) ? 0 : errno;
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

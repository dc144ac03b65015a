/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 ends the job by shmem_global_exit(0) while all other PEs are in a barrier, which is legal.
 */
#include <shmem.h>
#include <unistd.h>

#include "tests/shmem/test.h"

int main(void)
{
    test_begin("exits");
    for (int i = 0; i < 20; i++)
        shmem_barrier_all();
    if (test_me == 0) {
        sleep(6); /* the others are in the barrier, longer than a death may take to be reported */
        shmem_global_exit(0);
    }
    shmem_barrier_all();
    return test_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shmem_finalize ends after barriers while contexts exist: contexts [BARRIERS]
 *
 * One context is destroyed before finalize, the other one in it.
 */
#include <shmem.h>

#include "tests/shmem/test.h"

int main(int argc, char **argv)
{
    shmem_ctx_t destroyed, kept;
    long count;

    test_begin("contexts");
    count = test_argument(argc, argv, 1, 100);
    TEST_CHECK(0 == shmem_ctx_create(0, &destroyed), "no context");
    TEST_CHECK(0 == shmem_ctx_create(0, &kept), "no second context");
    for (long i = 0; i < count; i++)
        shmem_barrier_all();
    shmem_ctx_destroy(destroyed);
    return test_end();
}

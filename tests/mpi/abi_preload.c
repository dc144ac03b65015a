/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into a test program: communicators grow by 8 bytes, as they did within Open MPI 5.0.
 * This has no effect on Open MPI itself, which gets a little more memory for each communicator.
 */
#include "ompi_config.h"

#include "ompi/communicator/communicator.h"

static void __attribute__((constructor)) grow(void)
{
    OBJ_CLASS(ompi_communicator_t)->cls_sizeof += 8;
}

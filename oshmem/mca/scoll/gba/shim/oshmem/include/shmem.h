/* SPDX-License-Identifier: BSD-3-Clause */
/* Open MPI's internal headers ask for this name, under which only its source tree has it. */
#include <shmem.h>

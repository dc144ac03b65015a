/* SPDX-License-Identifier: BSD-3-Clause */
/* Open MPI's internal headers include this name, which exists in its source tree only. */
#include <shmem.h>

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the structures of this Open MPI with those that the component was compiled with. Open
 * MPI itself compares the version of the component's interface. That version stays the same when
 * communicators and modules grow, as in 5.0.7 and 5.0.10. A component built with 5.0.6 loads there,
 * writes to wrong addresses, and the program crashes in MPI_Init.
 */
#include "ompi/mca/common/gba/open.h"

bool gba_common_abi_check(const struct gba_common_class *classes, char *message, size_t len)
{
    message[0] = '\0';
    for (; classes->name != NULL; classes++)
        if (classes->size != classes->cls->cls_sizeof) {
            snprintf(message, len,
                     "built for another release of Open MPI: %s has %zu bytes here, and had %zu; "
                     "the component is disabled. Build it again with this Open MPI",
                     classes->name, classes->cls->cls_sizeof, classes->size);
            return false;
        }
    return true;
}

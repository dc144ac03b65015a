/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tags of our messages, and the signals of software barriers between hosts, as messages of the
 * PML.
 */
#ifndef GBA_COMMON_TRANSPORT_H
#define GBA_COMMON_TRANSPORT_H

#include "gba/base/order.h"
#include "gba/runtime.h"
#include "mpi.h"
#include "ompi/request/request.h"

/*
 * Our own tags, on communicators that other senders use as well. Tags from 0 on belong to the user.
 * -1 is MPI_ANY_TAG, which matches no negative tag. Open MPI's own tags begin at -10 in 4.1, and
 * from 5.0 on at -7, with those that create communicators (ompi/mca/coll/base/coll_tags.h). So -2
 * to -6 are free. Other components use their tags on their own communicators.
 */
#define GBA_COMMON_TAG_AGREEMENT     (-3)
#define GBA_COMMON_TAG_DEGRADED      (-4)
#define GBA_COMMON_TAG_TRANSPORT     (-5)
#define GBA_COMMON_TAG_NOTIFICATIONS (-6)

struct ompi_communicator_t;

/*
 * Whether a message has been sent or received. Then frees its request, and sets *request to NULL,
 * *error to its code, and *bytes, unless NULL, to the bytes that were received. Acquire: another
 * thread may have completed it. Pairs with the PML's write barrier.
 */
static inline bool gba_common_message_complete(ompi_request_t **request, int *error, size_t *bytes)
{
    if (!REQUEST_COMPLETE(*request))
        return false;
    gba_fence_acquire();
    *error = (*request)->req_status.MPI_ERROR;
    if (bytes != NULL)
        *bytes = (*request)->req_status._ucount;
    (void)ompi_request_free(request);
    *request = NULL;
    return true;
}

/* The destinations of a team's messages. */
struct gba_common_messages {
    struct ompi_communicator_t *comm; /* outlives the team */
    int tag[2];                       /* by channel, see gba_remote_group_t */
    const uint32_t *ranks;            /* [members] ranks in comm; NULL: rank n is member n */
};

/*
 * Fill in the message transport of software barriers, for an agreement. messages: must live as
 * long as remote is in use, that is, while a team is created or recovered.
 */
void gba_common_remote_init(gba_remote_t *remote, struct gba_common_messages *messages);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A neighbour's "completed" that comes while this member's own question to that neighbour is still
 * in the outbox. The neighbour does not answer the question, because it has sent "completed". So
 * the drain at the end must not wait for an answer. The PML here delivers one message, and sends
 * complete at once.
 */
#include "tests/unit/ompi/notification_stubs.h"

#include "ompi/request/request.h"
#include "tests/suite.h"

static struct {
    bool incoming;        /* the neighbour's "completed" is with the PML */
    bool asked;           /* the team has posted its question */
    unsigned sent, turns; /* calls of opal_progress */
} harness;

/* The other functions that the service calls. */

#if OMPI_MAJOR_VERSION < 5
void opal_progress(void)
{
    harness.turns++;
}
#else
int opal_progress(void)
{
    harness.turns++;
    return 0;
}
#endif

static int request_free(ompi_request_t **request)
{
    free(*request);
    *request = MPI_REQUEST_NULL;
    return OMPI_SUCCESS;
}

static int request_completed(ompi_request_t **request)
{
    ompi_request_t *completed = calloc(1, sizeof *completed);

    assert_non_null(completed);
    completed->req_complete = REQUEST_COMPLETED;
    completed->req_free = request_free;
    *request = completed;
    return OMPI_SUCCESS;
}

static int probe(int source, int tag, struct ompi_communicator_t *comm, int *matched,
                 ompi_status_public_t *status)
{
    (void)source, (void)tag, (void)comm;
    *matched = harness.incoming;
    status->MPI_SOURCE = 1;
    return OMPI_SUCCESS;
}

static int receive(void *data, size_t count, struct ompi_datatype_t *type, int peer, int tag,
                   struct ompi_communicator_t *comm, struct ompi_request_t **request)
{
    const gba_notification_t completed = {.team = TEAM,
                                          .round = 1,
                                          .first_bypassed = UINT64_MAX,
                                          .member = 1,
                                          .members = 1,
                                          .completed = 1};

    (void)type, (void)peer, (void)tag, (void)comm;
    assert_int_equal(count, sizeof completed);
    memcpy(data, &completed, sizeof completed);
    harness.incoming = false;
    return request_completed(request);
}

static int send_at_once(const void *data, size_t count, struct ompi_datatype_t *type, int peer,
                        int tag, mca_pml_base_send_mode_t mode, struct ompi_communicator_t *comm,
                        ompi_request_t **request)
{
    (void)data, (void)count, (void)type, (void)peer, (void)tag, (void)mode, (void)comm;
    harness.sent++;
    return request_completed(request);
}

gba_status_t gba_team_notification(gba_team_t *team, gba_notification_t *notification, uint32_t *to)
{
    (void)team;
    if (harness.asked)
        return GBA_ERR_BUSY;
    harness.asked = true;
    *to = 1;
    *notification = (gba_notification_t){.team = TEAM, .round = 1, .members = 1};
    return GBA_OK;
}

gba_status_t gba_notification_take(const gba_notification_t *notification)
{
    assert_int_equal(notification->completed, 1);
    return GBA_OK;
}

gba_status_t gba_notification_answer(const gba_notification_t *question, gba_notification_t *answer)
{
    *answer = *question;
    return GBA_ERR_STALE;
}

static unsigned drain_turns(void)
{
    harness.turns = 0;
    gba_common_notifications_drain();
    return harness.turns;
}

TEST(test_nobody_answers_twice)
{
    unsigned idle;

    mca_pml.pml_iprobe = probe;
    mca_pml.pml_irecv = receive;
    mca_pml.pml_isend = send_at_once;
    assert_int_equal(gba_common_notifications_start(), OMPI_SUCCESS);
    idle = drain_turns();
    (void)gba_common_notifications_post(&module);
    harness.incoming = true;
    /* The first step receives before it sends. */
    assert_int_equal(drain_turns(), idle);
    assert_int_equal(harness.sent, 1);
    gba_common_notifications_stop();
}

TEST_MAIN()

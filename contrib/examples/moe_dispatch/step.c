/* SPDX-License-Identifier: BSD-3-Clause */
#include "phases.h"

/*
 * Memory that other PEs put to, and what separates each put from the reads before it. A step has
 * four synchronisations: A at the end of send_across, B of deliver, C of run_experts, D of reduce.
 * Low- latency mode has B and C only. There is one copy of each buffer.
 *
 *   buffer    put by             put in       read by its owner in   put again in the next step
 *   across    source             send_across  deliver and reduce     in send_across
 *   receive   forwarder          deliver      run_experts, at first  in deliver
 *   back      PE of the expert   run_experts  reduce                 in run_experts
 *   parts     forwarder          reduce       combine                in reduce
 *
 * (across with across_count and across_choice, receive with heads.) Each buffer is read after the
 * synchronisation of the phase that puts to it. The next put is late enough for these reasons:
 *
 *   buffer    barrier, normal mode            flags, normal mode
 *   across    after D, which its owner has    the source has the flag of this forwarder in
 * parts_flag, entered after reduce            raised after reduce for this source receive   after
 * the next A: its owner     the forwarder has reduced for this source, after the entered C after
 * the reads       back_flag of the expert, raised after the reads back      after the next B: its
 * owner     the expert has the next deliver_flag of this forwarder, entered D after reduce which
 * has ended its reduce of the step before parts     after the next C: its owner     the forwarder
 * has the next across_flag of the source, entered the next A after        which has combined before
 *             combine
 *
 * In low-latency mode the source is its own forwarder and there are no across and parts:
 *
 *   receive   after C: its owner entered C    the source has the back_flag of the expert, raised
 * after after the reads                 the reads. So it waits for all experts, used or not back
 * after the next B: its owner     the expert has the next deliver_flag of the source, entered B
 * after reduce          which has ended its reduce of the step before
 *
 * Synchronisation by cores is a barrier.
 *
 * The same reasons hold where one step uses flags and the next one barriers, or the reverse: what
 * they say of the step before holds for both kinds, and A to C of the next step are not weaker than
 * its flags.
 */

/* A random pause, different on every PE and at every point of the step. */
static void jitter(const struct moe_pe *pe, uint64_t point)
{
    const uint64_t key = moe_hash(pe->config.shape.seed ^ point, (uint64_t)pe->step);

    pool_jitter(moe_hash(key, (uint64_t)pe->me), pe->config.jitter);
}

const char *moe_pe_step(struct moe_pe *pe, enum moe_sync sync)
{
    const int normal = pe->config.mode == MOE_NORMAL;
    const char *message;

    pe->step++;
    pe->sync = sync;
    jitter(pe, 1);
    moe_make_tokens(pe);
    if (normal) {
        jitter(pe, 2);
        moe_send_across(pe); /* A */
    }
    jitter(pe, 3);
    message = moe_deliver(pe); /* B */
    if (message)
        return message;
    jitter(pe, 4);
    message = moe_run_experts(pe); /* C */
    if (message)
        return message;
    jitter(pe, 5);
    moe_reduce(pe); /* D */
    if (normal) {
        jitter(pe, 6);
        moe_combine(pe);
    }
    return NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Switch domains of nodes (gba/path/leaders.c). Each domain has a group of its own device,
 * whose rounds 2n - 1 and 2n make barrier n. Between them the domain leaders run v1. Members 0 and
 * 1 are in domain 0, 2 and 3 in domain 1, and 4 is alone in domain 2. The leader of a domain is its
 * first member. N is 3 (2 is alone then), 4 or 5. Each node has one member: hybrid.pml models a
 * node.
 *
 * Arrivals are stores in transit to the device. Releases are stores of the device, made one after
 * the other and landing in any order.
 *
 * ONCE (a fault): one round is a barrier. The domain leader sends its messages to the other domain
 * leaders after its release, when the device has released its whole domain.
 * UNGATHERED (a fault): one round is a barrier. The domain leader sends its messages before it
 * arrives, when its domain may not have arrived.
 * EARLY (a fault): the domain leader arrives at the second round before it has received the
 * messages of the other domain leaders.
 */
#if N == 3
#define DOMAINS 2
#define ALONE 2 /* the member without a group */
#elif N == 4
#define DOMAINS 2
#define ALONE 7
#else
#define DOMAINS 3
#define ALONE 4
#endif
#define SLOTS   4 /* two for the rounds among domain leaders, then: */
#define FLAG    2
#define ARRIVAL 3
#include "harness.pml"

#define LEADER(i)    (2 * (i))
#define DOMAIN(m)  ((m) / 2)
#define IS_LEADER(m) ((m) % 2 == 0)
/* Both parities are one word; the next store to it is made when this one has been read. */
#define RELEASED(m) CELL(m, FLAG, 0)
#define ARRIVED(m)  CELL(m, ARRIVAL, 0)
#define NEXT(g)     (((g) + 1) % SPACE)

proctype device(byte i)
{
	byte g; /* the last round that is complete */

	do
	:: atomic {
		word[ARRIVED(LEADER(i))] == NEXT(g) && word[ARRIVED(LEADER(i) + 1)] == NEXT(g) ->
			g = NEXT(g)
	}
	set(RELEASED(LEADER(i)), g);
	set(RELEASED(LEADER(i) + 1), g) /* which lands before or after */
	od
}

/* Arrive at the next round of the domain's group. */
inline arrive()
{
	g = NEXT(g);
	set(ARRIVED(me), g)
}

inline leaders_barrier()
{
	atomic {
		distance = 1;
		slot = 0;
		set(CELL(LEADER((DOMAIN(me) + 1) % DOMAINS), 0, seq), seq)
	}
	do
	:: atomic {
		distance < DOMAINS && REACHED(word[CELL(me, slot, seq)], seq) ->
			distance = distance * 2;
			slot++;
			if
			:: distance < DOMAINS ->
				set(CELL(LEADER((DOMAIN(me) + distance) % DOMAINS), slot, seq), seq)
			:: else ->
				skip
			fi
	}
	:: distance >= DOMAINS ->
		break
	od
}

proctype member(byte me)
{
	byte seq, g, slot, distance, i;

	do
	:: seq = (seq + 1) % SPACE;
		entered[me] = seq;
		if
		:: me == ALONE ->
			leaders_barrier()
		:: else ->
#ifdef UNGATHERED
			if
			:: IS_LEADER(me) -> leaders_barrier()
			:: else
			fi;
#else
			arrive();
			REACHED(word[RELEASED(me)], g);
#ifdef EARLY
			arrive();
#endif
			if
			:: IS_LEADER(me) -> leaders_barrier()
			:: else
			fi;
#endif
#ifndef ONCE
#ifndef EARLY
			arrive();
#endif
			REACHED(word[RELEASED(me)], g)
#endif
		fi;
		leave(seq)
	od
}

init
{
	byte m;

	atomic {
		do
		:: m < N ->
			run member(m);
			m++
		:: else ->
			break
		od;
		m = 0;
		do
		:: 2 * m + 1 < N ->
			run device(m);
			m++
		:: else ->
			break
		od
	}
}

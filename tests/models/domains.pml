/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Switch domains of nodes (gba/team/path_hybrid.c): each has a group of a device of its own, whose rounds
 * 2n - 1 and 2n make barrier n, and between them the domain leaders go through v1. Members 0
 * and 1 are in domain 0, 2 and 3 in domain 1, 4 alone in domain 2; the leader of a domain is its
 * first. N is 3 (2 is alone then), 4 or 5. Each node has one member: what happens in a node is in
 * hybrid.pml.
 *
 * Arrivals are stores on their way to the device, releases are stores of the device, made one after
 * the other and landing in any order.
 *
 * ONCE (a fault): one round is a barrier: the head turns to the other heads after its release, when
 * the device has let the others go. UNGATHERED (a fault): one round is a barrier: the head turns to
 * the other heads before it arrives, and does not know whether its domain has arrived. EARLY (a
 * fault): the head arrives at the second round before it has heard of the other heads.
 */
#if N == 3
#define HEADS 2
#define ALONE 2 /* the member without a group */
#elif N == 4
#define HEADS 2
#define ALONE 7
#else
#define HEADS 3
#define ALONE 4
#endif
#define SLOTS   4 /* two for the rounds among heads, then: */
#define FLAG    2
#define ARRIVAL 3
#include "harness.pml"

#define HEAD(i)    (2 * (i))
#define ISLAND(m)  ((m) / 2)
#define IS_HEAD(m) ((m) % 2 == 0)
/* Both parities are one word; the next store to it is made when this one has been seen. */
#define RELEASED(m) CELL(m, FLAG, 0)
#define ARRIVED(m)  CELL(m, ARRIVAL, 0)
#define NEXT(g)     (((g) + 1) % SPACE)

proctype device(byte i)
{
	byte g; /* the last round that is complete */

	do
	:: atomic {
		word[ARRIVED(HEAD(i))] == NEXT(g) && word[ARRIVED(HEAD(i) + 1)] == NEXT(g) ->
			g = NEXT(g)
	}
	set(RELEASED(HEAD(i)), g);
	set(RELEASED(HEAD(i) + 1), g) /* which lands before or after */
	od
}

/* Arrive at the next round of the island's group. */
inline arrive()
{
	g = NEXT(g);
	set(ARRIVED(me), g)
}

inline heads()
{
	atomic {
		distance = 1;
		slot = 0;
		set(CELL(HEAD((ISLAND(me) + 1) % HEADS), 0, seq), seq)
	}
	do
	:: atomic {
		distance < HEADS && REACHED(word[CELL(me, slot, seq)], seq) ->
			distance = distance * 2;
			slot++;
			if
			:: distance < HEADS ->
				set(CELL(HEAD((ISLAND(me) + distance) % HEADS), slot, seq), seq)
			:: else ->
				skip
			fi
	}
	:: distance >= HEADS ->
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
			heads()
		:: else ->
#ifdef UNGATHERED
			if
			:: IS_HEAD(me) -> heads()
			:: else
			fi;
#else
			arrive();
			REACHED(word[RELEASED(me)], g);
#ifdef EARLY
			arrive();
#endif
			if
			:: IS_HEAD(me) -> heads()
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

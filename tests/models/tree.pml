/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tree of degree K: a member signals its parent when all its children have signalled it, and its
 * children when its parent has. Member 0 is the root. SLOTS is 2 * K: the arrivals of the children,
 * then the releases, one slot for each place among the children of a parent.
 *
 * FORWARD (a fault): a member signals its parent before its children have signalled it.
 * UNRELEASED (a fault): a member leaves, and releases its children, when its subtree has arrived.
 * SHARED (a fault): all children of a member arrive in one slot, which the parent reads once.
 */
#define SLOTS (2 * K)
#include "harness.pml"

#define CHILD(m, place)  ((m) * K + 1 + (place))
#define PARENT(m)        (((m) - 1) / K)
#ifdef SHARED
#define PLACE(m)         0
#define CHILDREN(m)      (CHILD(m, 0) < N -> 1 : 0)
#else
#define PLACE(m)         (((m) - 1) % K)
#define CHILDREN(m)      (CHILD(m, K - 1) < N -> K : (CHILD(m, 0) < N -> N - CHILD(m, 0) : 0))
#endif

inline arrive()
{
	if
	:: me > 0 ->
		set(CELL(PARENT(me), PLACE(me), seq), seq)
	:: else ->
		skip
	fi
}

inline release()
{
	i = 0;
	do
	:: i < K && CHILD(me, i) < N ->
		set(CELL(CHILD(me, i), K + (CHILD(me, i) - 1) % K, seq), seq);
		i++
	:: else ->
		break
	od;
	i = 0
}

proctype member(byte me)
{
	byte seq, seen, i;

	do
	:: seq = (seq + 1) % SPACE;
		atomic {
			entered[me] = seq;
			seen = 0;
#ifdef FORWARD
			arrive()
#else
			if
			:: CHILDREN(me) == 0 ->
				arrive()
			:: else ->
				skip
			fi
#endif
		}
		do
		:: atomic {
			seen < CHILDREN(me) && REACHED(word[CELL(me, seen, seq)], seq) ->
				seen++;
#ifndef FORWARD
				if
				:: seen == CHILDREN(me) ->
					arrive()
				:: else ->
					skip
				fi
#endif
		}
		:: seen == CHILDREN(me) ->
			break
		od;
#ifndef UNRELEASED
		if
		:: me == 0 ->
			skip
		:: me > 0 && REACHED(word[CELL(me, K + (me - 1) % K, seq)], seq) ->
			skip
		fi;
#endif
		atomic {
			release()
		}
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
		od
	}
}

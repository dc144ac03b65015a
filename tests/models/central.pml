/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * v3: set the own flag, then read the flags of all others.
 *
 * READ_FIRST (a fault): read the others, then set the own flag.
 * RESET (a fault): reset the flag after the barrier, for the next one (SPACE 8: with 4, two back
 * and two ahead are one).
 */
#define SLOTS 1
#include "harness.pml"

proctype member(byte me)
{
	byte seq, seen, i;

	do
	:: seq = (seq + 1) % SPACE;
		atomic {
			entered[me] = seq;
			seen = 1;
#ifndef READ_FIRST
			set(CELL(me, 0, seq), seq)
#endif
		}
		do
		:: seen < N && REACHED(word[CELL((me + seen) % N, 0, seq)], seq) ->
			seen++
		:: seen == N ->
			break
		od;
#ifdef READ_FIRST
		set(CELL(me, 0, seq), seq);
#endif
		leave(seq);
#ifdef RESET
		atomic {
			empty(flight[CELL(me, 0, seq)]);
			set(CELL(me, 0, seq), (seq + SPACE - 2) % SPACE)
		}
		empty(flight[CELL(me, 0, seq)])
#endif
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

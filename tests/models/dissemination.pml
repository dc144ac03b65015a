/* SPDX-License-Identifier: BSD-3-Clause */
/* v1: in round r signal the member 2^r behind, and wait for the member 2^r ahead. EAGER (a fault):
 * send all signals at once. */
#include "harness.pml"

proctype member(byte me)
{
	byte seq, slot, distance, i;

	do
	:: seq = (seq + 1) % SPACE;
		atomic {
			entered[me] = seq;
			distance = 1;
			slot = 0;
			set(CELL((me + 1) % N, 0, seq), seq);
#ifdef EAGER
			do
			:: distance * 2 < N ->
				distance = distance * 2;
				slot++;
				set(CELL((me + distance) % N, slot, seq), seq)
			:: else ->
				break
			od;
			distance = 1;
			slot = 0
#endif
		}
		do
		:: atomic {
			distance < N && REACHED(word[CELL(me, slot, seq)], seq) ->
				distance = distance * 2;
				slot++;
#ifndef EAGER
				if
				:: distance < N ->
					set(CELL((me + distance) % N, slot, seq), seq)
				:: else ->
					skip
				fi
#endif
		}
		:: distance >= N ->
			break
		od;
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

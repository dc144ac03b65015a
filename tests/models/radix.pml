/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * v2: in a round with distance d signal the members at d, 2d, ... (K - 1)d, and wait for as many
 * signals before the next round.
 *
 * LANES (the fault of the source library): each lane continues to its next round by itself. A
 * signal can then count for members whose signals its sender has not received, and a member leaves
 * too early when N > K.
 */
#include "harness.pml"

#ifndef LANES
/* Send all signals of the round with this distance; `first` is its first slot. */
inline signal_all()
{
	lane = 1;
	do
	:: lane < K && lane * distance < N ->
		set(CELL((me + lane * distance) % N, first + lane - 1, seq), seq);
		lane++
	:: else ->
		break
	od;
	lane = 1
}

proctype member(byte me)
{
	byte seq, first, distance, lane, i;

	do
	:: seq = (seq + 1) % SPACE;
		atomic {
			entered[me] = seq;
			distance = 1;
			first = 0;
			signal_all()
		}
		do
		:: atomic {
			distance < N && lane < K && lane * distance < N &&
				REACHED(word[CELL(me, first + lane - 1, seq)], seq) ->
				lane++;
				if
				:: lane == K || lane * distance >= N ->
					first = first + K - 1;
					distance = distance * K;
					signal_all()
				:: else ->
					skip
				fi
		}
		:: distance >= N ->
			break
		od;
		leave(seq)
	od
}
#else
/* Two lanes (K = 3) and two rounds are enough to show the fault. */
#define RECEIVED(lane, round)  REACHED(word[CELL(me, 2 * (round) + (lane) - 1, seq)], seq)
#define SIGNAL(lane, round, far) set(CELL((me + far) % N, 2 * (round) + (lane) - 1, seq), seq)

proctype member(byte me)
{
	byte seq, one, two, i;

	do
	:: seq = (seq + 1) % SPACE;
		atomic {
			entered[me] = seq;
			one = 0;
			two = 0;
			SIGNAL(1, 0, 1);
			SIGNAL(2, 0, 2)
		}
		do
		:: atomic {
			one == 0 && RECEIVED(1, 0) ->
				one = 1;
				SIGNAL(1, 1, 3)
		}
		:: one == 1 && RECEIVED(1, 1) ->
			one = 2
		:: two == 0 && RECEIVED(2, 0) ->
			two = 2 /* 2 * 3 is not below 6 */
		:: one == 2 && two == 2 ->
			break
		od;
		leave(seq)
	od
}
#endif

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

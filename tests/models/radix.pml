/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * v2: in a round with distance d tell the members at d, 2d, ... (K - 1)d, and wait for as many
 * before the next round.
 *
 * LANES (the source library's fault): each lane goes on to its next round by itself. A member can
 * then be told of others whom the teller has not heard, and leaves too early when N > K.
 */
#include "harness.pml"

#ifndef LANES
/* All signals of the round with this distance; `first` is its first slot. */
inline tell()
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
			tell()
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
					tell()
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
/* Two lanes (K = 3) and two rounds are enough to show it. */
#define HEARD(lane, round)  REACHED(word[CELL(me, 2 * (round) + (lane) - 1, seq)], seq)
#define TELL(lane, round, far) set(CELL((me + far) % N, 2 * (round) + (lane) - 1, seq), seq)

proctype member(byte me)
{
	byte seq, one, two, i;

	do
	:: seq = (seq + 1) % SPACE;
		atomic {
			entered[me] = seq;
			one = 0;
			two = 0;
			TELL(1, 0, 1);
			TELL(2, 0, 2)
		}
		do
		:: atomic {
			one == 0 && HEARD(1, 0) ->
				one = 1;
				TELL(1, 1, 3)
		}
		:: one == 1 && HEARD(1, 1) ->
			one = 2
		:: two == 0 && HEARD(2, 0) ->
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

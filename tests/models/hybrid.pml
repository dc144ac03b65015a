/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several nodes: gather in the node on a counter, v1 among the leaders, release in the node by one
 * word. Members 0, 1 and 2 are on node 0, 3 and 4 on node 1, and 5 is alone on node 2. The leader
 * of a node is its first member. NODES is 1, 2 or 3, and N is 3, 5 or 6 to match.
 *
 * With one node no leader is needed: the last member to arrive releases the node (FLAT).
 *
 * The counter is an atomic add. It is performed at once, but not before the earlier stores of its
 * member have landed (release). The counter is never reset: in the product it has 64 bits, here it
 * runs modulo 4 barriers.
 *
 * EARLY (a fault): the leader releases its node before the signals of the other nodes have come.
 * RESET (a fault): the leader resets the counter to 0 after it has released the node.
 */
#define LEADERS NODES
#define SLOTS   3 /* two for the rounds among leaders; the last one is the node's release word */
#define RELEASE 2
#include "harness.pml"

#define NODE(m)   ((m) < 3 -> 0 : ((m) < 5 -> 1 : 2))
#define LEADER(n) ((n) == 0 -> 0 : ((n) == 1 -> 3 : 5))
#define HERE(n)   ((n) == 0 -> 3 : ((n) == 1 -> 2 : 1))
/* Both parities of the release word are one word. */
#define RELEASED(n) CELL(LEADER(n), RELEASE, 0)

byte arrived[NODES];

proctype member(byte me)
{
	byte seq, slot, distance, i;
	byte node = NODE(me);

	do
	:: seq = (seq + 1) % SPACE;
		entered[me] = seq;
#ifdef FLAT
		atomic {
			empty(flight[RELEASED(0)]); /* the member's own word: the others have read it */
			arrived[0] = (arrived[0] + 1) % (N * SPACE);
			if
			:: arrived[0] == (N * seq) % (N * SPACE) ->
				set(RELEASED(0), seq)
			:: else ->
				skip
			fi
		}
		REACHED(word[RELEASED(0)], seq);
#else
#ifdef RESET
		arrived[node]++;
#else
		arrived[node] = (arrived[node] + 1) % (HERE(node) * SPACE);
#endif
		if
		:: me != LEADER(node) ->
			REACHED(word[RELEASED(node)], seq)
		:: else ->
#ifdef RESET
			arrived[node] == HERE(node);
#else
			arrived[node] == (HERE(node) * seq) % (HERE(node) * SPACE);
#endif
#ifdef EARLY
			set(RELEASED(node), seq);
#endif
			atomic {
				distance = 1;
				slot = 0;
				if
				:: LEADERS > 1 ->
					set(CELL(LEADER((node + 1) % LEADERS), 0, seq), seq)
				:: else ->
					skip
				fi
			}
			do
			:: atomic {
				distance < LEADERS && REACHED(word[CELL(me, slot, seq)], seq) ->
					distance = distance * 2;
					slot++;
					if
					:: distance < LEADERS ->
						set(CELL(LEADER((node + distance) % LEADERS), slot, seq), seq)
					:: else ->
						skip
					fi
			}
			:: distance >= LEADERS ->
				break
			od;
#ifndef EARLY
			if
			:: HERE(node) > 1 ->
				set(RELEASED(node), seq)
			:: else ->
				skip /* no member would read it */
			fi;
#endif
#ifdef RESET
			arrived[node] = 0
#endif
		fi;
#endif
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

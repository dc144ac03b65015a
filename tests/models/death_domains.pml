/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of the rounds of a device that dies, as in death.pml, with two switch domains
 * (gba/path/path_hybrid.c). Members 0 and 1 have the group of a device that may die, and member 2
 * is alone in its domain. Members 0 and 2 are the domain leaders. Round n of this model is rounds
 * 2n - 1 and 2n of the group. Between them the domain leaders send each other one message each.
 *
 * The graph of the team is the chain 0 - 2 - 1, or with APART the chain 0 - 1 - 2, in which the
 * domain leaders are no neighbours; the tree is the same chain. The leaders of one domain, members
 * 0 and 1, are neighbours of each other in any case. A domain leader sends "completed" to its
 * neighbours while it waits for the other domain leaders. (Only teams of more than three members
 * need that; see test_domains_failover.)
 *
 * LONE: the device may die for member 0 alone.
 *
 * No member may leave a round that another member has not begun. At its end all members must agree
 * whether a member bypassed the device in it. The messages of the domain leaders of that round must
 * have been sent and read.
 *
 * EAGER (a fault): a domain leader whose device has failed continues to the second round, or
 *   leaves.
 * RUDE (a fault): a domain leader that is notified that n is complete leaves without the other
 *   domain leaders.
 * SILENT (a fault): a member that has completed a round does not answer.
 * NO_EXTRA_PEERS (a fault): the leaders of a domain are no neighbours. Found with LONE.
 */
#define N 3
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define NONE 7 /* no member bypasses the device */
#define LEAST(a, b) ((b) < (a) -> (b) : (a))

bool dead;         /* for all */
bool dead_0;       /* for member 0 */
byte entered[N];   /* the round that each member has begun */
byte completed[N]; /* the last round that each member has completed */
bool failed[N];
byte first[N];
byte done[N];      /* the last round that is complete by a notification */
byte notified[N];  /* the last round of which each member has notified the others */
byte arrivals[9];  /* [me * N + other]: the last round at which the other is known to have arrived */
byte pushed[9];    /* [from * N + to]: the last round of which "completed" was sent */
byte announced[N]; /* the last complete round of which all neighbours are notified */
byte subtree_sent[N]; /* the last round of which the parent knows the whole subtree */
byte verdict[4] = 2; /* by round: 0 or 1 once a member has completed it; 2: none has */

/* The parent of the LAST is the MIDDLE, and that of the MIDDLE is member 0. */
#ifdef APART
#define MIDDLE 1
#define LAST   2
#else
#define MIDDLE 2
#define LAST   1
#endif
#if defined(NO_EXTRA_PEERS) || defined(APART)
#define NEAR(a, b) ((a) != (b) && ((a) == MIDDLE || (b) == MIDDLE))
#else
#define NEAR(a, b) ((a) != (b))
#endif

/* Notifications in transit, by sender and receiver: a round, the first_bypassed that the sender
 * knew, and the kind: the sender has arrived, its subtree has arrived, or the round is complete. */
#define ARRIVED 0
#define SUBTREE 1
#define COMPLETED    2
#define FLIGHT(a, b) flight[(a) * N + (b)]
chan flight[9] = [6] of { byte, byte, byte }

/* A member enters round n. It bypasses the device, if it has detected the failure, and always from
 * then on. It arrives at the device, if a notification has come and it has not processed it yet. */
inline begin()
{
	atomic {
		entered[me] = n;
		if
		:: failed[me] ->
			bypassing = true;
			first[me] = LEAST(first[me], n)
		:: !bypassing
		fi
	}
}

/* Send "completed r" to a neighbour, once. */
inline completed_to(to, r)
{
	if
	:: NEAR(me, to) && pushed[me * N + to] < r ->
		pushed[me * N + to] = r;
#ifndef SILENT
		FLIGHT(me, to) ! r, first[me], COMPLETED
#endif
	:: else
	fi
}

inline completed_to_all(r)
{
	completed_to(0, r);
	completed_to(1, r);
	completed_to(2, r)
}

/* The member leaves n. */
inline complete()
{
	atomic {
		if
		:: failed[me] -> completed_to_all(n)
		:: else
		fi;
		assert(entered[0] >= n && entered[1] >= n && entered[2] >= n);
		assert(verdict[n] == 2 || verdict[n] == (first[me] <= n)); /* all members agree */
		verdict[n] = (first[me] <= n);
		completed[me] = n;
		n++
	}
}

inline notify(to)
{
	if
	:: NEAR(me, to) -> FLIGHT(me, to) ! n, first[me], ARRIVED
	:: else
	fi
}

inline take(from)
{
	atomic {
		nempty(FLIGHT(from, me)) ->
		FLIGHT(from, me) ? r, s, o;
		if
		:: o == COMPLETED -> done[me] = (r > done[me] -> r : done[me])
		:: o == SUBTREE ->
			arrivals[me * N + LAST] = (r > arrivals[me * N + LAST] -> r : arrivals[me * N + LAST]);
			arrivals[me * N + from] = (r > arrivals[me * N + from] -> r : arrivals[me * N + from])
		:: else ->
			arrivals[me * N + from] = (r > arrivals[me * N + from] -> r : arrivals[me * N + from]);
			/* A member that is in the round sends "completed" at its end, because its device has failed
			 * now. */
			answers = completed[me] >= r
		fi;
		first[me] = LEAST(first[me], s);
		failed[me] = true;
		if
		:: answers -> completed_to(from, r)
		:: else
		fi;
		answers = false;
		r = 0;
		s = 0;
		o = 0
	}
}

#define ALL_ARRIVED (arrivals[me * N + (me + 1) % N] >= n && arrivals[me * N + (me + 2) % N] >= n)

/* Whether notifications state that n is complete. */
#define COMPLETE (done[me] >= n || (failed[me] && ALL_ARRIVED))

/* The progress engine of one member. */
proctype service(byte me)
{
	byte r, s, o;
	bool answers;

end:	do
	:: take((me + 1) % N)
	:: take((me + 2) % N)
	od
}

byte taken[2];  /* the last arrival of each that the device has taken */
byte stored[2]; /* the last release that it has sent to each, */
byte flag[2];   /* and the last that has landed */
byte sent[N];   /* the last barrier of which each domain leader has sent its message to the other, */
byte got[N];    /* and has received the other's; the messages between are in transit */

active proctype device()
{
end:	do
	:: atomic { !dead && taken[0] == taken[1] && stored[0] < taken[0] -> stored[0] = taken[0] }
	:: atomic { !dead && stored[1] < stored[0] -> stored[1] = stored[0] }
#ifdef LONE
	:: atomic { !dead_0 -> dead_0 = true }
#else
	:: atomic { !dead -> dead = true }
#endif
	/* A store in transit lands, whether the device is dead or not. */
	:: atomic { flag[0] < stored[0] -> flag[0] = stored[0] }
	:: atomic { flag[1] < stored[1] -> flag[1] = stored[1] }
	:: atomic { got[0] < sent[2] -> got[0]++ }
	:: atomic { got[2] < sent[0] -> got[2]++ }
	od
}

/* A dead device takes no arrival. */
inline arrive(g)
{
	if
	:: !dead && !(me == 0 && dead_0) -> taken[me] = g
	:: else
	fi
}

#ifdef EAGER
#define HELD false
#else
#define HELD (notified[me] >= n) /* from then on the failure is known, also to this member */
#endif

/* The steps of a member that does not bypass, as far as it gets without notifications; step is the
 * event that it waits for. */
#define GATHERED 1
#define LEADERS    2
#define RELEASED 3

proctype member(byte me)
{
	byte n = 1, step;
	bool bypassing;

	do
	:: n > ROUNDS ->
		break
	:: else ->
		begin();
		atomic {
			step = 0;
			if
			:: bypassing
			:: !bypassing && me < 2 ->
				arrive(2 * n - 1);
				step = GATHERED
			:: !bypassing && me == 2 ->
				sent[2] = n;
				step = LEADERS
			fi
		}
		do
		:: atomic { step == GATHERED && flag[me] >= 2 * n - 1 ->
			if
			:: me == 0 ->
				sent[0] = n;
				step = LEADERS
			:: else ->
				arrive(2 * n);
				step = RELEASED
			fi
		}
		:: atomic { step == LEADERS && got[me] >= n && !HELD ->
			if
			:: me == 0 ->
				arrive(2 * n);
				step = RELEASED
			:: else ->
				break
			fi
		}
		:: atomic { step == RELEASED && flag[me] >= 2 * n -> break }
#ifndef RUDE
		:: atomic { COMPLETE && me != 1 && sent[me] < n ->
			sent[me] = n;
			step = LEADERS
		}
		:: atomic { COMPLETE && (me == 1 || (sent[me] == n && got[me] >= n)) -> break }
#else
		:: atomic { COMPLETE -> break }
#endif
		:: atomic { (dead || (me == 0 && dead_0)) && me < 2 && !failed[me] -> failed[me] = true }
		:: atomic { failed[me] && notified[me] < n -> notified[me] = n; notify(0); notify(1); notify(2) }
		:: atomic {
			me == MIDDLE && notified[me] == n && subtree_sent[me] < n &&
			arrivals[me * N + LAST] >= n ->
			subtree_sent[me] = n;
			FLIGHT(MIDDLE, 0) ! n, first[me], SUBTREE
		}
		/* A domain leader that must wait for the other domain leaders notifies its neighbours now, not
		 * when it leaves. */
		:: atomic {
			COMPLETE && me != 1 && announced[me] < n && !(sent[me] == n && got[me] >= n) ->
			announced[me] = n;
			completed_to_all(n)
		}
		od;
		/* The member may leave now; the notifications to it are no longer needed. */
		assert(me == 1 || (sent[me] == n && got[me] >= n)); /* nothing is owed */
		complete()
	od
}

init
{
	byte m;

	atomic {
		do
		:: m < N ->
			first[m] = NONE;
			run member(m);
			run service(m);
			m++
		:: else ->
			break
		od
	}
}

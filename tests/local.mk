# Tests.

# Software barriers: the schedule, the algorithms against an adversary, and their models.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_sched tests/unit/test_soft
TESTS += tests/unit/test_sched tests/unit/test_soft
tests_unit_test_sched_SOURCES = tests/unit/test_sched.c
tests_unit_test_sched_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_sched_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
tests_unit_test_soft_SOURCES = tests/unit/test_soft.c tests/unit/soft_world.h \
	tests/unit/soft_search.h tests/unit/soft_mutants.h
tests_unit_test_soft_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_soft_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
endif
EXTRA_DIST += contrib/check-models \
	tests/models/world.pml tests/models/dissemination.pml tests/models/radix.pml \
	tests/models/central.pml tests/models/hybrid.pml

# The simulator: real processes, killed ones, and every option.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_sim
TESTS += tests/unit/test_sim
tests_unit_test_sim_SOURCES = tests/unit/test_sim.c tests/unit/sim_test.h
tests_unit_test_sim_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_sim_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
endif

# The engine: agreement of threads as members, and who shares a node.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_team tests/unit/test_topology
TESTS += tests/unit/test_team tests/unit/test_topology
tests_unit_test_team_SOURCES = tests/unit/test_team.c tests/unit/thread_oob.c tests/unit/thread_oob.h
tests_unit_test_team_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_team_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
tests_unit_test_topology_SOURCES = tests/unit/test_topology.c
tests_unit_test_topology_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_topology_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
endif

# Tests.

# Software barriers: the schedule, the algorithms against an adversary, and their models.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_sched tests/unit/test_soft
TESTS += tests/unit/test_sched tests/unit/test_soft
tests_unit_test_sched_SOURCES = tests/unit/test_sched.c
tests_unit_test_sched_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_sched_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
tests_unit_test_soft_SOURCES = tests/unit/test_soft.c tests/unit/soft_world.h \
	tests/unit/soft_search.h tests/unit/search.h tests/unit/soft_mutants.h
tests_unit_test_soft_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_soft_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
check_PROGRAMS += tests/unit/test_segment
TESTS += tests/unit/test_segment
tests_unit_test_segment_SOURCES = tests/unit/test_segment.c
tests_unit_test_segment_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_segment_LDFLAGS = -Wl,--wrap=fallocate
tests_unit_test_segment_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
endif
# Built from its sources, all of them with the sanitizer.
if HAVE_TSAN
check_PROGRAMS += tests/unit/test_soft_tsan tests/unit/test_recover_tsan
TESTS += tests/unit/test_soft_tsan tests/unit/test_recover_tsan
endif
tests_unit_test_soft_tsan_SOURCES = tests/unit/test_soft_tsan.c gba/signal/segment.c \
	gba/signal/shm.c gba/soft/sched.c gba/soft/dissemination.c gba/soft/radix.c \
	gba/soft/central.c gba/base/log.c gba/base/status.c gba/base/park.c
tests_unit_test_soft_tsan_CFLAGS = $(AM_CFLAGS) -fsanitize=thread
tests_unit_test_soft_tsan_LDADD = -lpthread
tests_unit_test_recover_tsan_SOURCES = tests/unit/test_recover_tsan.c gba/recover.c
tests_unit_test_recover_tsan_CFLAGS = $(AM_CFLAGS) -fsanitize=thread
tests_unit_test_recover_tsan_LDADD = -lpthread
EXTRA_DIST += contrib/check-models gba/soft/README.md \
	tests/models/world.pml tests/models/dissemination.pml tests/models/radix.pml \
	tests/models/central.pml tests/models/hybrid.pml tests/models/islands.pml \
	tests/models/death.pml tests/models/death_islands.pml

# The simulator: real processes, killed ones, and every option.
if HAVE_CMOCKA
GBA_SIM_TESTS = tests/unit/test_sim tests/unit/test_sim_find tests/unit/test_sim_fault \
	tests/unit/test_sim_kill tests/unit/test_sim_step tests/unit/test_sim_reclaim \
	tests/unit/test_sim_reclaim_kill
check_PROGRAMS += $(GBA_SIM_TESTS)
TESTS += $(GBA_SIM_TESTS)
tests_unit_test_sim_SOURCES = tests/unit/test_sim.c tests/unit/sim_test.h
tests_unit_test_sim_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_sim_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
tests_unit_test_sim_find_SOURCES = tests/unit/test_sim_find.c tests/unit/sim_test.h
tests_unit_test_sim_find_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_sim_find_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
tests_unit_test_sim_fault_SOURCES = tests/unit/test_sim_fault.c tests/unit/sim_test.h
tests_unit_test_sim_fault_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_sim_fault_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
tests_unit_test_sim_kill_SOURCES = tests/unit/test_sim_kill.c tests/unit/sim_test.h
tests_unit_test_sim_kill_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_sim_kill_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
tests_unit_test_sim_step_SOURCES = tests/unit/test_sim_step.c tests/unit/sim_test.h
tests_unit_test_sim_step_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_sim_step_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
tests_unit_test_sim_reclaim_SOURCES = tests/unit/test_sim_reclaim.c \
	tests/unit/sim_reclaim_test.h tests/unit/sim_test.h tests/unit/log_catch.h
tests_unit_test_sim_reclaim_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_sim_reclaim_LDFLAGS = -Wl,--wrap=gba_word_wake,--wrap=fallocate
tests_unit_test_sim_reclaim_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
tests_unit_test_sim_reclaim_kill_SOURCES = tests/unit/test_sim_reclaim_kill.c \
	tests/unit/sim_reclaim_test.h tests/unit/sim_test.h
tests_unit_test_sim_reclaim_kill_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_sim_reclaim_kill_LDFLAGS = -Wl,--wrap=gba_driver_can_reclaim
tests_unit_test_sim_reclaim_kill_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
endif

# The engine: agreement of threads as members, and who shares a node.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_team tests/unit/test_topology tests/unit/test_watch
TESTS += tests/unit/test_team tests/unit/test_topology tests/unit/test_watch
tests_unit_test_watch_SOURCES = tests/unit/test_watch.c tests/unit/heard.h \
	tests/unit/thread_oob.c tests/unit/thread_oob.h
tests_unit_test_watch_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_watch_LDFLAGS = -Wl,--wrap=gba_group_inspect
tests_unit_test_watch_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
tests_unit_test_team_SOURCES = tests/unit/test_team.c tests/unit/thread_oob.c tests/unit/thread_oob.h
tests_unit_test_team_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_team_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
tests_unit_test_topology_SOURCES = tests/unit/test_topology.c
tests_unit_test_topology_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_topology_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
endif

# The model of the device and of its driver, rule by rule of gba/spec/device.md.
# The fuzzer builds itself, with clang, and says that it was skipped where there is none.
dist_check_SCRIPTS += contrib/check-rules contrib/fuzz
TESTS += contrib/check-rules contrib/fuzz
EXTRA_DIST += tests/fuzz/fuzz_model.c tests/fuzz/shadow.c tests/fuzz/shadow.h
if HAVE_CMOCKA
GBA_MODEL_TESTS = \
	tests/unit/test_model tests/unit/test_model_config tests/unit/test_model_errors \
	tests/unit/test_model_rounds tests/unit/test_driver tests/unit/test_driver_repair \
	tests/unit/test_driver_reclaim
check_PROGRAMS += $(GBA_MODEL_TESTS)
TESTS += $(GBA_MODEL_TESTS)
tests_unit_test_model_SOURCES = tests/unit/test_model.c tests/unit/model_bench.h
tests_unit_test_model_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_model_LDADD = sim/libgbamodel.la $(CMOCKA_LIBS)
tests_unit_test_model_config_SOURCES = tests/unit/test_model_config.c tests/unit/model_bench.h
tests_unit_test_model_config_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_model_config_LDADD = sim/libgbamodel.la $(CMOCKA_LIBS)
tests_unit_test_model_errors_SOURCES = tests/unit/test_model_errors.c tests/unit/model_bench.h
tests_unit_test_model_errors_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_model_errors_LDADD = sim/libgbamodel.la $(CMOCKA_LIBS)
tests_unit_test_model_rounds_SOURCES = tests/unit/test_model_rounds.c tests/unit/model_bench.h
tests_unit_test_model_rounds_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_model_rounds_LDADD = sim/libgbamodel.la $(CMOCKA_LIBS)
tests_unit_test_driver_SOURCES = tests/unit/test_driver.c tests/unit/driver_bench.h
tests_unit_test_driver_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_driver_LDADD = sim/libgbamodel.la $(CMOCKA_LIBS)
tests_unit_test_driver_repair_SOURCES = tests/unit/test_driver_repair.c \
	tests/unit/driver_bench.h
tests_unit_test_driver_repair_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_driver_repair_LDADD = sim/libgbamodel.la $(CMOCKA_LIBS)
tests_unit_test_driver_reclaim_SOURCES = tests/unit/test_driver_reclaim.c \
	tests/unit/driver_bench.h
tests_unit_test_driver_reclaim_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_driver_reclaim_LDADD = sim/libgbamodel.la $(CMOCKA_LIBS)
endif

# MPI programs, for tests/mpi/run and not for "make check": they need an installed plugin.
GBA_MPI_TESTS = \
	tests/mpi/early_exit tests/mpi/many tests/mpi/kinds tests/mpi/churn tests/mpi/colls \
	tests/mpi/threads tests/mpi/outstanding tests/mpi/progress tests/mpi/groups tests/mpi/spawn \
	tests/mpi/ibarrier tests/mpi/death tests/mpi/stuck tests/mpi/scarce
check_PROGRAMS += $(GBA_MPI_TESTS)
check_LIBRARIES = tests/mpi/libtest.a
tests_mpi_libtest_a_SOURCES = tests/program.h tests/program.c tests/mpi/test.h tests/mpi/test.c \
	tests/mpi/proof.h tests/mpi/proof.c
GBA_MPI_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_mpi_libtest_a_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
GBA_MPI_LIBS = tests/mpi/libtest.a $(MPI_LIBS) -lpthread
tests_mpi_early_exit_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
tests_mpi_early_exit_LDADD = $(GBA_MPI_LIBS)
tests_mpi_scarce_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
tests_mpi_scarce_LDADD = $(GBA_MPI_LIBS)
tests_mpi_death_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
tests_mpi_death_LDADD = $(GBA_MPI_LIBS)
tests_mpi_stuck_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
tests_mpi_stuck_LDADD = $(GBA_MPI_LIBS)
tests_mpi_many_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
tests_mpi_many_LDADD = $(GBA_MPI_LIBS)
tests_mpi_kinds_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
tests_mpi_kinds_LDADD = $(GBA_MPI_LIBS)
tests_mpi_churn_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
tests_mpi_churn_LDADD = $(GBA_MPI_LIBS)
tests_mpi_colls_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
tests_mpi_colls_LDADD = $(GBA_MPI_LIBS)
tests_mpi_threads_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
tests_mpi_threads_LDADD = $(GBA_MPI_LIBS)
tests_mpi_outstanding_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
tests_mpi_outstanding_LDADD = $(GBA_MPI_LIBS)
tests_mpi_progress_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
tests_mpi_progress_LDADD = $(GBA_MPI_LIBS)
tests_mpi_groups_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
tests_mpi_groups_LDADD = $(GBA_MPI_LIBS)
tests_mpi_spawn_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
tests_mpi_spawn_LDADD = $(GBA_MPI_LIBS)
tests_mpi_ibarrier_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
tests_mpi_ibarrier_LDADD = $(GBA_MPI_LIBS)
# Preloaded into them, to show that they find what is wrong. -rpath: else libtool makes an archive.
check_LTLIBRARIES = tests/mpi/broken.la
tests_mpi_broken_la_SOURCES = tests/mpi/broken.c
tests_mpi_broken_la_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
tests_mpi_broken_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_mpi_broken_la_LIBADD = $(MPI_LIBS)
# An example, preloaded into them as well, for a test of what it reads.
check_LTLIBRARIES += contrib/examples/mpi_t/barrier_stats.la
contrib_examples_mpi_t_barrier_stats_la_SOURCES = contrib/examples/mpi_t/barrier_stats.c
contrib_examples_mpi_t_barrier_stats_la_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
# The functions that it replaces have to be seen.
contrib_examples_mpi_t_barrier_stats_la_CFLAGS = $(AM_CFLAGS) -fvisibility=default
contrib_examples_mpi_t_barrier_stats_la_LDFLAGS = $(tests_mpi_broken_la_LDFLAGS)
contrib_examples_mpi_t_barrier_stats_la_LIBADD = $(MPI_LIBS)
EXTRA_DIST += contrib/examples/mpi_t/README.md
EXTRA_DIST += tests/mpi/run tests/mpi/cases.sh tests/mpi/faults.sh tests/cluster
# Ranks of one host that pretend to be on several.
check_LTLIBRARIES += tests/mpi/hosts_preload.la
tests_mpi_hosts_preload_la_SOURCES = tests/mpi/hosts_preload.c
tests_mpi_hosts_preload_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_mpi_hosts_preload_la_LIBADD = -ldl

# One suite for every backend: the bare model, the simulator, and /dev/gbaN on a fake kernel.
if HAVE_CMOCKA
GBA_FAKE_KERNEL = tests/unit/fake_kernel.h tests/unit/fake_kernel.c \
	tests/unit/fake_driver.h tests/unit/fake_driver.c
check_PROGRAMS += tests/conformance/conformance
TESTS += tests/conformance/conformance
tests_conformance_conformance_SOURCES = $(GBA_FAKE_KERNEL) \
	tests/conformance/conformance.h tests/conformance/main.c tests/conformance/bench.c \
	tests/conformance/backend_bare.c tests/conformance/backends.c \
	tests/conformance/life.c tests/conformance/rounds.c tests/conformance/registers.c
tests_conformance_conformance_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_conformance_conformance_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
endif

# /dev/gbaN on the fake kernel: every error of every call.
if HAVE_CMOCKA
GBA_CDEV_TESTS = tests/unit/test_cdev tests/unit/test_cdev_flags tests/unit/test_cdev_open \
	tests/unit/test_cdev_reclaim
check_PROGRAMS += $(GBA_CDEV_TESTS)
TESTS += $(GBA_CDEV_TESTS)
tests_unit_test_cdev_SOURCES = tests/unit/test_cdev.c tests/unit/cdev_test.h \
	tests/unit/log_catch.h $(GBA_FAKE_KERNEL)
tests_unit_test_cdev_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_cdev_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
tests_unit_test_cdev_flags_SOURCES = tests/unit/test_cdev_flags.c tests/unit/cdev_test.h \
	tests/unit/log_catch.h $(GBA_FAKE_KERNEL)
tests_unit_test_cdev_flags_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_cdev_flags_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
tests_unit_test_cdev_open_SOURCES = tests/unit/test_cdev_open.c tests/unit/cdev_test.h \
	tests/unit/log_catch.h $(GBA_FAKE_KERNEL)
tests_unit_test_cdev_open_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_cdev_open_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
tests_unit_test_cdev_reclaim_SOURCES = tests/unit/test_cdev_reclaim.c tests/unit/cdev_test.h \
	tests/unit/log_catch.h $(GBA_FAKE_KERNEL)
tests_unit_test_cdev_reclaim_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_cdev_reclaim_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
endif

# Software barriers of teams. Some functions of the library are replaced for it by the linker.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_software
TESTS += tests/unit/test_software
tests_unit_test_software_SOURCES = tests/unit/test_software.c tests/unit/log_catch.h \
	tests/unit/team_world.c tests/unit/team_world.h tests/unit/thread_oob.c tests/unit/thread_oob.h
tests_unit_test_software_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_software_LDFLAGS = -Wl,--wrap=gba_host_get,--wrap=gba_shm_segment_attach
tests_unit_test_software_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
endif
EXTRA_DIST += tests/mpi/hosts tests/mpi/hosts.sh tests/mpi/software.sh tests/mpi/islands.sh
EXTRA_DIST += tests/mpi/sanitize tests/mpi/sanitize.sh tests/mpi/kills tests/mpi/kills.sh
# What a long wait costs.
check_PROGRAMS += tests/mpi/idle
tests_mpi_idle_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
tests_mpi_idle_LDADD = $(GBA_MPI_LIBS)
# A message that is no signal; sent below MPI, which has no such tags.
check_PROGRAMS += tests/mpi/stray
tests_mpi_stray_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
tests_mpi_stray_CFLAGS = $(AM_CFLAGS) $(OMPI_CFLAGS)
tests_mpi_stray_LDADD = $(GBA_MPI_LIBS)
# Somebody leaves a barrier before all that he has sent has got out; by a look below MPI as well.
check_PROGRAMS += tests/mpi/leave
tests_mpi_leave_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
tests_mpi_leave_CFLAGS = $(AM_CFLAGS) $(OMPI_CFLAGS)
tests_mpi_leave_LDADD = $(GBA_MPI_LIBS)

# A barrier group among the leaders of nodes: what it is and does, and what cannot be had.
if HAVE_CMOCKA
GBA_GROUP_WORLD = tests/unit/group_world.c tests/unit/group_world.h \
	tests/unit/team_world.c tests/unit/team_world.h tests/unit/thread_oob.c tests/unit/thread_oob.h
GBA_GROUP_WRAP = -Wl,--wrap=gba_host_get,--wrap=gba_shm_segment_attach \
	-Wl,--wrap=gba_group_take,--wrap=gba_configure_group
check_PROGRAMS += tests/unit/test_hierarchy tests/unit/test_hierarchy_failures
TESTS += tests/unit/test_hierarchy tests/unit/test_hierarchy_failures
tests_unit_test_hierarchy_SOURCES = tests/unit/test_hierarchy.c tests/unit/hierarchy_world.h \
	tests/unit/heard.h tests/unit/log_catch.h $(GBA_GROUP_WORLD)
tests_unit_test_hierarchy_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_hierarchy_LDFLAGS = $(GBA_GROUP_WRAP) -Wl,--wrap=gba_group_inspect
tests_unit_test_hierarchy_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
tests_unit_test_hierarchy_failures_SOURCES = tests/unit/test_hierarchy_failures.c \
	tests/unit/hierarchy_world.h tests/unit/log_catch.h $(GBA_GROUP_WORLD)
tests_unit_test_hierarchy_failures_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_hierarchy_failures_LDFLAGS = $(GBA_GROUP_WRAP)
tests_unit_test_hierarchy_failures_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
endif

# Teams without a group that ask for one again.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_meet
TESTS += tests/unit/test_meet
tests_unit_test_meet_SOURCES = tests/unit/test_meet.c tests/unit/team_world.c \
	tests/unit/team_world.h tests/unit/thread_oob.c tests/unit/thread_oob.h
tests_unit_test_meet_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_meet_LDFLAGS = -Wl,--wrap=gba_host_get,--wrap=gba_shm_segment_attach
tests_unit_test_meet_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
endif

# Teams whose group is taken back.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_lost_group
TESTS += tests/unit/test_lost_group
tests_unit_test_lost_group_SOURCES = tests/unit/test_lost_group.c tests/unit/team_world.c \
	tests/unit/team_world.h tests/unit/thread_oob.c tests/unit/thread_oob.h
tests_unit_test_lost_group_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_lost_group_LDFLAGS = -Wl,--wrap=gba_host_get,--wrap=gba_shm_segment_attach \
	-Wl,--wrap=gba_group_take,--wrap=gba_group_inspect,--wrap=gba_request_group
tests_unit_test_lost_group_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
endif

# Teams that have lost their device, before they can agree on another path.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_interim
TESTS += tests/unit/test_interim
tests_unit_test_interim_SOURCES = tests/unit/test_interim.c tests/unit/heard.h \
	tests/unit/notice_world.c tests/unit/notice_world.h tests/unit/team_world.c \
	tests/unit/team_world.h tests/unit/thread_oob.c tests/unit/thread_oob.h
tests_unit_test_interim_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_interim_LDFLAGS = -Wl,--wrap=gba_host_get,--wrap=gba_shm_segment_attach \
	-Wl,--wrap=gba_recovery_register
tests_unit_test_interim_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
endif

# Islands of nodes, with a group each: what they are and do, what cannot be had, and the loss of
# groups.
if HAVE_CMOCKA
GBA_ISLANDS_WORLD = tests/unit/islands_world.c tests/unit/islands_world.h \
	tests/unit/log_catch.h tests/unit/notice_world.c tests/unit/notice_world.h $(GBA_GROUP_WORLD)
GBA_ISLANDS_WRAP = $(GBA_GROUP_WRAP) -Wl,--wrap=gba_recovery_register
GBA_ISLANDS_TESTS = tests/unit/test_islands tests/unit/test_islands_failures \
	tests/unit/test_islands_loss
check_PROGRAMS += $(GBA_ISLANDS_TESTS)
TESTS += $(GBA_ISLANDS_TESTS)
tests_unit_test_islands_SOURCES = tests/unit/test_islands.c tests/unit/heard.h $(GBA_ISLANDS_WORLD)
tests_unit_test_islands_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_islands_LDFLAGS = $(GBA_ISLANDS_WRAP)
tests_unit_test_islands_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
tests_unit_test_islands_failures_SOURCES = tests/unit/test_islands_failures.c $(GBA_ISLANDS_WORLD)
tests_unit_test_islands_failures_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_islands_failures_LDFLAGS = $(GBA_ISLANDS_WRAP)
tests_unit_test_islands_failures_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
tests_unit_test_islands_loss_SOURCES = tests/unit/test_islands_loss.c $(GBA_ISLANDS_WORLD)
tests_unit_test_islands_loss_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_islands_loss_LDFLAGS = $(GBA_ISLANDS_WRAP)
tests_unit_test_islands_loss_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
endif

# A member without memory in the agreement: calloc fails on demand. And rounds, counted once each.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_agree
TESTS += tests/unit/test_agree
tests_unit_test_agree_SOURCES = tests/unit/test_agree.c tests/unit/log_catch.h \
	tests/unit/thread_oob.c tests/unit/thread_oob.h
tests_unit_test_agree_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_agree_LDFLAGS = -Wl,--wrap=calloc,--wrap=gba_host_get
tests_unit_test_agree_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
check_PROGRAMS += tests/unit/test_rounds
TESTS += tests/unit/test_rounds
tests_unit_test_rounds_SOURCES = tests/unit/test_rounds.c tests/unit/thread_oob.c tests/unit/thread_oob.h
tests_unit_test_rounds_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_rounds_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
endif

# The end of the rounds of a dead device: the test takes in recover.c, and the rest of the library.
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test_recover
TESTS += tests/unit/test_recover
tests_unit_test_recover_SOURCES = tests/unit/test_recover.c tests/unit/recover_world.h \
	tests/unit/recover_search.h tests/unit/search.h
tests_unit_test_recover_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_recover_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
endif

# The ground floor: status, log, parameters, device paths.
if HAVE_CMOCKA
GBA_BASE_TESTS = tests/unit/test_base tests/unit/test_params tests/unit/test_path
check_PROGRAMS += $(GBA_BASE_TESTS)
TESTS += $(GBA_BASE_TESTS)
tests_unit_test_base_SOURCES = tests/unit/test_base.c tests/unit/log_catch.h
tests_unit_test_base_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_base_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
tests_unit_test_params_SOURCES = tests/unit/test_params.c
tests_unit_test_params_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_params_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
tests_unit_test_path_SOURCES = tests/unit/test_path.c
tests_unit_test_path_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_path_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
endif

# gba_info as a user runs it.
dist_check_SCRIPTS += tests/unit/test_gba_info
TESTS += tests/unit/test_gba_info

# OpenSHMEM programs, for tests/shmem/run.
if BUILD_OSHMEM
GBA_SHMEM_TESTS = tests/shmem/early_exit tests/shmem/many tests/shmem/sets tests/shmem/puts \
	tests/shmem/both tests/shmem/death tests/shmem/stray tests/shmem/threads
check_PROGRAMS += $(GBA_SHMEM_TESTS)
check_LIBRARIES += tests/shmem/libtest.a
tests_shmem_libtest_a_SOURCES = tests/program.h tests/program.c tests/shmem/test.h \
	tests/shmem/test.c
tests_shmem_libtest_a_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
GBA_SHMEM_TEST_LIBS = tests/shmem/libtest.a $(GBA_OSHMEM_LIBS) -lpthread
tests_shmem_early_exit_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
tests_shmem_early_exit_LDADD = $(GBA_SHMEM_TEST_LIBS)
tests_shmem_many_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
tests_shmem_many_LDADD = $(GBA_SHMEM_TEST_LIBS)
tests_shmem_sets_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
tests_shmem_sets_LDADD = $(GBA_SHMEM_TEST_LIBS)
tests_shmem_puts_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
tests_shmem_puts_LDADD = $(GBA_SHMEM_TEST_LIBS)
tests_shmem_death_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
tests_shmem_death_LDADD = $(GBA_SHMEM_TEST_LIBS)
tests_shmem_stray_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
tests_shmem_stray_LDADD = $(GBA_SHMEM_TEST_LIBS)
tests_shmem_threads_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
tests_shmem_threads_LDADD = $(GBA_SHMEM_TEST_LIBS)
tests_shmem_both_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
tests_shmem_both_LDADD = $(GBA_SHMEM_TEST_LIBS)
# Preloaded into them. -rpath: else libtool makes an archive.
check_LTLIBRARIES += tests/shmem/noquiet.la tests/shmem/broken.la tests/shmem/late_reader.la
tests_shmem_broken_la_SOURCES = tests/shmem/broken.c
tests_shmem_broken_la_CPPFLAGS = $(GBA_MPI_CPPFLAGS)
tests_shmem_broken_la_CFLAGS = $(AM_CFLAGS) -fvisibility=default
tests_shmem_broken_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_shmem_late_reader_la_SOURCES = tests/shmem/late_reader.c
tests_shmem_late_reader_la_CPPFLAGS = $(AM_CPPFLAGS) $(OSHMEM_CPPFLAGS)
tests_shmem_late_reader_la_CFLAGS = $(AM_CFLAGS) $(OMPI_CFLAGS) -fvisibility=default
tests_shmem_late_reader_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_shmem_late_reader_la_LIBADD = -ldl
tests_shmem_noquiet_la_SOURCES = tests/shmem/noquiet.c
tests_shmem_noquiet_la_CFLAGS = $(AM_CFLAGS) -fvisibility=default
tests_shmem_noquiet_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
endif
EXTRA_DIST += tests/shmem/run

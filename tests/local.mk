# SPDX-License-Identifier: BSD-3-Clause
# Tests. The flags of a group of programs stand here once, as variables of make for these targets:
# automake's own defaults are for all programs of the tree. "private" keeps them from what a target
# is made of. A program of one source file needs no line but its name in the list of its group.

# The unit tests of one room, or one test, and only their programs: make check-room ROOM=agree, ROOM=agree/test_plan.
check-room:
	@room='$(filter tests/unit/$(ROOM) tests/unit/$(ROOM)/%,$(TESTS))' && \
	{ test -n "$$room" || { echo "ROOM=$(ROOM) has no tests; allowed: a folder of tests/unit, or a file without its ending"; false; }; } && \
	$(MAKE) $(AM_MAKEFLAGS) $$room && \
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS check_PROGRAMS= check_LIBRARIES= check_LTLIBRARIES= TESTS="$$room"
.PHONY: check-room

# Unit tests: cmocka, and all of libgba from inside.
GBA_UNIT_TESTS = tests/conformance/conformance tests/conformance/conformance_switch \
	tests/unit/agree/test_agree_loop tests/unit/algo/test_algo tests/unit/base/test_base \
	tests/unit/base/test_batch_job tests/unit/bootstrap/test_boot_serve tests/unit/dev/test_cdev \
	tests/unit/dev/test_cdev_flags tests/unit/dev/test_cdev_open tests/unit/dev/test_cdev_owners \
	tests/unit/dev/test_cdev_revoke tests/unit/dev/test_choices tests/unit/dev/test_choose \
	tests/unit/base/test_cluster tests/unit/team/test_cores tests/unit/agree/test_cost \
	tests/unit/failover/test_degraded tests/unit/dev/test_device tests/unit/agree/test_domains \
	tests/unit/failover/test_domains_failover tests/unit/failover/test_facts tests/unit/failover/test_failover \
	tests/unit/failover/test_failover_states \
	tests/unit/path/test_hierarchy tests/unit/path/test_hierarchy_failures tests/unit/base/test_host \
	tests/unit/base/test_memory_file tests/unit/base/test_stall tests/unit/base/test_where \
	tests/unit/path/test_node_flags tests/unit/algo/test_numbering \
	tests/unit/base/test_order tests/unit/base/test_params tests/unit/dev/test_path tests/unit/agree/test_plan \
	tests/unit/agree/test_predict tests/unit/base/test_processors \
	tests/unit/gpu/test_gpu_caches tests/unit/failover/test_renegotiate tests/unit/base/test_resources tests/unit/failover/test_retry \
	tests/unit/algo/test_sched tests/unit/transport/test_segment \
	tests/unit/bootstrap/test_signals tests/unit/shm/test_sim tests/unit/shm/test_sim_alloc \
	tests/unit/shm/test_sim_fault tests/unit/shm/test_sim_find tests/unit/shm/test_sim_port \
	tests/unit/team/test_software \
	tests/unit/agree/test_steer tests/unit/switch/test_switch_client tests/unit/switch/test_switch_connect \
	tests/unit/switch/test_switch_wait tests/unit/team/test_runtime tests/unit/team/test_team \
	tests/unit/algo/test_topology tests/unit/agree/test_trial tests/unit/agree/test_trial_decisions \
	tests/unit/agree/test_trial_faults tests/unit/agree/test_trial_short tests/unit/team/test_wait \
	tests/unit/team/test_watchdog
# The model of the device, by rules of gba/spec/device.md. These link nothing but the model: it is
# pure.
# Those of tests/rtl can run on a design.
GBA_MODEL_TESTS = tests/unit/model/test_control_search tests/rtl/test_overlap tests/rtl/test_vectors
# These write the vectors.
GBA_RULE_TESTS = tests/unit/model/test_model tests/unit/model/test_model_errors tests/unit/model/test_model_rounds \
	tests/unit/model/test_control tests/unit/model/test_ports
# The core of gba-switchd: pure, too.
GBA_SWITCH_TESTS = tests/switch/test_core tests/switch/test_latency tests/switch/test_protocol
# Examples have unit tests, too: contrib/local.mk adds them.
GBA_OTHER_UNIT_TESTS = tests/gpu/test_gpu tests/gpu/test_gpu_life tests/gpu/test_gpu_ranks tests/unit/algo/test_exchange \
	tests/unit/predict/test_predict_engine tests/unit/predict/test_predict_memory tests/unit/tools/test_info
if HAVE_CMOCKA
check_PROGRAMS += $(GBA_UNIT_TESTS) $(GBA_MODEL_TESTS) $(GBA_RULE_TESTS) $(GBA_SWITCH_TESTS) $(GBA_OTHER_UNIT_TESTS)
TESTS += $(GBA_UNIT_TESTS) $(GBA_MODEL_TESTS) $(GBA_RULE_TESTS) $(GBA_SWITCH_TESTS) $(GBA_OTHER_UNIT_TESTS)
endif
tests/unit/%.$(OBJEXT) tests/conformance/%.$(OBJEXT) tests/switch/%.$(OBJEXT): private AM_CPPFLAGS += $(CMOCKA_CFLAGS)
$(GBA_UNIT_TESTS): private LDADD = tests/unit/libshared.a gba/libgbacore.la $(CMOCKA_LIBS)
$(GBA_UNIT_TESTS): tests/unit/libshared.a gba/libgbacore.la
$(GBA_MODEL_TESTS) $(GBA_RULE_TESTS): private LDADD = sim/libgbamodel.la $(CMOCKA_LIBS) -ldl
$(GBA_MODEL_TESTS) $(GBA_RULE_TESTS): sim/libgbamodel.la
tests/rtl/%.$(OBJEXT): private AM_CPPFLAGS += $(CMOCKA_CFLAGS)
# The vectors that make installs. A release has them, because neither a machine without cmocka nor a build for another
# architecture can make them. So they depend on no program.
if HAVE_VECTORS
dist_spec_DATA += gba/spec/vectors.jsonl.gz
endif
MAINTAINERCLEANFILES = gba/spec/vectors.jsonl.gz
gba/spec/vectors.jsonl.gz: $(patsubst %$(EXEEXT),%.c,$(GBA_RULE_TESTS)) tests/unit/model/vectors.h tests/unit/model/model_bench.h \
	gba/spec/gba_regs.h $(sim_libgbamodel_la_SOURCES)
	$(AM_V_at)$(MAKE) $(AM_MAKEFLAGS) $(GBA_RULE_TESTS)
	$(AM_V_GEN)$(MKDIR_P) gba/spec && rm -f $@.new && for test in $(GBA_RULE_TESTS); do \
		GBA_VECTORS=$@.new ./$$test >$@.log 2>&1 || { cat $@.log; exit 1; }; \
	done && gzip -9cn $@.new >$@.tmp && mv $@.tmp $@ && rm $@.new $@.log
# Tests of the Linux driver. They run in a virtual machine with the driver (tests/driver/run), and need
# only the header of its interface.
GBA_DRIVER_TESTS = tests/driver/fuzz tests/driver/test_calls \
	tests/driver/test_copy_out tests/driver/test_hosts tests/driver/test_life \
	tests/driver/test_maps tests/driver/test_rounds tests/driver/test_users
if HAVE_CMOCKA
check_PROGRAMS += $(GBA_DRIVER_TESTS)
endif
tests/driver/%.$(OBJEXT): private AM_CPPFLAGS += $(CMOCKA_CFLAGS)
$(GBA_DRIVER_TESTS): private LDADD = $(CMOCKA_LIBS) -lpthread
# Tests of the daemon itself. They need only its messages.
GBA_DAEMON_TESTS = tests/switch/test_absence tests/switch/test_daemon \
	tests/switch/test_hostile tests/switch/test_late tests/switch/test_load \
	tests/switch/test_overload tests/switch/test_owners tests/switch/test_vfio_server
if HAVE_LIBEVENT
if HAVE_CMOCKA
check_PROGRAMS += $(GBA_DAEMON_TESTS) tests/switch/test_report
TESTS += $(GBA_DAEMON_TESTS) tests/switch/test_report
endif
endif
dist_check_SCRIPTS += tests/switch/test_diag tests/switch/test_service
TESTS += tests/switch/test_diag tests/switch/test_service
tests_switch_libpeer_a_SOURCES = tests/switch/peer.c tests/switch/jobs.c tests/switch/vfio_test.c
tests/switch/test_absence.$(OBJEXT) tests/switch/test_late.$(OBJEXT): private AM_CPPFLAGS += \
	-DGBA_TEST_DIAG='"$(abs_top_builddir)/sim/switch/gba_diag"'
tests/switch/peer.$(OBJEXT): private AM_CPPFLAGS += \
	-DGBA_TEST_SWITCHD='"$(abs_top_builddir)/sim/switch/gba-switchd"'
$(GBA_DAEMON_TESTS): private LDADD = tests/switch/libpeer.a gba/libgbatext.la sim/libgbaprotocol.la $(CMOCKA_LIBS)
$(GBA_DAEMON_TESTS): tests/switch/libpeer.a gba/libgbatext.la sim/switch/gba-switchd$(EXEEXT) sim/switch/gba_diag$(EXEEXT) sim/libgbaprotocol.la
$(GBA_SWITCH_TESTS): private LDADD = gba/libgbatext.la sim/libgbaprotocol.la sim/libgbamodel.la $(CMOCKA_LIBS)
$(GBA_SWITCH_TESTS): gba/libgbatext.la sim/libgbaprotocol.la sim/libgbamodel.la
tests_switch_test_core_SOURCES = tests/switch/test_core.c $(GBA_SWITCH_CORE)
tests_switch_test_latency_SOURCES = tests/switch/test_latency.c $(GBA_SWITCH_CORE) \
	sim/switch/option_values.c
tests_switch_test_report_SOURCES = tests/switch/test_report.c $(GBA_SWITCH_CORE) $(GBA_SWITCH_REPORT) \
	gba/base/process.c
tests_switch_test_report_CPPFLAGS = $(AM_CPPFLAGS) $(LIBEVENT_CORE_CFLAGS) $(CMOCKA_CFLAGS)
tests_switch_test_report_LDFLAGS = -Wl,--wrap=fopen
tests_switch_test_report_LDADD = gba/libgbatext.la sim/libgbamodel.la $(CMOCKA_LIBS)

# The PCI devices for virtual machines, with a client of their own. Sockets pass descriptors, so these are
# not for an emulated CPU.
GBA_VFIO_TESTS = tests/switch/test_vfio_device tests/switch/test_vfio_effects tests/switch/test_vfio_wire
if HAVE_LIBEVENT
if HAVE_CMOCKA
check_PROGRAMS += $(GBA_VFIO_TESTS)
TESTS += $(GBA_VFIO_TESTS)
endif
endif
GBA_VFIO_BENCH = tests/switch/vfio_bench.c tests/switch/vfio_test.c $(GBA_VFIO_DEVICE)
tests_switch_test_vfio_wire_SOURCES = tests/switch/test_vfio_wire.c sim/switch/vfio/wire.c
tests_switch_test_vfio_device_SOURCES = tests/switch/test_vfio_device.c $(GBA_VFIO_BENCH)
tests_switch_test_vfio_effects_SOURCES = tests/switch/test_vfio_effects.c $(GBA_VFIO_BENCH)
tests_switch_test_vfio_effects_LDFLAGS = -Wl,--wrap=fstatfs
$(GBA_VFIO_TESTS): private LDADD = $(CMOCKA_LIBS)

if HAVE_HWLOC
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/dev/test_distance tests/unit/base/test_place
TESTS += tests/unit/dev/test_distance tests/unit/base/test_place
endif
endif
tests_unit_predict_test_predict_engine_LDADD = sim/libgbapredict.la $(CMOCKA_LIBS)
tests_unit_predict_test_predict_memory_LDADD = sim/libgbapredict.la $(CMOCKA_LIBS)
tests_unit_dev_test_distance_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS) $(HWLOC_CFLAGS)
tests_unit_dev_test_distance_LDADD = gba/libgbacore.la $(CMOCKA_LIBS) $(HWLOC_LIBS)
tests_unit_base_test_place_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS) $(HWLOC_CFLAGS)
tests_unit_base_test_place_LDADD = gba/libgbacore.la $(CMOCKA_LIBS) $(HWLOC_LIBS)

# What several of them share.
GBA_FAKE_KERNEL = tests/unit/dev/fake_kernel.c tests/unit/dev/fake_driver.c
EXTRA_LIBRARIES = tests/unit/libshared.a tests/switch/libpeer.a
CLEANFILES += $(EXTRA_LIBRARIES)
tests_unit_libshared_a_SOURCES = $(GBA_FAKE_KERNEL) tests/unit/team/thread_oob.c tests/unit/team/team_harness.c \
	tests/unit/team/harness_device.c tests/unit/team/harness_net.c tests/unit/failover/notification_harness.c
# The Linux driver, without the headers of the kernel, which tests/unit/dev/kernel.h replaces.
GBA_FAKE_DRIVER = $(addprefix $(srcdir)/contrib/driver/,gba_driver.h device.h file.h member.h event.c map.c \
	revoke.c control.c member.c life.c join.c wait.c alloc.c calls.c file.c)
tests/unit/dev/driver.h: $(GBA_FAKE_DRIVER) tests/local.mk
	$(AM_V_GEN)$(MKDIR_P) $(@D) && sed '/^#include/d' $(GBA_FAKE_DRIVER) >$@
CLEANFILES += tests/unit/dev/driver.h
GBA_FAKE_DRIVER_OBJECTS = tests/unit/dev/fake_driver.$(OBJEXT) tests/unit/dev/gpu_test_gpu-fake_driver.$(OBJEXT)
$(GBA_FAKE_DRIVER_OBJECTS): private AM_CPPFLAGS += -I$(builddir)
$(GBA_FAKE_DRIVER_OBJECTS): tests/unit/dev/driver.h
# The linker replaces functions of the library, and of the C library, by those of a test.
GBA_TEAM_TESTS = tests/unit/team/test_cores tests/unit/failover/test_degraded tests/unit/agree/test_domains \
	tests/unit/failover/test_domains_failover tests/unit/path/test_hierarchy \
	tests/unit/path/test_hierarchy_failures tests/unit/agree/test_predict tests/unit/failover/test_renegotiate \
	tests/unit/base/test_resources tests/unit/team/test_software tests/unit/agree/test_steer \
	tests/unit/team/test_team tests/unit/agree/test_trial tests/unit/agree/test_trial_faults \
	tests/unit/agree/test_trial_short
$(GBA_TEAM_TESTS): private AM_LDFLAGS += -Wl,--wrap=gba_failover_register
# Those with thread_oob.c.
$(GBA_TEAM_TESTS) tests/unit/dev/test_cdev_revoke tests/unit/failover/test_retry \
tests/unit/team/test_wait tests/unit/team/test_watchdog: \
	private AM_LDFLAGS += -Wl,--wrap=gba_host_get,--wrap=gba_shm_segment_attach
tests_unit_base_test_order_LDFLAGS = -Wl,--wrap=syscall
tests_unit_bootstrap_test_boot_serve_LDFLAGS = -Wl,--wrap=poll
tests_unit_base_test_memory_file_LDFLAGS = -Wl,--wrap=memfd_create,--wrap=fchmod
tests_unit_switch_test_switch_wait_LDFLAGS = -Wl,--wrap=clock_gettime
tests_unit_transport_test_segment_LDFLAGS = -Wl,--wrap=fallocate
tests_unit_shm_test_sim_find_LDFLAGS = -Wl,--wrap=opendir,--wrap=memfd_create,--wrap=poll
tests_unit_failover_test_retry_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=clock_gettime,--wrap=gba_flag_park,--wrap=gba_group_inspect
tests_unit_team_test_watchdog_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=gba_place_get
tests_unit_agree_test_agree_loop_LDFLAGS = -Wl,--wrap=gba_host_get
tests_unit_team_test_software_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=gba_place_get
tests_unit_base_test_resources_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=gba_team_create \
	-Wl,--wrap=gba_team_agree,--wrap=malloc,--wrap=calloc,--wrap=realloc \
	-Wl,--wrap=aligned_alloc,--wrap=mmap,--wrap=memfd_create,--wrap=fallocate,--wrap=getrandom,--wrap=fopen,--wrap=open
tests_unit_agree_test_trial_faults_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=gba_barrier_wait \
	-Wl,--wrap=thread_oob_barrier
tests_unit_agree_test_trial_short_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=gba_barrier_wait
tests_unit_failover_test_failover_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=gba_graph_next,--wrap=gba_graph_adjacent \
	-Wl,--wrap=gba_tree_parent,--wrap=gba_tree_members \
	-Wl,--wrap=gba_path_hybrid_withdraw,--wrap=gba_path_hybrid_peers

# gba_info but its main.
tests_unit_tools_test_info_SOURCES = tests/unit/tools/test_info.c gba/tools/info_device.c \
	gba/tools/info_health.c gba/tools/info_list.c gba/tools/info_jobs.c gba/tools/info_params.c \
	gba/tools/info_path.c gba/tools/info_report.c gba/base/mca_names.c
tests_unit_tools_test_info_LDADD = gba/libgbagpu.la gba/libgbacore.la $(CMOCKA_LIBS)
# The exchange of coll_gba_barrier, which is pure.
tests_unit_algo_test_exchange_SOURCES = tests/unit/algo/test_exchange.c gba/algo/exchange.c
tests_unit_algo_test_exchange_LDADD = $(CMOCKA_LIBS)
# Parts of libgba_bootstrap, which hides their functions. Flags of their own: objects of their own.
tests_unit_bootstrap_test_signals_SOURCES = tests/unit/bootstrap/test_signals.c gba/bootstrap/signals.c \
	gba/bootstrap/mesh.c gba/bootstrap/pending.c gba/bootstrap/address.c gba/bootstrap/wire.c \
	gba/bootstrap/settings.c
tests_unit_bootstrap_test_signals_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_bootstrap_test_boot_serve_SOURCES = tests/unit/bootstrap/test_boot_serve.c \
	gba/bootstrap/serve.c gba/bootstrap/fail.c gba/bootstrap/wire.c
tests_unit_bootstrap_test_boot_serve_CPPFLAGS = $(AM_CPPFLAGS)

# One suite for every backend: the simulator, and /dev/gbaN on a fake kernel. And
# every error of every call of the latter.
GBA_CONFORMANCE = tests/conformance/main.c tests/conformance/bench.c tests/conformance/life.c \
	tests/conformance/rounds.c tests/conformance/registers.c
tests_conformance_conformance_SOURCES = $(GBA_CONFORMANCE) tests/conformance/backends.c
# The same on gba-switchd, which it starts.
tests_conformance_conformance_switch_SOURCES = $(GBA_CONFORMANCE) tests/conformance/backends_switch.c
# The same on a device file: make conformance DEVICE=/dev/gba0.
if HAVE_CMOCKA
check_PROGRAMS += tests/conformance/conformance_device
endif
tests_conformance_conformance_device_SOURCES = $(GBA_CONFORMANCE) tests/conformance/backends_device.c
tests_conformance_conformance_device_LDADD = gba/libgbacore.la $(CMOCKA_LIBS)
.PHONY: conformance
conformance: tests/conformance/conformance_device
	GBA_CONFORMANCE_DEVICE=$(DEVICE) tests/conformance/conformance_device
# The rules on a design of somebody else, which is a library: make conformance-rtl DUT=/path/lib.so.
.PHONY: conformance-rtl
conformance-rtl: tests/rtl/test_overlap tests/rtl/test_vectors gba/spec/vectors.jsonl.gz
	$(srcdir)/contrib/maint/check-rtl --dut $(DUT) .
# gba-switchd with the RTL in the place of the model: rtl/gba-switchd-rtl.
.PHONY: gba-switchd-rtl
gba-switchd-rtl: all
	$(MKDIR_P) rtl && $(MAKE) -C rtl -f $(abs_top_srcdir)/sim/rtl/rtl.mk TOP=$(abs_top_srcdir) BUILD=$(abs_builddir) $@
# A name for it: a rule with its own would take the place of automake's, which links it.
GBA_SWITCH_CONFORMANCE = tests/conformance/conformance_switch
if HAVE_LIBEVENT
$(GBA_SWITCH_CONFORMANCE): sim/switch/gba-switchd$(EXEEXT)
endif

# The notifications of the components, with a substitute for the PML.
if BUILD_OMPI
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/ompi/test_notifications
TESTS += tests/unit/ompi/test_notifications
endif
endif
tests_unit_ompi_test_notifications_SOURCES = tests/unit/ompi/test_notifications.c \
	ompi/mca/common/gba/notifications.c
tests_unit_ompi_test_notifications_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_ompi_test_notifications_CFLAGS = $(AM_CFLAGS) $(OMPI_CFLAGS)
tests_unit_ompi_test_notifications_LDADD = $(CMOCKA_LIBS) $(MPI_LIBS) $(OMPI_LIBS)

# Built from its sources, all of them with the sanitizer.
GBA_TSAN_TESTS = tests/unit/path/test_algo_tsan tests/unit/team/test_cores_tsan \
	tests/unit/failover/test_failover_tsan tests/unit/gpu/test_gpu_tsan
if BUILD_OMPI
GBA_TSAN_TESTS += tests/unit/ompi/test_notifications_tsan
endif
if HAVE_TSAN
check_PROGRAMS += $(GBA_TSAN_TESTS)
TESTS += $(GBA_TSAN_TESTS)
endif
tests_unit_path_test_algo_tsan_SOURCES = tests/unit/path/test_algo_tsan.c gba/transport/segment.c \
	gba/transport/node_flags.c \
	gba/transport/shm.c gba/algo/algorithms.c \
	gba/base/log.c gba/base/status.c gba/base/park.c gba/base/memory_file.c gba/base/process.c
tests_unit_path_test_algo_tsan_CFLAGS = $(AM_CFLAGS) -fsanitize=thread
tests_unit_team_test_cores_tsan_SOURCES = tests/unit/team/test_cores_tsan.c gba/team/cores.c \
	gba/team/wait.c gba/base/log.c gba/base/status.c gba/base/park.c gba/base/params.c \
	gba/base/processors.c gba/base/traffic.c gba/transport/shm.c gba/algo/algorithms.c gba/base/stall.c \
	gba/base/where.c gba/base/open_files.c gba/base/process.c gba/base/memory_file.c
tests_unit_team_test_cores_tsan_CFLAGS = $(AM_CFLAGS) -fsanitize=thread
tests_unit_gpu_test_gpu_tsan_CFLAGS = $(AM_CFLAGS) -fsanitize=thread
tests_unit_failover_test_failover_tsan_SOURCES = tests/unit/failover/test_failover_tsan.c gba/failover/failover.c \
	gba/failover/facts.c gba/path/message_barrier.c gba/algo/algorithms.c gba/algo/graph.c
tests_unit_failover_test_failover_tsan_CFLAGS = $(AM_CFLAGS) -fsanitize=thread
tests_unit_ompi_test_notifications_tsan_SOURCES = tests/unit/ompi/test_notifications_tsan.c \
	ompi/mca/common/gba/notifications.c
tests_unit_ompi_test_notifications_tsan_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
# -Wno-tsan (not in clang): the sanitizer does not model the fence behind a sent message, and
# none is sent here.
tests_unit_ompi_test_notifications_tsan_CFLAGS = $(AM_CFLAGS) $(OMPI_CFLAGS) -fsanitize=thread \
	-Wno-unknown-warning-option -Wno-tsan
tests_unit_ompi_test_notifications_tsan_LDADD = $(MPI_LIBS) $(OMPI_LIBS) -lpthread
$(GBA_TSAN_TESTS): private LDADD = -lpthread

# The fuzzer builds itself, with clang, and reports that it was skipped if there is none; gba_info is run
# as by a user.
dist_check_SCRIPTS += contrib/fuzz contrib/maint/check-rules tests/unit/tools/test_gba_info \
	tests/unit/predict/test_gba_predict tests/unit/test_runner tests/unit/base/test_wire
TESTS += contrib/fuzz contrib/maint/check-rules tests/unit/tools/test_gba_info \
	tests/unit/predict/test_gba_predict tests/unit/test_runner tests/unit/base/test_wire

# MPI programs, for tests/mpi/run and not for "make check": they need an installed plugin.
GBA_MPI_TESTS = tests/mpi/alerts tests/mpi/churn tests/mpi/colls tests/mpi/death \
	tests/mpi/early_exit tests/mpi/groups tests/mpi/ibarrier tests/mpi/idle tests/mpi/kinds \
	tests/mpi/lacking tests/mpi/late tests/mpi/leave tests/mpi/living tests/mpi/many tests/mpi/mixture \
	tests/mpi/nonblocking tests/mpi/persistent tests/mpi/posted \
	tests/mpi/progress tests/mpi/queued tests/mpi/rare tests/mpi/recorded tests/mpi/scarce tests/mpi/sessions \
	tests/mpi/soak tests/mpi/spawn tests/mpi/stray tests/mpi/stuck tests/mpi/threads \
	tests/mpi/trials tests/mpi/ulfm tests/mpi/unagreed
check_LIBRARIES =
check_LTLIBRARIES =
if BUILD_OMPI
check_PROGRAMS += $(GBA_MPI_TESTS)
check_LIBRARIES += tests/mpi/libtest.a
check_LTLIBRARIES += tests/mpi/broken.la tests/mpi/hosts_preload.la tests/mpi/abi_preload.la \
	tests/mpi/lack_preload.la
endif
tests_mpi_libtest_a_SOURCES = tests/program.c tests/mpi/test.c tests/mpi/proof.c
tests/program.$(OBJEXT): private AM_CPPFLAGS += -DGBA_TEST_SOURCES='"$(abs_top_srcdir)/tests"'
tests/program.$(OBJEXT) tests/mpi/%.$(OBJEXT) tests/mpi/%.lo: private AM_CPPFLAGS += $(MPI_CPPFLAGS)
# --undefined: for --help, also in a program that uses nothing else of the library.
$(GBA_MPI_TESTS): private LDADD = -Wl,--undefined=test_fail tests/mpi/libtest.a $(MPI_LIBS) -lpthread
$(GBA_MPI_TESTS): tests/mpi/libtest.a
# It replaces functions of libgba for the plugin.
tests_mpi_soak_LDFLAGS = -export-dynamic
tests_mpi_soak_CFLAGS = $(AM_CFLAGS) -fvisibility=default
# These use the PML directly: for a message that is no signal, and for a message that is not sent yet.
tests_mpi_stray_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
tests_mpi_stray_CFLAGS = $(AM_CFLAGS) $(OMPI_CFLAGS)
tests_mpi_leave_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
tests_mpi_leave_CFLAGS = $(AM_CFLAGS) $(OMPI_CFLAGS)
tests_mpi_posted_SOURCES = tests/mpi/posted.c ompi/mca/common/gba/notifications.c
tests_mpi_posted_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
tests_mpi_posted_CFLAGS = $(AM_CFLAGS) $(OMPI_CFLAGS)
tests_mpi_posted_LDADD = tests/mpi/libtest.a $(MPI_LIBS) $(OMPI_LIBS)
tests_mpi_posted_LDFLAGS = -Wl,--undefined=test_fail

# Preloaded into them: faulty barriers that the programs must detect; ranks of one host that pretend to be
# on several. -rpath: else libtool makes an archive.
GBA_PRELOADS = tests/mpi/broken.la tests/mpi/hosts_preload.la tests/mpi/abi_preload.la tests/mpi/lack_preload.la \
	tests/shmem/noquiet.la tests/shmem/broken.la tests/shmem/preload.la tests/bootstrap/other_library.la
$(GBA_PRELOADS): private AM_LDFLAGS += -module -avoid-version -shared -rpath /nowhere
tests_mpi_broken_la_LIBADD = $(MPI_LIBS)
tests_mpi_hosts_preload_la_LIBADD = -ldl
tests_mpi_lack_preload_la_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
tests_mpi_lack_preload_la_CFLAGS = $(AM_CFLAGS) $(OMPI_CFLAGS) -fno-builtin
tests_mpi_lack_preload_la_LIBADD = -ldl
tests_mpi_abi_preload_la_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
tests_mpi_abi_preload_la_CFLAGS = $(AM_CFLAGS) $(OMPI_CFLAGS)
tests_mpi_abi_preload_la_LIBADD = $(MPI_LIBS)

# OpenSHMEM programs, for tests/shmem/run.
GBA_SHMEM_TESTS = tests/shmem/both tests/shmem/cores tests/shmem/death \
	tests/shmem/early_exit tests/shmem/exits tests/shmem/freed tests/shmem/leave tests/shmem/locks \
	tests/shmem/many tests/shmem/puts tests/shmem/sets tests/shmem/stray \
	tests/shmem/threads
if BUILD_OSHMEM
check_PROGRAMS += $(GBA_SHMEM_TESTS)
check_LIBRARIES += tests/shmem/libtest.a
check_LTLIBRARIES += tests/shmem/noquiet.la tests/shmem/broken.la tests/shmem/preload.la
endif
tests_shmem_libtest_a_SOURCES = tests/program.c tests/shmem/test.c
tests/shmem/%.$(OBJEXT): private AM_CPPFLAGS += $(MPI_CPPFLAGS)
$(GBA_SHMEM_TESTS): private LDADD = tests/shmem/libtest.a $(GBA_OSHMEM_LIBS) -lpthread
$(GBA_SHMEM_TESTS): tests/shmem/libtest.a
tests_shmem_cores_LDADD = gba/libgba.la tests/shmem/libtest.a $(GBA_OSHMEM_LIBS) -lpthread
# Preloaded into them; the functions that they replace have to be seen.
tests_shmem_broken_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_shmem_broken_la_CFLAGS = $(AM_CFLAGS) -fvisibility=default
tests_shmem_preload_la_CPPFLAGS = $(AM_CPPFLAGS) $(OSHMEM_CPPFLAGS)
tests_shmem_preload_la_CFLAGS = $(AM_CFLAGS) $(OMPI_CFLAGS) -fvisibility=default
tests_shmem_preload_la_LIBADD = -ldl
tests_shmem_noquiet_la_CFLAGS = $(AM_CFLAGS) -fvisibility=default

# Bootstraps, with real processes.
check_PROGRAMS += tests/bootstrap/exchange tests/bootstrap/gpu
tests_bootstrap_gpu_SOURCES = tests/bootstrap/gpu.c $(GBA_GPU_MEMBERS)
tests_bootstrap_gpu_LDADD = gba/libgba_gpu.la gba/libgba_bootstrap.la gba/libgba.la -lpthread
tests_bootstrap_exchange_LDADD = gba/libgba_bootstrap.la gba/libgba.la
if BUILD_OMPI
check_PROGRAMS += tests/bootstrap/in_mpi
check_LTLIBRARIES += tests/bootstrap/other_library.la
endif
tests_bootstrap_in_mpi_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_bootstrap_in_mpi_LDADD = gba/libgba_bootstrap.la gba/libgba.la $(MPI_LIBS)
tests_bootstrap_other_library_la_CFLAGS = $(AM_CFLAGS) -fvisibility=default

# GPU members, with a CUDA driver of the tests.
check_LTLIBRARIES += tests/gpu/fake/libcuda.la
tests_gpu_fake_libcuda_la_SOURCES = tests/gpu/fake_cuda.c tests/gpu/fake_cuda.h
tests_gpu_fake_libcuda_la_LDFLAGS = -rpath $(abs_builddir)/tests/gpu/fake -version-info 1:0:0
GBA_GPU_MEMBERS = tests/gpu/members.h tests/gpu/members.c tests/gpu/mixed.c
tests_gpu_test_gpu_SOURCES = tests/gpu/test_gpu.c tests/gpu/alone.h $(GBA_GPU_MEMBERS) $(GBA_FAKE_KERNEL)
tests_gpu_test_gpu_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_gpu_test_gpu_LDADD = gba/libgbagpu.la gba/libgbaboot.la gba/libgbacore.la $(PMIX_LIBS) $(CMOCKA_LIBS) -lpthread -ldl
tests_gpu_test_gpu_life_SOURCES = tests/gpu/test_gpu_life.c tests/gpu/alone.h $(GBA_GPU_MEMBERS)
tests_gpu_test_gpu_life_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_gpu_test_gpu_life_LDADD = $(tests_gpu_test_gpu_LDADD)
tests_gpu_test_gpu_ranks_SOURCES = tests/gpu/test_gpu_ranks.c $(GBA_GPU_MEMBERS)
tests_gpu_test_gpu_ranks_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_gpu_test_gpu_ranks_LDADD = $(tests_gpu_test_gpu_LDADD)

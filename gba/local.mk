# libgba. GBA_LIB_SOURCES is built twice: into the library, which exports only what libgba.map names,
# and into an archive for the unit tests, which may look inside.
GBA_LIB_SOURCES = \
	gba/gba.h gba/types.h gba/params.h gba/device.h gba/team.h gba/runtime.h gba/stall.h gba/cores.h \
	gba/spec/gba_regs.h gba/spec/gba_ioctl.h \
	gba/base/order.h gba/base/log.h gba/base/host.h gba/base/namespace.h gba/base/clock.h gba/base/park.h \
	gba/base/cluster.h gba/base/cluster.c gba/base/system_status.h \
	gba/base/open_files.h gba/base/open_files.c \
	gba/base/memory_file.h gba/base/memory_file.c gba/base/processors.h gba/base/processors.c gba/base/batch_job.h gba/base/batch_job.c gba/base/descriptor.h gba/base/switch_socket.h \
	gba/base/where.h gba/base/where.c gba/base/stall.c \
	gba/base/place.h gba/base/place.c gba/base/printable.h gba/base/traffic.h gba/base/traffic.c \
	gba/base/component_params.h gba/base/status.c gba/base/log.c gba/base/params.c gba/base/host.c gba/base/park.c \
	gba/algo/sched.h gba/algo/graph.h gba/algo/graph.c gba/algo/algorithm.h gba/algo/steps.h \
	gba/algo/algorithms.c \
	gba/algo/numbering.h gba/algo/numbering.c gba/algo/topology.h gba/algo/topology.c gba/algo/domains.h gba/algo/domains.c \
	gba/transport/transport.h gba/transport/node_barrier.h gba/transport/node_flags.h gba/transport/node_flags.c gba/transport/segment.h \
	gba/transport/segment.c gba/transport/shm.h gba/transport/shm.c \
	gba/dev/dev_ops.h gba/dev/member.h gba/dev/device_path.h gba/dev/device_path.c gba/dev/params_check.c gba/dev/params_env.c gba/dev/advice.c gba/dev/device.c gba/dev/round_trip.c gba/dev/list.c gba/dev/group.c \
	gba/dev/choose.h gba/dev/choose.c gba/dev/choices.c gba/dev/selection.h gba/dev/selection.c gba/dev/distance.h \
	gba/dev/cdev.h gba/dev/cdev.c gba/dev/cdev_open.c gba/dev/cdev_map.c gba/dev/cdev_owner.c gba/dev/cdev_regs.c \
	gba/dev/cdev_sys.c \
	sim/shm/sim.h sim/shm/layout.h sim/shm/fault.h sim/shm/find.h sim/shm/lock.h \
	sim/shm/sim.c sim/shm/alloc.c sim/shm/bus.c sim/shm/fault.c sim/shm/find.c \
	sim/shm/lock.c sim/shm/port.c sim/shm/segment.c \
	sim/switch/client/client.h sim/switch/client/device.c \
	sim/switch/client/bus.c sim/switch/client/connect.c sim/switch/client/file.c sim/switch/client/key.c sim/switch/client/socket.c \
	sim/switch/client/link.c sim/switch/client/member.c \
	gba/path/path.h gba/path/shape.h gba/path/busy.h gba/path/retry.h gba/path/retry.c \
	gba/path/message_barrier.h gba/path/message_barrier.c gba/path/node.h gba/path/node.c \
	gba/path/path_device.h gba/path/path_device.c gba/path/path_shared.h gba/path/path_shared.c \
	gba/path/path_hybrid.h gba/path/path_hybrid.c \
	gba/failover/engine.h gba/failover/facts.h gba/failover/facts.c gba/failover/failover.h gba/failover/failover.c \
	gba/agree/cost.h gba/agree/cost.c gba/agree/trial.h gba/agree/trial.c \
	gba/agree/info.h gba/agree/info.c gba/agree/software.h gba/agree/software.c \
	gba/agree/switches.c gba/agree/plan.h gba/agree/plan.c gba/agree/shape.h gba/agree/shape.c \
	gba/agree/schedule.h gba/agree/schedule.c gba/agree/agree.h gba/agree/agree.c gba/agree/loop.h gba/agree/loop.c \
	gba/agree/build.h gba/agree/build.c gba/agree/reason.h gba/agree/reason.c gba/agree/predict.h gba/agree/predict.c \
	gba/team/wait.h gba/team/wait.c gba/team/watchdog.h gba/team/watchdog.c \
	gba/team/barrier.h gba/team/barrier.c gba/team/barrier_end.c gba/team/trial_batch.h gba/team/trial_batch.c \
	gba/team/trial_run.h gba/team/trial_run.c gba/team/trial_short.c \
	gba/team/team.c gba/team/cores.c gba/team/cores_steps.h gba/team/wire.c gba/team/gpu.c

# What users write and programs print: also of the programs that are not linked with libgba.
noinst_LTLIBRARIES += gba/libgbatext.la
gba_libgbatext_la_SOURCES = gba/base/number.h gba/base/number.c gba/base/param_default.h gba/base/param_text.c \
	gba/base/json.h gba/base/json.c gba/base/command_line.h gba/base/command_line.c

noinst_LTLIBRARIES += gba/libgbacore.la
gba_libgbacore_la_SOURCES = $(GBA_LIB_SOURCES)
EXTRA_gba_libgbacore_la_SOURCES = gba/dev/distance.c gba/dev/no_hwloc.c
if HAVE_HWLOC
gba_libgbacore_la_SOURCES += gba/dev/distance.c
else
gba_libgbacore_la_SOURCES += gba/dev/no_hwloc.c
endif
gba_libgbacore_la_CPPFLAGS = $(AM_CPPFLAGS) $(HWLOC_CFLAGS) -DGBA_PKGDATADIR='"$(pkgdatadir)"'
gba_libgbacore_la_LIBADD = gba/libgbatext.la sim/libgbaprotocol.la sim/libgbamodel.la $(HWLOC_LIBS) -lpthread

lib_LTLIBRARIES += gba/libgba.la
gba_libgba_la_SOURCES =
gba_libgba_la_LIBADD = gba/libgbacore.la
# -z nodelete: the components that use it are closed with dlclose, its threads-once state is not.
gba_libgba_la_LDFLAGS = -version-info 0:0:0 -Wl,-z,defs -Wl,-z,nodelete \
	-Wl,--version-script=$(srcdir)/gba/libgba.map
EXTRA_gba_libgba_la_DEPENDENCIES = gba/libgba.map
# Installed as <gba/gba.h>, <gba/spec/gba_regs.h> and so on.
gbaincludedir = $(includedir)/gba
gbainclude_HEADERS = \
	gba/gba.h gba/types.h gba/params.h gba/device.h gba/team.h gba/runtime.h gba/stall.h gba/cores.h
gbaspecincludedir = $(includedir)/gba/spec
gbaspecinclude_HEADERS = gba/spec/gba_regs.h gba/spec/gba_ioctl.h gba/spec/gba_dut.h
# For those who build a device: the specification, and its tables in the forms that other tools read.
specdir = $(pkgdatadir)/spec
dist_spec_DATA = gba/spec/device.md gba/spec/hardware.md
nodist_spec_DATA = gba/spec/gba_regs.json gba/spec/gba_regs.rdl gba/spec/gba_regs.sv
CLEANFILES += $(nodist_spec_DATA)
$(nodist_spec_DATA): gba/spec/gba_regs.%: gba/spec/map.awk gba/spec/device.md
	$(AM_V_GEN)$(MKDIR_P) gba/spec && LC_ALL=C $(AWK) -v form=$* -f $^ >$@.new && mv $@.new $@

# The bootstraps, for programs without MPI. A library of its own, so that libgba needs no PMIx. An archive, too,
# for the tests.
noinst_LTLIBRARIES += gba/libgbaboot.la
gba_libgbaboot_la_SOURCES = gba/bootstrap.h gba/bootstrap/backend.h \
	gba/bootstrap/settings.h gba/bootstrap/settings.c gba/bootstrap/wire.h gba/bootstrap/wire.c \
	gba/bootstrap/address.h gba/bootstrap/address.c gba/bootstrap/member.c gba/bootstrap/root.h \
	gba/bootstrap/root.c gba/bootstrap/fail.c gba/bootstrap/join.c gba/bootstrap/serve.c gba/bootstrap/bootstrap.c \
	gba/bootstrap/choose.c gba/bootstrap/plugin.c \
	gba/bootstrap/pending.h gba/bootstrap/pending.c gba/bootstrap/mesh.h gba/bootstrap/mesh.c \
	gba/bootstrap/signals.h gba/bootstrap/signals.c gba/bootstrap/remote.c gba/bootstrap/team.c \
	gba/bootstrap/devices.h gba/bootstrap/devices.c
EXTRA_gba_libgbaboot_la_SOURCES = gba/bootstrap/pmix.c gba/bootstrap/no_pmix.c
if HAVE_PMIX
gba_libgbaboot_la_SOURCES += gba/bootstrap/pmix.c
else
gba_libgbaboot_la_SOURCES += gba/bootstrap/no_pmix.c
endif
gba_libgbaboot_la_CPPFLAGS = $(AM_CPPFLAGS) $(PMIX_CFLAGS) \
	-DGBA_BOOT_PLUGIN_DIR='"$(pkglibdir)"'
lib_LTLIBRARIES += gba/libgba_bootstrap.la
gba_libgba_bootstrap_la_SOURCES =
gba_libgba_bootstrap_la_LIBADD = gba/libgbaboot.la gba/libgba.la $(PMIX_LIBS) -lpthread -ldl
# -z nodelete: a thread may run its code.
gba_libgba_bootstrap_la_LDFLAGS = -version-info 0:0:0 -Wl,-z,defs -Wl,-z,nodelete \
	-Wl,--version-script=$(srcdir)/gba/libgba_bootstrap.map
EXTRA_gba_libgba_bootstrap_la_DEPENDENCIES = gba/libgba_bootstrap.map
gbainclude_HEADERS += gba/bootstrap.h gba/bootstrap_plugin.h
# The bootstraps that link with Open MPI: loaded by libgba_bootstrap when they are chosen.
if BUILD_OMPI
pkglib_LTLIBRARIES += gba/bootstrap_mpi.la
gba_bootstrap_mpi_la_SOURCES = gba/bootstrap/plugin_mpi.c
gba_bootstrap_mpi_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
gba_bootstrap_mpi_la_LDFLAGS = -module -avoid-version -Wl,-z,defs
gba_bootstrap_mpi_la_LIBADD = $(MPI_LIBS) -lpthread
endif

# GPUs as members. It opens libcuda when it is used. An archive, too, for the tests.
noinst_LTLIBRARIES += gba/libgbagpu.la
gba_libgbagpu_la_SOURCES = gba/gpu.h gba/gpu_member.h gba/gpu.cuh gba/gpu/cuda.h gba/gpu/cuda.c gba/gpu/on_stream.h \
	gba/gpu/group.h gba/gpu/group.c gba/gpu/proxy.c gba/gpu/member.c
lib_LTLIBRARIES += gba/libgba_gpu.la
gba_libgba_gpu_la_SOURCES =
gba_libgba_gpu_la_LIBADD = gba/libgbagpu.la gba/libgba.la -lpthread -ldl
# -z nodelete: its thread runs its code.
gba_libgba_gpu_la_LDFLAGS = -version-info 0:0:0 -Wl,-z,defs -Wl,-z,nodelete \
	-Wl,--version-script=$(srcdir)/gba/libgba_gpu.map
EXTRA_gba_libgba_gpu_la_DEPENDENCIES = gba/libgba_gpu.map
gbainclude_HEADERS += gba/gpu.h gba/gpu_member.h gba/gpu.cuh

# The manual pages of section 3 are made from the comments of the public headers. Only the script knows their
# names, so automake does not install them.
man3dir = $(mandir)/man3
CLEANFILES += gba/man/man3.stamp
gba/man/man3.stamp: gba/man/man3-read.awk gba/man/man3-write.awk gba/man/libgba.7 $(gbainclude_HEADERS)
	$(AM_V_GEN)rm -rf gba/man/man3 && $(MKDIR_P) gba/man/man3 && \
	LC_ALL=C $(AWK) -v directory=gba/man/man3 -v date="`sed -n 's/^\.Dd //p' $(srcdir)/gba/man/libgba.7`" \
		-f $(srcdir)/gba/man/man3-read.awk -f $(srcdir)/gba/man/man3-write.awk $(filter %.h,$^) && touch $@
all-local: gba/man/man3.stamp
install-data-local: gba/man/man3.stamp install-examples $(install_site_file)
	@$(MKDIR_P) "$(DESTDIR)$(man3dir)"
	$(INSTALL_DATA) gba/man/man3/*.3 "$(DESTDIR)$(man3dir)"
uninstall-local: gba/man/man3.stamp $(uninstall_site_file)
	rm -rf "$(DESTDIR)$(examplesdir)"
	@for page in gba/man/man3/*.3; do rm -f "$(DESTDIR)$(man3dir)/$${page##*/}"; done
clean-local:
	-rm -rf gba/man/man3

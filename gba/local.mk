# libgba. GBA_LIB_SOURCES is built twice: into the library, which exports only what libgba.map names,
# and into an archive for the unit tests, which may look inside.
GBA_LIB_SOURCES = \
	gba/gba.h \
	gba/spec/gba_regs.h gba/spec/gba_ioctl.h \
	gba/base/order.h gba/base/log.h gba/base/host.h gba/base/clock.h gba/base/park.h \
	gba/base/status.c gba/base/log.c \
	gba/base/host.c gba/base/park.c \
	gba/dev/dev_ops.h gba/dev/path.h gba/dev/path.c \
	gba/signal/signal_ops.h gba/signal/node.h gba/signal/segment.h gba/signal/segment.c \
	gba/signal/shm.h gba/signal/shm.c \
	gba/soft/sched.h gba/soft/sched.c gba/soft/algorithm.h gba/soft/steps.h \
	gba/soft/topology.h gba/soft/topology.c gba/soft/islands.h gba/soft/islands.c \
	gba/soft/dissemination.c gba/soft/radix.c gba/soft/central.c \
	gba/dev/cdev.h gba/dev/cdev.c gba/dev/cdev_open.c gba/dev/cdev_map.c gba/dev/cdev_flags.c \
	gba/dev/cdev_sys.c \
	gba/dev/sim.h gba/dev/sim.c gba/dev/sim_alloc.c gba/dev/sim_bus.c gba/dev/sim_fault.c \
	gba/dev/sim_find.c \
	gba/dev/sim_lock.c gba/dev/sim_process.c gba/dev/sim_segment.c \
	gba/engine.h gba/params.c gba/device.c gba/group.c gba/team.c gba/barrier.c gba/wait.c gba/watch.c \
	gba/recover.h gba/recover.c gba/interim.h gba/interim.c gba/offer.h gba/offer.c \
	gba/software.h gba/software.c gba/software_steps.c gba/software_islands.c \
	gba/software_plan.h gba/software_plan.c gba/software_agree.h gba/software_group.c

noinst_LTLIBRARIES += gba/libgbacore.la
gba_libgbacore_la_SOURCES = $(GBA_LIB_SOURCES)
gba_libgbacore_la_LIBADD = sim/libgbamodel.la -lpthread

lib_LTLIBRARIES += gba/libgba.la
gba_libgba_la_SOURCES =
gba_libgba_la_LIBADD = gba/libgbacore.la
# -z nodelete: the components that use it are closed with dlclose, its threads-once state is not.
gba_libgba_la_LDFLAGS = -version-info 0:0:0 -Wl,-z,defs -Wl,-z,nodelete \
	-Wl,--version-script=$(srcdir)/gba/libgba.map
EXTRA_gba_libgba_la_DEPENDENCIES = gba/libgba.map
EXTRA_DIST += gba/libgba.map gba/spec/device.md
include_HEADERS = gba/gba.h

# The model of the device: pure code, shared by the simulators and the tests.
noinst_LTLIBRARIES += sim/libgbamodel.la
sim_libgbamodel_la_SOURCES = \
	sim/model/model.h sim/model/model.c \
	sim/model/event.h sim/model/event.c \
	sim/model/group.h sim/model/group.c \
	sim/model/control.h sim/model/control.c \
	sim/model/port.h sim/model/port.c \
	sim/model/reclaim.h sim/model/reclaim.c

# The messages and the key file of gba-switchd, shared by the daemon, the client in libgba, gba_diag and
# the tests.
noinst_LTLIBRARIES += sim/libgbaprotocol.la
sim_libgbaprotocol_la_SOURCES = sim/switch/protocol.h sim/switch/protocol.c \
	sim/switch/trust.h sim/switch/trust.c sim/switch/process.h sim/switch/process.c
sim_libgbaprotocol_la_CPPFLAGS = $(AM_CPPFLAGS) $(MUNGE_CPPFLAGS)
sim_libgbaprotocol_la_LIBADD = $(MUNGE_LIBS)

# gba-switchd, the switch as a daemon. The core needs only the model and the messages.
GBA_SWITCH_CORE = \
	sim/switch/switch.h sim/switch/switch.c \
	sim/switch/state.h sim/switch/link.c sim/switch/account.c sim/switch/fifo.h sim/switch/fifo.c
GBA_SWITCH_DAEMON = $(GBA_SWITCH_CORE) \
	sim/switch/daemon.h sim/switch/job_keys.h sim/switch/job_keys.c \
	sim/switch/secret.h sim/switch/secret.c sim/switch/log.h sim/switch/log.c sim/switch/report.h \
	sim/switch/report.c sim/switch/report_text.c sim/switch/report_metrics.c gba/base/metrics.h gba/base/metrics.c sim/switch/report_facts.c sim/switch/outbox.h \
	sim/switch/outbox.c sim/switch/dead.h sim/switch/dead.c sim/switch/probe.h \
	sim/switch/probe.c sim/switch/messages.h \
	sim/switch/messages.c sim/switch/session.h sim/switch/session.c
# The PCI devices for virtual machines: the parts without an event loop, and the parts with one.
GBA_VFIO_DEVICE = \
	sim/switch/vfio_wire.h sim/switch/vfio_wire.c sim/switch/vfio_config.h \
	sim/switch/vfio_config.c sim/switch/vfio_guard.h sim/switch/vfio_guard.c \
	sim/switch/vfio_dma.h sim/switch/vfio_dma.c sim/switch/vfio_irq.h sim/switch/vfio_irq.c \
	sim/switch/vfio_device.h sim/switch/vfio_device.c sim/switch/vfio_client.h \
	sim/switch/vfio_client.c
GBA_VFIO_SERVER = $(GBA_VFIO_DEVICE) \
	sim/switch/vfio_session.h sim/switch/vfio_session.c sim/switch/vfio_server.h \
	sim/switch/vfio_server.c sim/switch/socket_file.h sim/switch/socket_file.c
if HAVE_LIBEVENT
sbin_PROGRAMS += sim/switch/gba-switchd
endif
sim_switch_gba_switchd_SOURCES = $(GBA_SWITCH_DAEMON) $(GBA_VFIO_SERVER) \
	sim/switch/options.h sim/switch/options.c sim/switch/latency.c sim/switch/fault_option.c \
	sim/switch/fault.h sim/switch/fault.c \
	sim/switch/trace.h sim/switch/trace.c \
	sim/switch/listen.h sim/switch/listen.c sim/switch/main.c
sim_switch_gba_switchd_CPPFLAGS = $(AM_CPPFLAGS) $(LIBEVENT_CORE_CFLAGS)
sim_switch_gba_switchd_LDADD = sim/libgbaprotocol.la sim/libgbamodel.la $(LIBEVENT_CORE_LIBS)
sim/switch/gba-switchd.service: $(srcdir)/sim/switch/gba-switchd.service.in
	$(AM_V_GEN)$(MKDIR_P) sim/switch && \
	sed 's|@sbindir[@]|$(sbindir)|; s|@docdir[@]|$(docdir)|' $(srcdir)/sim/switch/gba-switchd.service.in >$@.tmp && \
	mv $@.tmp $@
EXTRA_DIST += sim/switch/gba-switchd.service.in sim/switch/gba-switchd.conf sim/switch/gba-switchd-tcp.conf \
	gba/man/gba-switchd.8
CLEANFILES += sim/switch/gba-switchd.service
# gba_diag needs no libevent, but it is of use only with a gba-switchd.
if HAVE_LIBEVENT
bin_PROGRAMS += sim/switch/gba_diag
endif
sim_switch_gba_diag_SOURCES = sim/switch/diag.h sim/switch/diag.c sim/switch/diag_connect.c
sim_switch_gba_diag_LDADD = sim/libgbaprotocol.la
EXTRA_DIST += gba/man/gba_diag.1
if HAVE_LIBEVENT
man_MANS += gba/man/gba-switchd.8 gba/man/gba_diag.1
# systemd reads both below /usr and /usr/local.
unitdir = $(prefix)/lib/systemd/system
unit_DATA = sim/switch/gba-switchd.service
sysusersdir = $(prefix)/lib/sysusers.d
sysusers_DATA = sim/switch/gba-switchd.conf
doc_DATA += sim/switch/gba-switchd-tcp.conf
endif

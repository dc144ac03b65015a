# The model of the device: pure code, shared by the simulators and the tests.
noinst_LTLIBRARIES += sim/libgbamodel.la
sim_libgbamodel_la_SOURCES = \
	sim/model/model.h sim/model/model.c \
	sim/model/event.h sim/model/event.c \
	sim/model/group.h sim/model/group.c \
	sim/model/control.h sim/model/control.c \
	sim/model/port.h sim/model/port.c \
	gba/spec/gba_dut.h sim/model/dut.c
# For test benches: the model in C, behind gba_dut.h.
modeldir = $(pkgdatadir)/spec
nobase_dist_model_DATA = $(sim_libgbamodel_la_SOURCES) gba/base/order.h gba/spec/gba_regs.h

# The messages and the key file of gba-switchd, shared by the daemon, the client in libgba, gba_diag and
# the tests.
noinst_LTLIBRARIES += sim/libgbaprotocol.la
sim_libgbaprotocol_la_SOURCES = \
	sim/switch/core/protocol.h sim/switch/core/protocol.c \
	sim/switch/net/trust.h sim/switch/net/trust.c \
	gba/base/process.h gba/base/process.c

# gba-switchd, the switch as a daemon. The core needs only the model and the messages.
GBA_SWITCH_CORE = \
	sim/switch/core/switch.h sim/switch/core/switch.c \
	sim/switch/core/state.h sim/switch/core/link.c sim/switch/core/account.c \
	sim/switch/core/fifo.h sim/switch/core/fifo.c
GBA_SWITCH_REPORT = \
	sim/switch/core/options.h sim/switch/net/daemon.h \
	sim/switch/net/report.h sim/switch/net/report.c sim/switch/net/report_facts.c \
	sim/switch/net/report_text.c
GBA_SWITCH_NET = $(GBA_SWITCH_REPORT) \
	sim/switch/net/listen.h sim/switch/net/listen.c \
	sim/switch/net/messages.h sim/switch/net/messages.c \
	sim/switch/net/outbox.h sim/switch/net/outbox.c \
	sim/switch/net/session.h sim/switch/net/session.c
# The PCI devices for virtual machines: the parts without an event loop, and the parts with one.
GBA_VFIO_DEVICE = \
	sim/switch/vfio/wire.h sim/switch/vfio/wire.c \
	sim/switch/vfio/config.h sim/switch/vfio/config.c \
	sim/switch/vfio/dma.h sim/switch/vfio/dma.c \
	sim/switch/vfio/irq.h sim/switch/vfio/irq.c \
	sim/switch/vfio/device.h sim/switch/vfio/device.c \
	sim/switch/vfio/connection.h sim/switch/vfio/connection.c
GBA_VFIO_SERVER = $(GBA_VFIO_DEVICE) \
	sim/switch/vfio/session.h sim/switch/vfio/session.c \
	sim/switch/vfio/server.h sim/switch/vfio/server.c \
	sim/switch/net/socket_file.h sim/switch/net/socket_file.c \
	sim/switch/core/log.h sim/switch/core/log.c
if HAVE_LIBEVENT
sbin_PROGRAMS += sim/switch/gba-switchd
endif
sim_switch_gba_switchd_SOURCES = $(GBA_SWITCH_CORE) $(GBA_SWITCH_NET) $(GBA_VFIO_SERVER) \
	sim/switch/command_line.h sim/switch/command_line.c sim/switch/option_values.c \
	sim/switch/main.c
sim_switch_gba_switchd_CPPFLAGS = $(AM_CPPFLAGS) $(LIBEVENT_CORE_CFLAGS)
sim_switch_gba_switchd_LDADD = gba/libgbatext.la sim/libgbaprotocol.la sim/libgbamodel.la $(LIBEVENT_CORE_LIBS)
sim/switch/gba-switchd.service: $(srcdir)/sim/switch/gba-switchd.service.in
	$(AM_V_GEN)$(MKDIR_P) sim/switch && \
	sed 's|@sbindir[@]|$(sbindir)|; s|@docdir[@]|$(docdir)|' $(srcdir)/sim/switch/gba-switchd.service.in >$@.tmp && \
	mv $@.tmp $@
CLEANFILES += sim/switch/gba-switchd.service
# gba_diag needs no libevent, but it is of use only with a gba-switchd.
if HAVE_LIBEVENT
bin_PROGRAMS += sim/switch/gba_diag
endif
sim_switch_gba_diag_SOURCES = sim/switch/diag/diag.h sim/switch/diag/diag.c sim/switch/diag/connect.c
sim_switch_gba_diag_LDADD = gba/libgbacore.la
if HAVE_LIBEVENT
man_MANS += gba/man/gba-switchd.8 gba/man/gba_diag.1
# systemd reads both below /usr and /usr/local.
unitdir = $(prefix)/lib/systemd/system
unit_DATA = sim/switch/gba-switchd.service
sysusersdir = $(prefix)/lib/sysusers.d
sysusers_DATA = sim/switch/gba-switchd.conf
doc_DATA += sim/switch/gba-switchd-tcp.conf
endif

# gba_predict: the engine is a library of its own, for its tests.
noinst_LTLIBRARIES += sim/libgbapredict.la
sim_libgbapredict_la_SOURCES = sim/predict/engine.h sim/predict/engine.c sim/predict/state.h \
	sim/predict/queue.h sim/predict/random.h sim/predict/work.c sim/predict/memory.c sim/predict/link.c sim/predict/tuned.c sim/predict/groups.c sim/predict/barrier.c sim/predict/turns.c \
	sim/predict/candidates.h sim/predict/candidates.c
sim_libgbapredict_la_LIBADD = gba/libgbacore.la -lm
bin_PROGRAMS += sim/predict/gba_predict
sim_predict_gba_predict_SOURCES = sim/predict/main.c sim/predict/report.h sim/predict/report.c
sim_predict_gba_predict_CPPFLAGS = $(AM_CPPFLAGS) -DGBA_PKGDATADIR='"$(pkgdatadir)"'
dist_pkgdata_DATA = sim/predict/gba_predict.gp
sim_predict_gba_predict_LDADD = sim/libgbapredict.la
dist_man_MANS += gba/man/gba_predict.1

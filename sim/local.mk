# The model of the device and of its driver: pure code, shared by the simulator and the tests.
noinst_LTLIBRARIES += sim/libgbamodel.la
sim_libgbamodel_la_SOURCES = \
	sim/model/model.h sim/model/model.c \
	sim/model/event.h sim/model/event.c \
	sim/model/group.h sim/model/group.c \
	sim/model/control.h sim/model/control.c \
	sim/model/port.h sim/model/port.c \
	sim/model/driver.h sim/model/driver.c sim/model/reclaim.c

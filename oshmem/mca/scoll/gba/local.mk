# SPDX-License-Identifier: BSD-3-Clause
# The component of Open MPI's scoll framework (OpenSHMEM).
if BUILD_OSHMEM
ompi_component_LTLIBRARIES += mca_scoll_gba.la
mca_scoll_gba_la_SOURCES = \
	oshmem/mca/scoll/gba/scoll_gba.h \
	oshmem/mca/scoll/gba/component.c \
	oshmem/mca/scoll/gba/pin.c \
	oshmem/mca/scoll/gba/contexts.c \
	oshmem/mca/scoll/gba/module.c \
	oshmem/mca/scoll/gba/activation.c \
	oshmem/mca/scoll/gba/set.c \
	oshmem/mca/scoll/gba/slabs.c \
	oshmem/mca/scoll/gba/transport.c \
	oshmem/mca/scoll/gba/agree.c \
	oshmem/mca/scoll/gba/barrier.c \
	oshmem/mca/scoll/gba/report.c
mca_scoll_gba_la_CPPFLAGS = $(AM_CPPFLAGS) $(OSHMEM_CPPFLAGS)
mca_scoll_gba_la_CFLAGS = $(AM_CFLAGS) $(OMPI_CFLAGS)
mca_scoll_gba_la_LDFLAGS = -module $(OMPI_LDFLAGS)
mca_scoll_gba_la_LIBADD = ompi/mca/common/gba/libgbacommon.la gba/libgba.la \
	$(OSHMEM_LIBS) $(OMPI_LIBS) -ldl
endif

# SPDX-License-Identifier: BSD-3-Clause
# The common part of the coll and scoll components: linked into each, with hidden symbols.
if BUILD_OMPI
noinst_LTLIBRARIES += ompi/mca/common/gba/libgbacommon.la
endif
ompi_mca_common_gba_libgbacommon_la_SOURCES = gba/base/json.h gba/base/json.c \
	ompi/mca/common/gba/compat.h \
	ompi/mca/common/gba/open.h \
	ompi/mca/common/gba/transport.h \
	ompi/mca/common/gba/notifications.h \
	ompi/mca/common/gba/device.h \
	ompi/mca/common/gba/report.h \
	ompi/mca/common/gba/module.h \
	ompi/mca/common/gba/companions.c \
	ompi/mca/common/gba/component.c \
	ompi/mca/common/gba/module.c \
	ompi/mca/common/gba/agree.c \
	ompi/mca/common/gba/messages.c \
	ompi/mca/common/gba/params.c \
	ompi/mca/common/gba/pvars.c \
	ompi/mca/common/gba/transport.c \
	ompi/mca/common/gba/notifications.c \
	ompi/mca/common/gba/device.c \
	ompi/mca/common/gba/choice.c \
	ompi/mca/common/gba/modex.c \
	ompi/mca/common/gba/processors.c \
	ompi/mca/common/gba/progress.c \
	ompi/mca/common/gba/report.c \
	ompi/mca/common/gba/stall.c \
	ompi/mca/common/gba/totals.c \
	gba/algo/exchange.h gba/algo/exchange.c \
	gba/base/batch_job.c gba/base/process.c gba/base/mca_names.h gba/base/mca_names.c gba/base/near.h
ompi_mca_common_gba_libgbacommon_la_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS) -DGBA_SYSCONFDIR='"$(sysconfdir)"'
ompi_mca_common_gba_libgbacommon_la_CFLAGS = $(AM_CFLAGS) $(OMPI_CFLAGS)

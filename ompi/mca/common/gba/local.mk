# SPDX-License-Identifier: BSD-3-Clause
# What the coll and the scoll component need alike: linked into each, with hidden symbols.
noinst_LTLIBRARIES += ompi/mca/common/gba/libgbacommon.la
ompi_mca_common_gba_libgbacommon_la_SOURCES = \
	ompi/mca/common/gba/compat.h \
	ompi/mca/common/gba/gba_common.h \
	ompi/mca/common/gba/companions.c \
	ompi/mca/common/gba/params.c \
	ompi/mca/common/gba/signals.c \
	ompi/mca/common/gba/notices.c \
	ompi/mca/common/gba/report.c
ompi_mca_common_gba_libgbacommon_la_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
ompi_mca_common_gba_libgbacommon_la_CFLAGS = $(AM_CFLAGS) $(OMPI_CFLAGS)

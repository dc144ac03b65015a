# SPDX-License-Identifier: BSD-3-Clause
# gba_perf: a script, two programs that measure, and one that reports. Users run only the script.
GBA_PERF_SOURCES = contrib/perf/measure.h contrib/perf/main.c contrib/perf/job.c contrib/perf/floor.c \
	contrib/perf/batch.c contrib/perf/call.c contrib/perf/served.c \
	contrib/perf/calibrate.h contrib/perf/calibrate.c contrib/perf/calibrate_cores.c contrib/perf/calibrate_messages.c \
	contrib/perf/calibrate_lines.c
# Preloaded into programs.
GBA_PERF_RECORDER_SOURCES = contrib/perf/measure.h contrib/perf/recorder.h contrib/perf/recorder.c \
	contrib/perf/recorder_mpi.c contrib/perf/recorder_shmem.c contrib/perf/recorder_end.c \
	contrib/perf/recorder_calls.h contrib/perf/recorder_calls.c \
	contrib/perf/recorder_parts.h contrib/perf/recorder_parts.c contrib/perf/job.c \
	contrib/perf/clock.c
perfexecdir = $(pkglibexecdir)
perfdatadir = $(pkgdatadir)/perf
pkglibexec_PROGRAMS =
if BUILD_OMPI
bin_SCRIPTS += contrib/perf/gba_perf
dist_man_MANS += gba/man/gba_perf.1
dist_perfdata_DATA = contrib/perf/options.sh contrib/perf/runs.sh contrib/perf/plot.gp \
	contrib/perf/program.sh contrib/launcher.sh
perfexec_LTLIBRARIES = contrib/perf/gba_perf_recorder.la
pkglibexec_PROGRAMS += contrib/perf/gba_perf_report contrib/perf/gba_perf_mpi
if BUILD_OSHMEM
pkglibexec_PROGRAMS += contrib/perf/gba_perf_shmem
endif
endif
contrib_perf_gba_perf_report_SOURCES = contrib/perf/records.h contrib/perf/stats.h \
	contrib/perf/stats.c contrib/perf/records.c contrib/perf/rows.c contrib/perf/table.c \
	contrib/perf/program.h contrib/perf/program.c contrib/perf/barriers.c \
	contrib/perf/formats.c contrib/perf/plotdata.c contrib/perf/report.c
contrib_perf_gba_perf_report_LDADD = gba/libgbatext.la -lm
contrib_perf_gba_perf_mpi_SOURCES = $(GBA_PERF_SOURCES) contrib/perf/calls_mpi.c
contrib_perf_gba_perf_mpi_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
contrib_perf_gba_perf_mpi_LDADD = gba/libgbatext.la gba/libgba.la $(MPI_LIBS)
contrib_perf_gba_perf_shmem_SOURCES = $(GBA_PERF_SOURCES) contrib/perf/calls_shmem.c
contrib_perf_gba_perf_shmem_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
contrib_perf_gba_perf_shmem_LDADD = gba/libgbatext.la gba/libgba.la -loshmem $(MPI_LIBS)

contrib_perf_gba_perf_recorder_la_SOURCES = $(GBA_PERF_RECORDER_SOURCES)
contrib_perf_gba_perf_recorder_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
contrib_perf_gba_perf_recorder_la_CFLAGS = $(AM_CFLAGS) -fvisibility=default -ftls-model=initial-exec
# Of its functions a program sees those that it replaces only.
contrib_perf_gba_perf_recorder_la_LDFLAGS = -module -avoid-version -shared -export-symbols-regex '^(P?MPI|shmem|mpi)_'
contrib_perf_gba_perf_recorder_la_LIBADD = gba/libgba.la $(MPI_LIBS) -lpthread -ldl -lm

GBA_OTHER_UNIT_TESTS += tests/unit/perf/test_perf_stats
tests_unit_perf_test_perf_stats_SOURCES = tests/unit/perf/test_perf_stats.c contrib/perf/stats.h \
	contrib/perf/stats.c
tests_unit_perf_test_perf_stats_LDADD = $(CMOCKA_LIBS)
GBA_OTHER_UNIT_TESTS += tests/unit/perf/test_perf_verdict
tests_unit_perf_test_perf_verdict_SOURCES = tests/unit/perf/test_perf_verdict.c contrib/perf/records.h contrib/perf/stats.h \
	contrib/perf/stats.c contrib/perf/records.c contrib/perf/rows.c \
	contrib/perf/program.h contrib/perf/program.c contrib/perf/barriers.c
tests_unit_perf_test_perf_verdict_LDADD = gba/libgbatext.la $(CMOCKA_LIBS) -lm
GBA_OTHER_UNIT_TESTS += tests/unit/perf/test_perf_recorder
tests_unit_perf_test_perf_recorder_SOURCES = tests/unit/perf/test_perf_recorder.c contrib/perf/recorder.h \
	contrib/perf/recorder.c contrib/perf/recorder_parts.h contrib/perf/recorder_parts.c
tests_unit_perf_test_perf_recorder_LDADD = $(CMOCKA_LIBS) -lpthread -lm

# SPDX-License-Identifier: BSD-3-Clause
# Scripts and examples. The demo is an MPI program like any other.
noinst_PROGRAMS += contrib/examples/demo
contrib_examples_demo_SOURCES = contrib/examples/demo.c
contrib_examples_demo_CPPFLAGS = $(MPI_CPPFLAGS)
contrib_examples_demo_LDADD = $(MPI_LIBS)

# The rules of the house are part of "make check".
dist_check_SCRIPTS += contrib/check-layers
TESTS += contrib/check-layers

EXTRA_DIST += \
	.ci/run .clang-tidy \
	contrib/check contrib/check-configure contrib/check-install contrib/check-spec \
	contrib/demo contrib/gba-env contrib/lib.sh contrib/lint contrib/packages

# Benchmarks, not built by default: make contrib/bench/shm_floor
EXTRA_PROGRAMS = contrib/bench/shm_floor
contrib_bench_shm_floor_SOURCES = contrib/bench/shm_floor.c
contrib_bench_shm_floor_LDADD = gba/libgbacore.la
# Its addresses are those that the linker gave, so that they can be compared with callgrind's.
EXTRA_PROGRAMS += contrib/bench/fast_path
contrib_bench_fast_path_SOURCES = contrib/bench/fast_path.c tests/unit/fake_kernel.c \
	tests/unit/fake_kernel.h tests/unit/fake_driver.c tests/unit/fake_driver.h
contrib_bench_fast_path_LDADD = gba/libgbacore.la
contrib_bench_fast_path_LDFLAGS = -no-pie
EXTRA_DIST += contrib/bench/instructions contrib/bench/barrier contrib/bench/README.md
CLEANFILES += $(EXTRA_PROGRAMS)

# SPDX-License-Identifier: BSD-3-Clause
# Scripts and examples. The demo is an MPI program like any other.
if BUILD_OMPI
noinst_PROGRAMS += contrib/examples/demo
if HAVE_OPENMP
noinst_PROGRAMS += contrib/examples/cores
endif
endif
contrib_examples_cores_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
contrib_examples_cores_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
contrib_examples_cores_LDADD = gba/libgba.la $(MPI_LIBS)
contrib_examples_demo_CPPFLAGS = $(MPI_CPPFLAGS)
contrib_examples_demo_LDADD = $(MPI_LIBS)

# The rules of the house are part of "make check".
dist_check_SCRIPTS += contrib/maint/check-layers contrib/maint/check-manual
TESTS += contrib/maint/check-layers contrib/maint/check-manual

# Benchmarks: "make check" builds them, so that they stay buildable, and nothing else runs them.
# fast_path has the addresses that the linker gave, so that they can be compared with callgrind's.
check_PROGRAMS += contrib/bench/fast_path
contrib_bench_fast_path_SOURCES = contrib/bench/fast_path.c $(GBA_FAKE_KERNEL)
contrib_bench_fast_path_LDADD = gba/libgbacore.la
contrib_bench_fast_path_LDFLAGS = -no-pie

# A split barrier hides work.
if BUILD_OMPI
noinst_PROGRAMS += contrib/examples/overlap
endif
contrib_examples_overlap_CPPFLAGS = $(MPI_CPPFLAGS)
contrib_examples_overlap_LDADD = $(MPI_LIBS)

# OpenSHMEM examples: independent of the plugins, they include only their own headers.
if BUILD_OSHMEM
GBA_OSHMEM_LIBS = -loshmem $(MPI_LIBS)
if HAVE_BLAS
GBA_BLAS_CPPFLAGS = -DMOE_BLAS
endif
noinst_PROGRAMS += contrib/examples/kv_shuffle/kv_shuffle \
	contrib/examples/moe_dispatch/moe_dispatch
contrib_examples_kv_shuffle_kv_shuffle_SOURCES = contrib/examples/kv_shuffle/kv_shuffle.c \
	contrib/examples/kv_shuffle/exchange.c contrib/examples/kv_shuffle/model.c \
	contrib/examples/kv_shuffle/transfer.c contrib/examples/kv_shuffle/plan.c \
	contrib/examples/kv_shuffle/operator.c contrib/examples/pool.c
contrib_examples_kv_shuffle_kv_shuffle_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
contrib_examples_kv_shuffle_kv_shuffle_LDADD = gba/libgba.la -lpthread $(GBA_OSHMEM_LIBS)
contrib_examples_moe_dispatch_moe_dispatch_SOURCES = contrib/examples/moe_dispatch/moe_dispatch.c \
	contrib/examples/moe_dispatch/step.c contrib/examples/moe_dispatch/dispatch.c \
	contrib/examples/moe_dispatch/combine.c contrib/examples/moe_dispatch/sync.c \
	contrib/examples/moe_dispatch/pe.c contrib/examples/moe_dispatch/nodes.c \
	contrib/examples/moe_dispatch/model.c contrib/examples/moe_dispatch/product.c \
	contrib/examples/moe_dispatch/experts.c contrib/examples/pool.c
contrib_examples_moe_dispatch_moe_dispatch_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS) $(GBA_BLAS_CPPFLAGS)
contrib_examples_moe_dispatch_moe_dispatch_LDADD = gba/libgba.la -lpthread $(BLAS_LIBS) $(GBA_OSHMEM_LIBS) -lm
endif
# The nodes and the matrix product of moe_dispatch, and the planner and the serial model of kv_shuffle,
# are plain C.
GBA_OTHER_UNIT_TESTS += contrib/examples/moe_dispatch/test_plain
contrib_examples_moe_dispatch_test_plain_SOURCES = contrib/examples/moe_dispatch/test_plain.c \
	contrib/examples/moe_dispatch/nodes.c contrib/examples/moe_dispatch/model.c \
	contrib/examples/moe_dispatch/product.c contrib/examples/moe_dispatch/experts.c
# Without a BLAS: its loop is for other machines.
contrib_examples_moe_dispatch_test_plain_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
contrib_examples_moe_dispatch_test_plain_LDADD = $(CMOCKA_LIBS) -lm
GBA_OTHER_UNIT_TESTS += contrib/examples/kv_shuffle/test_plan
contrib_examples_kv_shuffle_test_plan_SOURCES = contrib/examples/kv_shuffle/test_plan.c \
	contrib/examples/kv_shuffle/model.c contrib/examples/kv_shuffle/plan.c
contrib_examples_kv_shuffle_test_plan_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
contrib_examples_kv_shuffle_test_plan_LDADD = $(CMOCKA_LIBS)
# Packages: contrib/packaging/README.md describes each.
dist_pkgdata_SCRIPTS = contrib/packaging/slurm-health
# A sample for monitoring.
dist_doc_DATA = contrib/packaging/metrics/gba-alerts.yml
# The examples, as sources.
examplesdir = $(docdir)/examples
install-examples:
	@cd $(srcdir)/contrib/examples && find . -name '*.[ch]' -o -name '*.cu' -o -name '*.md' | while read -r file; do \
		$(MKDIR_P) "$(DESTDIR)$(examplesdir)/$${file%/*}" && \
		$(INSTALL_DATA) "$$file" "$(DESTDIR)$(examplesdir)/$$file" || exit 1; done
.PHONY: install-examples
# The file of the site, which an installation never replaces.
site_file = "$(DESTDIR)$(sysconfdir)/gba-barrier.conf"
install-site-file:
	$(MKDIR_P) "$(DESTDIR)$(sysconfdir)"
	test -e $(site_file) || $(INSTALL_DATA) $(srcdir)/contrib/packaging/gba-barrier.conf $(site_file)
uninstall-site-file:
	! cmp -s $(srcdir)/contrib/packaging/gba-barrier.conf $(site_file) || rm -f $(site_file)
.PHONY: install-site-file uninstall-site-file
if BUILD_OMPI
install_site_file = install-site-file
uninstall_site_file = uninstall-site-file
endif
# libgba without MPI.
noinst_PROGRAMS += contrib/examples/no_mpi/barriers
contrib_examples_no_mpi_barriers_LDADD = gba/libgba_bootstrap.la gba/libgba.la

# SPDX-License-Identifier: BSD-3-Clause
# The component of Open MPI's coll framework. Its file name, its one visible symbol and the name in
# its structure go together: Open MPI derives one from the other.
ompi_componentdir = $(GBA_COMPONENT_DIR)
ompi_component_LTLIBRARIES =
if BUILD_OMPI
ompi_component_LTLIBRARIES += mca_coll_gba_barrier.la
endif
mca_coll_gba_barrier_la_SOURCES = \
	ompi/mca/coll/gba_barrier/compat.h \
	ompi/mca/coll/gba_barrier/module.h \
	ompi/mca/coll/gba_barrier/agree.h \
	ompi/mca/coll/gba_barrier/queue.h \
	ompi/mca/coll/gba_barrier/component.c \
	ompi/mca/coll/gba_barrier/capability.c \
	ompi/mca/coll/gba_barrier/module.c \
	ompi/mca/coll/gba_barrier/agree.c \
	ompi/mca/coll/gba_barrier/barrier.c \
	ompi/mca/coll/gba_barrier/ibarrier.c \
	ompi/mca/coll/gba_barrier/request.c \
	ompi/mca/coll/gba_barrier/persistent.c \
	ompi/mca/coll/gba_barrier/report.c
mca_coll_gba_barrier_la_CPPFLAGS = $(AM_CPPFLAGS) $(OMPI_CPPFLAGS)
mca_coll_gba_barrier_la_CFLAGS = $(AM_CFLAGS) $(OMPI_CFLAGS)
mca_coll_gba_barrier_la_LDFLAGS = -module $(OMPI_LDFLAGS)
mca_coll_gba_barrier_la_LIBADD = ompi/mca/common/gba/libgbacommon.la gba/libgba.la $(OMPI_LIBS) -ldl
# No other package installs files there, and automake removes files only.
uninstall-hook:
	@cd "$(DESTDIR)$(modeldir)" 2>/dev/null && rmdir gba/base gba/spec gba sim/model sim || :
	@rmdir "$(DESTDIR)$(pkglibexecdir)" "$(DESTDIR)$(pkglibdir)" "$(DESTDIR)$(pkgdatadir)/perf" "$(DESTDIR)$(pkgdatadir)/modulefiles" "$(DESTDIR)$(pkgdatadir)/clusters" "$(DESTDIR)$(pkgdatadir)/spec" \
		"$(DESTDIR)$(pkgdatadir)/systemd" "$(DESTDIR)$(pkgdatadir)" "$(DESTDIR)$(docdir)" "$(DESTDIR)$(includedir)/gba/spec" \
		"$(DESTDIR)$(includedir)/gba" 2>/dev/null || :

# libtool relinks a component at installation, against the installed libgba. With make -j libgba
# must be installed first. (A variable, because automake takes a rule with the plain name as a
# replacement of its own.)
install_ompi_component = install-ompi_componentLTLIBRARIES
$(install_ompi_component): install-libLTLIBRARIES

# GBA_OPENMPI: find Open MPI through mpicc, and what a component and a program need from it.
#
#   MPICC, MPIRUN, OMPI_INFO    its commands
#   MPI_CPPFLAGS, MPI_LIBS      for MPI programs (tests, examples)
#   OMPI_CPPFLAGS, OMPI_CFLAGS, OMPI_LIBS, OMPI_LDFLAGS   for components
#   GBA_COMPONENT_DIR           where components are installed
#   gba_ompi_version, gba_ompi_prefix, gba_component_note   for the summary
AC_DEFUN([GBA_OPENMPI], [
    AC_REQUIRE([AC_CANONICAL_HOST])
    AC_ARG_WITH([ompi],
        [AS_HELP_STRING([--with-ompi=DIR], [use the Open MPI installed in DIR (default: the first
            mpicc in PATH that is Open MPI's); --without-ompi builds all but the components])],
        [AS_CASE([$with_ompi], [yes|no|""], [AC_MSG_ERROR([--with-ompi needs a directory])])
         gba_ompi_path=$with_ompi/bin
         GBA_DISTCHECK_FLAGS="--with-ompi='$with_ompi'"],
        [gba_ompi_path=$PATH
         GBA_DISTCHECK_FLAGS=])
    AC_SUBST([GBA_DISTCHECK_FLAGS])

    # Where several MPIs are installed, Debian calls Open MPI's mpicc.openmpi, and mpicc may be
    # another's.
    AC_CACHE_CHECK([for Open MPI's mpicc], [gba_cv_mpicc], [
        gba_cv_mpicc=no
        gba_saved_ifs=$IFS
        for gba_name in mpicc mpicc.openmpi; do
            IFS=$PATH_SEPARATOR
            for gba_dir in $gba_ompi_path; do
                IFS=$gba_saved_ifs
                AS_CASE([`"$gba_dir/$gba_name" --showme:version 2>/dev/null </dev/null`],
                    [*"Open MPI"*], [gba_cv_mpicc=$gba_dir/$gba_name; break 2])
            done
            IFS=$gba_saved_ifs
        done
        IFS=$gba_saved_ifs])
    AS_IF([test "$gba_cv_mpicc" = no],
        [AC_MSG_ERROR([no mpicc of Open MPI in $gba_ompi_path; install Open MPI (Debian: apt-get
            install libopenmpi-dev openmpi-bin), or name its directory with --with-ompi=DIR])])
    MPICC=$gba_cv_mpicc
    gba_bindir=`AS_DIRNAME(["$MPICC"])`
    gba_suffix=`AS_ECHO(["$MPICC"]) | $SED 's,.*/mpicc,,'`
    MPIRUN=$gba_bindir/mpirun$gba_suffix
    OMPI_INFO=$gba_bindir/ompi_info
    AC_SUBST([MPICC])
    AC_SUBST([MPIRUN])
    AC_SUBST([OMPI_INFO])
    AS_IF([test -x "$OMPI_INFO"], [],
        [AC_MSG_ERROR([no ompi_info beside $MPICC (Debian: apt-get install openmpi-bin)])])
    gba_ompi_sysconfdir=`"$OMPI_INFO" --parsable --path sysconfdir 2>/dev/null | $SED -n 's,^path:sysconfdir:,,p'`
    AC_SUBST([gba_ompi_sysconfdir])

    gba_ompi_prefix=`"$OMPI_INFO" --parsable --path prefix | $SED -n 's/^path:prefix://p'`
    gba_ompi_pkglibdir=`"$OMPI_INFO" --parsable --path pkglibdir | $SED -n 's/^path:pkglibdir://p'`
    gba_ompi_incdir=`"$OMPI_INFO" --parsable --path pkgincludedir |
        $SED -n 's/^path:pkgincludedir://p'`
    AS_IF([test -n "$gba_ompi_prefix" && test -n "$gba_ompi_pkglibdir"], [],
        [AC_MSG_ERROR([$OMPI_INFO does not print where Open MPI is installed])])

    # Open MPI's own headers do not compile without warnings under our flags: system headers.
    MPI_CPPFLAGS=`"$MPICC" --showme:compile | $SED 's/-I */-isystem /g'`
    MPI_LIBS=`"$MPICC" --showme:link`
    AC_SUBST([MPI_CPPFLAGS])
    AC_SUBST([MPI_LIBS])
    OMPI_CPPFLAGS="$MPI_CPPFLAGS -isystem $gba_ompi_incdir"

    gba_saved_cppflags=$CPPFLAGS
    gba_saved_cflags=$CFLAGS
    gba_saved_libs=$LIBS
    CPPFLAGS="$CPPFLAGS $OMPI_CPPFLAGS"
    GBA_OPENMPI_VERSION
    AS_CASE([$gba_ompi_version], [4.1.*], [], [
        GBA_OPENMPI_PACKAGES
        # Four headers that 5.0 and 6.0 include and do not install: behind all others, so that those
        # of an Open MPI that has them count.
        CPPFLAGS="$CPPFLAGS -isystem $srcdir/ompi/mca/common/gba/shim"
        OMPI_CPPFLAGS="$OMPI_CPPFLAGS -isystem \$(srcdir)/ompi/mca/common/gba/shim"])
    AC_SUBST([OMPI_CPPFLAGS])
    # For gba-env. PMIx has its components in the directory pmix of its libraries.
    AS_CASE([$gba_ompi_version], [4.1.*],
        [gba_ompi_has_prrte=no gba_pmix_component_dir=],
        [gba_ompi_has_prrte=yes
         gba_pmix_component_dir=`test -z "$PKG_CONFIG" ||
            "$PKG_CONFIG" --variable=libdir pmix 2>/dev/null`/pmix
         test -z "$with_pmix" || gba_pmix_component_dir=$with_pmix/lib/pmix])
    AC_SUBST([gba_ompi_has_prrte])
    AC_SUBST([gba_pmix_component_dir])
    GBA_OPENMPI_FLAGS
    gba_package_ldflags=$LDFLAGS
    GBA_OPENMPI_COMPONENT
    CPPFLAGS=$gba_saved_cppflags
    CFLAGS=$gba_saved_cflags
    LDFLAGS=$gba_package_ldflags
    LIBS=$gba_saved_libs
    GBA_OPENMPI_COMPONENT_DIR
])

# The version is that of the header that we compile against. Component interfaces are matched
# exactly by Open MPI, so an unknown release series must not get a plugin.
AC_DEFUN([GBA_OPENMPI_VERSION], [
    AC_CACHE_CHECK([for the version of Open MPI], [gba_cv_ompi_version], [
        gba_cv_ompi_version=unknown
        AC_COMPUTE_INT([gba_major], [OMPI_MAJOR_VERSION], [[#include <mpi.h>]], [gba_major=])
        AC_COMPUTE_INT([gba_minor], [OMPI_MINOR_VERSION], [[#include <mpi.h>]], [gba_minor=])
        AC_COMPUTE_INT([gba_release], [OMPI_RELEASE_VERSION], [[#include <mpi.h>]], [gba_release=])
        AS_IF([test -n "$gba_major"], [gba_cv_ompi_version=$gba_major.$gba_minor.$gba_release])])
    gba_ompi_version=$gba_cv_ompi_version
    AS_CASE([$gba_ompi_version],
        [4.1.*|5.0.*|6.*], [],
        [unknown], [AC_MSG_ERROR([mpi.h of $MPICC does not compile or is not Open MPI's
            (Debian: apt-get install libopenmpi-dev); see config.log])],
        [AC_MSG_ERROR([Open MPI $gba_ompi_version in $gba_ompi_prefix: this plugin supports the
            component interfaces of 4.1, 5.0 and 6.x; use --with-ompi=DIR for another Open MPI])])
])

# Headers of other packages that Open MPI's internal headers include: from 5.0 on pmix.h, and through
# it perhaps those of hwloc and libevent. They are in no directory that mpicc names.
AC_DEFUN([GBA_OPENMPI_PACKAGES], [
    AC_REQUIRE([PKG_PROG_PKG_CONFIG])
    GBA_OPENMPI_PACKAGE([pmix], [pmix.h])
    GBA_OPENMPI_PACKAGE([hwloc], [hwloc.h])
    GBA_OPENMPI_PACKAGE([libevent], [event.h])
])

# GBA_OPENMPI_PACKAGE(NAME, HEADER): --with-NAME=DIR, else where the compiler looks anyway, else
# where pkg-config finds it. If it is missing, that is no error here: not every Open MPI needs it.
AC_DEFUN([GBA_OPENMPI_PACKAGE], [
    AC_ARG_WITH([$1],
        [AS_HELP_STRING([--with-$1=DIR], [use the $2 of DIR/include, for an Open MPI that was built
            with the $1 in DIR (default: pkg-config finds it)])],
        [AS_CASE([$withval], [yes|no|""], [AC_MSG_ERROR([--with-$1 needs a directory])])
         AS_IF([test -f "$withval/include/$2"], [],
            [AC_MSG_ERROR([--with-$1=$withval: there is no $withval/include/$2])])
         gba_package_cppflags="-isystem $withval/include"
         LDFLAGS="$LDFLAGS -L$withval/lib"
         GBA_DISTCHECK_FLAGS="$GBA_DISTCHECK_FLAGS --with-$1='$withval'"],
        [gba_package_cppflags=
         AC_MSG_CHECKING([where $2 is])
         AC_PREPROC_IFELSE([AC_LANG_SOURCE([[#include <$2>]])],
            [AC_MSG_RESULT([where the compiler looks])],
            [gba_package_cppflags=`test -z "$PKG_CONFIG" ||
                "$PKG_CONFIG" --cflags-only-I $1 2>/dev/null | $SED 's/-I */-isystem /g'`
             AS_IF([test -n "$gba_package_cppflags"],
                [AC_MSG_RESULT([$gba_package_cppflags])], [AC_MSG_RESULT([not found])])])])
    OMPI_CPPFLAGS="$OMPI_CPPFLAGS $gba_package_cppflags"
    CPPFLAGS="$CPPFLAGS $gba_package_cppflags"
])

# A component is compiled against headers that "make install" of Open MPI leaves out by default, and
# linked against libraries that mpicc may not name: this is a small one, with the header that all
# files of the real one include.
AC_DEFUN([GBA_OPENMPI_COMPONENT], [
    AC_MSG_CHECKING([whether a component compiles and links])
    CFLAGS="$CFLAGS $OMPI_CFLAGS -std=gnu11 -fPIC"
    CPPFLAGS="$CPPFLAGS -I$srcdir"
    LDFLAGS="$LDFLAGS -shared -Wl,-z,defs"
    LIBS=$OMPI_LIBS
    AC_LINK_IFELSE([AC_LANG_SOURCE([[
#include "ompi/mca/coll/gba_barrier/compat.h"
#include "ompi/mca/pml/pml.h"
#include "opal/class/opal_free_list.h"
#include "opal/mca/base/mca_base_pvar.h"
#include "opal/mca/base/mca_base_var.h"
struct module {
    mca_coll_base_module_t super;
    opal_mutex_t lock;
};
int barrier(ompi_communicator_t *comm, struct module *module, ompi_request_t *request);
int barrier(ompi_communicator_t *comm, struct module *module, ompi_request_t *request)
{
    char key[] = "gba.configure";
    const uint64_t word = (uint64_t)ompi_comm_size(comm);
    opal_mutex_lock(&module->lock);
    while (!REQUEST_COMPLETE(request))
        (void)opal_progress();
    opal_mutex_unlock(&module->lock);
    OBJ_RETAIN(&module->super);
    MCA_PML_CALL(progress());
    return gba_compat_modex_put(key, &word, 1);
}
]])],
        [AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])
         # The compiler's messages go to config.log; the first missing header or library is named here.
         gba_missing=`$SED -n -e 's/.*fatal error: \(.*\): No such file.*/\1/p' \
            -e "s/.*fatal error: '\(.*\)' file not found.*/\1/p" conftest.err 2>/dev/null | head -n 1`
         AS_CASE([$gba_missing],
            [""], [AC_MSG_ERROR([a component of Open MPI $gba_ompi_version in $gba_ompi_prefix does not
                compile or link; the end of config.log says why])],
            [pmix*|hwloc*|event*], [AC_MSG_ERROR([$gba_missing, which Open MPI's internal headers
                include, is missing; install it (Debian: apt-get install libpmix-dev libhwloc-dev
                libevent-dev), or name its directory with --with-pmix=DIR, --with-hwloc=DIR or
                --with-libevent=DIR])],
            [AC_MSG_ERROR([Open MPI's internal headers are missing from $gba_ompi_incdir: $gba_missing
                Debian has them in libopenmpi-dev; an Open MPI of your own needs to be configured with
                --with-devel-headers and installed again])])])
])

# Components need cmpxchg16b in the inline code of its free lists (it fails at run time without, and
# mpicc does not say it), and type punning in its object system.
AC_DEFUN([GBA_OPENMPI_FLAGS], [
    OMPI_CFLAGS=-fno-strict-aliasing
    AS_CASE([$host_cpu], [x86_64*],
        [AC_MSG_CHECKING([whether $CC takes -mcx16])
         CFLAGS="$CFLAGS -mcx16"
         AC_COMPILE_IFELSE([AC_LANG_PROGRAM],
            [AC_MSG_RESULT([yes]); OMPI_CFLAGS="$OMPI_CFLAGS -mcx16"],
            [AC_MSG_RESULT([no])])
         CFLAGS=$gba_saved_cflags])
    AC_SUBST([OMPI_CFLAGS])

    # -z defs below wants every library named that a symbol comes from, and these names changed
    # between releases: opal_progress is in all of them, orte only in 4.1, PMIx directly from 5.0.
    LIBS=$MPI_LIBS
    AC_SEARCH_LIBS([opal_progress], [open-pal], [],
        [AC_MSG_ERROR([no library of $MPICC has opal_progress])])
    # The internals of Open MPI are in a library of their own from 6.0 on.
    AC_SEARCH_LIBS([ompi_comm_free], [open_mpi], [],
        [AC_MSG_ERROR([no library of $MPICC has ompi_comm_free])])
    AS_CASE([$gba_ompi_version],
        [4.1.*], [AC_SEARCH_LIBS([orte_init], [open-rte])],
        [AC_SEARCH_LIBS([PMIx_Put], [pmix], [],
            [AC_MSG_ERROR([no libpmix with PMIx_Put; install it (Debian: apt-get install
                libpmix-dev), or name its directory with --with-pmix=DIR])])])
    OMPI_LIBS=$LIBS
    AC_SUBST([OMPI_LIBS])

    # nodelete: Open MPI closes components before the process ends, and a callback or a thread of
    # ours may still be on its way out.
    OMPI_LDFLAGS='-avoid-version -shared -Wl,-z,defs -Wl,-z,nodelete'
    AC_SUBST([OMPI_LDFLAGS])
])

# Open MPI finds components by itself only in its own directory. A prefix that is not its own gets
# a separate directory; gba-env then adds it to Open MPI's path.
AC_DEFUN([GBA_OPENMPI_COMPONENT_DIR], [
    AC_ARG_WITH([component-dir],
        [AS_HELP_STRING([--with-component-dir=DIR], [install the Open MPI components in DIR (default:
            where Open MPI has its own if --prefix is its prefix, else LIBDIR/openmpi)])],
        [AS_CASE([$with_component_dir],
            [/*], [GBA_COMPONENT_DIR=$with_component_dir],
            [AC_MSG_ERROR([--with-component-dir needs an absolute directory])])],
        [gba_prefix=$prefix
         test "$gba_prefix" = NONE && gba_prefix=$ac_default_prefix
         AS_IF([test "$gba_prefix" = "$gba_ompi_prefix"],
            [GBA_COMPONENT_DIR=$gba_ompi_pkglibdir], [GBA_COMPONENT_DIR='${libdir}/openmpi'])])
    AC_SUBST([GBA_COMPONENT_DIR])
    gba_ompi_own_dir=$gba_ompi_pkglibdir
    AC_SUBST([gba_ompi_own_dir])
    AS_IF([test "$GBA_COMPONENT_DIR" = "$gba_ompi_pkglibdir"],
        [gba_component_note=" (Open MPI's own)"],
        [gba_component_note=" (eval \"\`gba-env\`\" makes Open MPI look there)"])
])

# GBA_OPENSHMEM: whether the scoll component can be built. BUILD_OSHMEM for the makefiles.
#
#   OSHCC, OSHRUN, OSHMEM_INFO    its commands, for tests and examples
#   OSHMEM_CPPFLAGS, OSHMEM_LIBS  for the component
AC_DEFUN([GBA_OPENSHMEM], [
    AC_ARG_ENABLE([oshmem],
        [AS_HELP_STRING([--disable-oshmem],
            [leave the OpenSHMEM component out (default: in, when oshcc and its headers are there)])],
        [], [enable_oshmem=auto])
    OSHCC=$gba_bindir/oshcc$gba_suffix
    test -x "$OSHCC" || OSHCC=$gba_bindir/oshcc
    OSHRUN=$gba_bindir/oshrun$gba_suffix
    test -x "$OSHRUN" || OSHRUN=$gba_bindir/oshrun
    OSHMEM_INFO=$gba_bindir/oshmem_info
    AC_SUBST([OSHCC])
    AC_SUBST([OSHRUN])
    AC_SUBST([OSHMEM_INFO])
    # Two headers include others by names that only the source tree has: those in shim stand in.
    OSHMEM_CPPFLAGS="$OMPI_CPPFLAGS -isystem `AS_DIRNAME(["$gba_ompi_incdir"])`/openshmem"
    OSHMEM_CPPFLAGS="$OSHMEM_CPPFLAGS -isystem \$(srcdir)/oshmem/mca/scoll/gba/shim"
    AC_SUBST([OSHMEM_CPPFLAGS])
    gba_have_oshmem=no
    AS_IF([test "$enable_oshmem" != no && test -x "$OSHCC"], [
        OSHMEM_LIBS=`"$OSHCC" --showme:link`
        AC_MSG_CHECKING([whether a component of OpenSHMEM compiles])
        gba_saved_cppflags=$CPPFLAGS
        CPPFLAGS="$CPPFLAGS `AS_ECHO(["$OSHMEM_CPPFLAGS"]) |
            $SED "s,.(srcdir),$srcdir,g"`"
        AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include "oshmem_config.h"
#include "oshmem/mca/scoll/base/base.h"
#include "oshmem/mca/spml/spml.h"
#include "oshmem/proc/proc.h"]])], [gba_have_oshmem=yes])
        CPPFLAGS=$gba_saved_cppflags
        AC_MSG_RESULT([$gba_have_oshmem])])
    AC_SUBST([OSHMEM_LIBS])
    AS_IF([test "$enable_oshmem" = yes && test "$gba_have_oshmem" = no],
        [AC_MSG_ERROR([--enable-oshmem: Open MPI in $gba_ompi_prefix has no oshcc, or not the
            internal headers of OpenSHMEM (oshmem/mca/scoll/scoll.h)])])
    AS_CASE([$enable_oshmem,$gba_have_oshmem],
        [no,*], [gba_oshmem_summary="no (--disable-oshmem)"],
        [*,no], [gba_oshmem_summary="no (this Open MPI has none, or not its headers)"],
        [gba_oshmem_summary="yes ($OSHCC)"])
    AM_CONDITIONAL([BUILD_OSHMEM], [test "$gba_have_oshmem" = yes])
])

# GBA_NO_OPENMPI: what the makefiles need where there is no Open MPI, nor a component.
AC_DEFUN([GBA_NO_OPENMPI], [
    GBA_DISTCHECK_FLAGS=--without-ompi
    GBA_COMPONENT_DIR=none
    gba_component_note=" (--without-ompi)"
    gba_oshmem_summary="no (--without-ompi)"
    AM_CONDITIONAL([BUILD_OSHMEM], [false])
])

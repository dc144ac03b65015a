# GBA_OPENMPI: find Open MPI through mpicc.
#   MPICC, OMPI_CPPFLAGS, OMPI_COMPONENT_DIR are set for the makefiles.
AC_DEFUN([GBA_OPENMPI], [
    AC_ARG_WITH([ompi],
        [AS_HELP_STRING([--with-ompi=DIR], [use the Open MPI installed in DIR])],
        [gba_ompi_path=$with_ompi/bin], [gba_ompi_path=$PATH])
    AC_PATH_PROG([MPICC], [mpicc], [no], [$gba_ompi_path])
    AS_IF([test "$MPICC" = no],
        [AC_MSG_ERROR([no mpicc found; install libopenmpi-dev, or use --with-ompi=DIR])])
    OMPI_CPPFLAGS=`$MPICC --showme:compile`
    AC_SUBST([OMPI_CPPFLAGS])
    OMPI_COMPONENT_DIR='${libdir}/openmpi'
    AC_SUBST([OMPI_COMPONENT_DIR])
])

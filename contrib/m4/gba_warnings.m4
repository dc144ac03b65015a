# GBA_WARNINGS: GBA_WARN_CFLAGS gets the warnings that this compiler supports. They are errors unless
# --disable-werror is given, as a packager with a newer compiler will want.
AC_DEFUN([GBA_WARNINGS], [
    AC_ARG_ENABLE([werror],
        [AS_HELP_STRING([--disable-werror], [let the build go on after a warning])])
    GBA_WARN_CFLAGS=
    gba_saved_cflags=$CFLAGS
    for gba_flag in -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
        -Wcast-qual -Wwrite-strings -Wundef -Wvla -Wformat=2; do
        AC_MSG_CHECKING([whether $CC supports $gba_flag])
        CFLAGS="$gba_saved_cflags -Werror $gba_flag"
        AC_COMPILE_IFELSE([AC_LANG_PROGRAM],
            [AC_MSG_RESULT([yes]); GBA_WARN_CFLAGS="$GBA_WARN_CFLAGS $gba_flag"],
            [AC_MSG_RESULT([no])])
    done
    CFLAGS=$gba_saved_cflags
    AS_IF([test "x$enable_werror" != xno], [GBA_WARN_CFLAGS="$GBA_WARN_CFLAGS -Werror"])
    AC_SUBST([GBA_WARN_CFLAGS])
])

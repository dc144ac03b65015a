! SPDX-License-Identifier: BSD-3-Clause
! 10 barriers in Fortran, for gba_perf, by mpif.h, or the module that MODULE names.
program barriers
#ifdef MODULE
    use MODULE
#endif
    implicit none
#ifndef MODULE
    include 'mpif.h'
#endif
    integer :: i, error

    call MPI_Init(error)
    do i = 1, 10
        call MPI_Barrier(MPI_COMM_WORLD, error)
    end do
    call MPI_Finalize(error)
end program

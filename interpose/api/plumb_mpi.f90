! plumb_mpi.h for Fortran: compile this file with the program, before its users. plumb_mpi.h describes the functions and the
! use of addresses.
!
!   type(c_ptr) :: address
!   real(c_double), pointer :: field(:)
!   if (plumb_mpi_alloc(n * c_sizeof(1.0_c_double), address) /= 0) error stop plumb_mpi_error()
!   call c_f_pointer(address, field, [n])
!
! The program may pass `field` and contiguous sections of it, field(2:9), to MPI, and must not access it otherwise. A section
! with a stride must be described by a datatype, because the compiler would copy it.
module plumb_mpi
  use, intrinsic :: iso_c_binding, only: c_char, c_f_pointer, c_int, c_ptr, c_size_t
  implicit none
  private
  public :: plumb_mpi_alloc, plumb_mpi_free, plumb_mpi_copy, plumb_mpi_is_device, plumb_mpi_buffer, plumb_mpi_pointer, &
            plumb_mpi_touch, plumb_mpi_error

  interface
    integer(c_int) function plumb_mpi_alloc(size, address) bind(c)
      import
      integer(c_size_t), value :: size
      type(c_ptr), intent(out) :: address
    end function
    integer(c_int) function plumb_mpi_free(address) bind(c)
      import
      type(c_ptr), value :: address
    end function
    integer(c_int) function plumb_mpi_copy(to, from, size) bind(c)
      import
      type(c_ptr), value :: to, from
      integer(c_size_t), value :: size
    end function
    integer(c_int) function plumb_mpi_touch(address, runs) bind(c)
      import
      type(c_ptr), value :: address, runs
    end function
    integer(c_int) function plumb_mpi_is_device(address) bind(c)
      import
      type(c_ptr), value :: address
    end function
    integer(c_int) function plumb_mpi_buffer(address, memory, offset) bind(c)
      import
      type(c_ptr), value :: address
      type(c_ptr), intent(out) :: memory
      integer(c_size_t), intent(out) :: offset
    end function
    integer(c_int) function plumb_mpi_pointer(address, pointer) bind(c)
      import
      type(c_ptr), value :: address
      type(c_ptr), intent(out) :: pointer
    end function
    type(c_ptr) function latest_error() bind(c, name="plumb_mpi_error")
      import
    end function
    integer(c_size_t) function length_of(text) bind(c, name="strlen")
      import
      type(c_ptr), value :: text
    end function
  end interface

contains

  function plumb_mpi_error() result(sentence)
    character(:), allocatable :: sentence
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(latest_error(), letters, [length_of(latest_error())])
    allocate (character(size(letters)) :: sentence)
    do i = 1, size(letters)
      sentence(i:i) = letters(i)
    end do
  end function

end module

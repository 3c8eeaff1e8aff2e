! A field in the memory of OpenCL devices, a strip of columns for each of several MPI ranks, whose neighbours' edges and corners
! go from device to device by MPI. Of MPI it is an ordinary program; that the field lies on a device is due to the
! lines marked (*).
!
!   mpifort plumb_mpi.f90 halo.f90 -lplumb-mpi-device -o halo
!   mpirun -n 4 halo
program halo
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use plumb_mpi ! (*)
  implicit none
  integer, parameter :: rows = 30, columns = 20
  real(c_double), pointer :: field(:, :) ! with a frame of one point
  real(c_double), allocatable, target :: host(:, :)
  type(MPI_Comm) :: ring
  type(MPI_Datatype) :: row
  type(MPI_Request) :: requests(4)
  type(c_ptr) :: address
  integer :: rank, ranks, left, right, i, j, wrong
  integer(c_size_t) :: bytes

  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .true., ring)
  call MPI_Comm_rank(ring, rank)
  call MPI_Cart_shift(ring, 0, 1, left, right)

  bytes = 8_c_size_t * (rows + 2) * (columns + 2)
  if (plumb_mpi_alloc(bytes, address) /= 0) error stop plumb_mpi_error() ! (*)
  call c_f_pointer(address, field, [rows + 2, columns + 2])              ! (*)

  ! In place of a kernel that computes it; the frame is 0.
  allocate (host(rows + 2, columns + 2), source=0.0_c_double)
  do j = 1, columns
    host(2:rows + 1, j + 1) = [(point(i, rank * columns + j), i = 1, rows)]
  end do
  if (plumb_mpi_copy(address, c_loc(host(1, 1)), bytes) /= 0) error stop plumb_mpi_error() ! (*)

  ! A column is contiguous. The first row goes into the frame's last, and the last into its first, by a type with a stride.
  call MPI_Irecv(field(1, 1), rows + 2, MPI_DOUBLE_PRECISION, left, 0, ring, requests(1))
  call MPI_Irecv(field(1, columns + 2), rows + 2, MPI_DOUBLE_PRECISION, right, 1, ring, requests(2))
  call MPI_Isend(field(1, columns + 1), rows + 2, MPI_DOUBLE_PRECISION, right, 0, ring, requests(3))
  call MPI_Isend(field(1, 2), rows + 2, MPI_DOUBLE_PRECISION, left, 1, ring, requests(4))
  call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
  call MPI_Type_vector(columns + 2, 1, rows + 2, MPI_DOUBLE_PRECISION, row)
  call MPI_Type_commit(row)
  call MPI_Sendrecv(field(2, 1), 1, row, rank, 2, field(rows + 2, 1), 1, row, rank, 2, ring, MPI_STATUS_IGNORE)
  call MPI_Sendrecv(field(rows + 1, 1), 1, row, rank, 2, field(1, 1), 1, row, rank, 2, ring, MPI_STATUS_IGNORE)
  call MPI_Type_free(row)

  if (plumb_mpi_copy(c_loc(host(1, 1)), address, bytes) /= 0) error stop plumb_mpi_error() ! (*)
  wrong = 0
  do j = 0, columns + 1
    do i = 0, rows + 1
      if (host(i + 1, j + 1) /= point(i, rank * columns + j)) wrong = wrong + 1
    end do
  end do
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, ring)
  if (rank == 0) print '(i0,a,i0,a)', ranks, ' ranks: ', wrong, ' points of the frames are wrong'
  if (plumb_mpi_free(address) /= 0) error stop plumb_mpi_error() ! (*)
  call MPI_Finalize()

contains

  ! The whole field's value at row i, column j; both go round.
  pure real(c_double) function point(i, j)
    integer, intent(in) :: i, j
    point = 1000 * modulo(j - 1, ranks * columns) + modulo(i - 1, rows) + 1
  end function

end program

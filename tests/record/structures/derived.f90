! Derived types of Fortran, for the comparison with gdb.
module shapes
  use iso_c_binding
  implicit none
  type point
    integer(1) :: kind
    real(8) :: x, y
  end type
  type, extends(point) :: named_point
    character(len=13) :: name
    logical :: visible
  end type
  type, bind(c) :: from_c
    integer(c_short) :: low
    type(c_ptr) :: where
    real(c_double) :: value(3)
  end type
  type sequence_of
    sequence
    integer(2) :: a
    integer(8) :: b
    complex(8) :: c
  end type
  type holder
    integer(1) :: k
    real(8), allocatable :: grid(:,:)
    integer, pointer :: numbers(:)
    type(point), pointer :: first
    type(named_point) :: inner(2)
    procedure(), pointer, nopass :: call
    integer :: n
  end type
end module
program main
  use shapes
  type(holder), save :: h
  type(from_c), save :: f
  type(sequence_of), save :: s
  type local_type
    integer(1) :: one
    integer(8) :: eight
  end type
  type(local_type), save :: l
  h%n = 1
  h%inner(1)%visible = .true.
  f%low = 2
  s%a = 3
  l%one = 4
  print *, h%n, f%low, s%a, l%one, h%inner(1)%visible
end program

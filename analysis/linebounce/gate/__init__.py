"""`linebounce gate`: which of two versions of a program makes its threads wait more for each other's cache lines."""

// Writes the profile counts when a process ends with _exit, as simulations do, because _exit itself skips that. Linked with
// --wrap=_exit, and only into the program that collects counts.
extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier): gcc's and the linker's names
void __gcov_dump();
[[noreturn]] void __real__exit(int code);

[[noreturn]] void __wrap__exit(int code) {
  __gcov_dump();
  __real__exit(code);
}
// NOLINTEND(bugprone-reserved-identifier)
}

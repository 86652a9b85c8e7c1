// Simulations run in processes that end with _exit, which skips writing the profile counts. Linked with --wrap=_exit only into
// the program that collects them.
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

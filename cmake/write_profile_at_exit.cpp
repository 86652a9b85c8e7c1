// Simulations run in processes that end by _exit, which skips what would write their counts. Linked into the program that
// collects them alone, with --wrap=_exit.
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

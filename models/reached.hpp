// Coverage marks. REACHED(name) names a path that hardly ever runs. The one test that says `ExpectReached mark{"name"}` fails
// if it did not take that path; tools/lint_marks.py requires exactly one such test for each mark.
//
// Marks exist only where LINEBOUNCE_MARKS is defined, in builds with tests; the program itself pays nothing for them.
#pragma once

#include <set>
#include <string_view>

namespace linebounce {

// The marks that this thread has reached. They are global because any file may have a mark. Each test has its own process.
inline std::set<std::string_view>& reached_marks() {
  static thread_local std::set<std::string_view> marks;
  return marks;
}

}  // namespace linebounce

#ifdef LINEBOUNCE_MARKS
#define REACHED(name) static_cast<void>(::linebounce::reached_marks().insert(#name))
#else
#define REACHED(name) static_cast<void>(0)
#endif

#include "sim/point/paper_row.hpp"

namespace linebounce::sim {

std::string_view to_string(ChangeSign sign) {
  return kSignWords.at(static_cast<std::size_t>(sign));
}

}  // namespace linebounce::sim

#include "sim/config/directory_name.hpp"

#include <algorithm>

namespace linebounce::sim {

bool names_directory(const std::string& name) {
  const auto is_odd = [](char letter) {
    const auto byte = static_cast<unsigned char>(letter);
    return byte <= ' ' || byte == 0x7F || letter == '\\';
  };
  if (name.empty() || name.ends_with('/') || std::any_of(name.begin(), name.end(), is_odd)) return false;
  for (std::size_t part = 0; part != std::string::npos; part = name.find('/', part)) {
    part += part > 0 ? 1 : 0;
    if (part == name.size() || name[part] == '.' || name[part] == '/') return false;
  }
  return true;
}

}  // namespace linebounce::sim

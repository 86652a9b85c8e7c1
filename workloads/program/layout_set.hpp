// The structures of a layout file (configs/layouts), by name.
#pragma once

#include <map>
#include <string>

#include "workloads/program/address_space.hpp"

namespace linebounce::workloads {

class LayoutSet {
 public:
  void add(const Layout& layout) { layouts_[layout.name] = layout; }
  [[nodiscard]] bool empty() const { return layouts_.empty(); }

  [[nodiscard]] const std::map<std::string, Layout>& all() const { return layouts_; }

  // Errors: std::invalid_argument, with the names that there are.
  [[nodiscard]] const Layout& find(const std::string& structure) const;

 private:
  std::map<std::string, Layout> layouts_;
};

// Whose part a field is: "wait" of "wait.next", "sd" of "sd[0].lock". Of any other field its own name.
std::string group_of(const std::string& field);

// Whether a field is of this name. What shares bytes is one field of several names: "ptr|bits".
bool is_called(const std::string& field, const std::string& name);

// Where a field begins in its structure, for programs that keep all fields in the object. Errors: std::invalid_argument, also
// for a field that lies in another section.
Address offset_of(const Layout& layout, const std::string& field);

}  // namespace linebounce::workloads

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

  // Errors: std::invalid_argument, which lists the known names.
  [[nodiscard]] const Layout& find(const std::string& structure) const;

 private:
  std::map<std::string, Layout> layouts_;
};

// Returns the group of a field: "wait" for "wait.next" and "wait+12", "sd" for "sd[0].lock". Any other field is its own group.
std::string group_of(const std::string& field);

// True if `name` is a name of `field`. Members of a union are one field with several names: "ptr|bits".
bool is_called(const std::string& field, const std::string& name);

// Returns a field's offset, for programs that keep all fields in the object itself. Errors: std::invalid_argument for an
// unknown field, or a field in a section other than `own`.
Address offset_of(const Layout& layout, const std::string& field);

}  // namespace linebounce::workloads

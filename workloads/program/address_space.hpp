// The memory that programs use: structures with named fields, objects placed at addresses, and functions, so that every miss
// knows what it missed.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/memory/homes.hpp"
#include "models/memory/line_store.hpp"
#include "models/observer.hpp"

namespace linebounce::workloads {

// Where a field stands: in the object itself, in a part of it that is mostly read and lies on lines of its own, or in a part
// that each CPU has for itself (workloads/program/object.hpp).
enum class Section : std::uint8_t { own, read_mostly, per_cpu };

struct Field {
  std::string name;
  int offset = 0;  // bytes, in its section
  int size = 8;
  Section section = Section::own;
  std::string moved_at = {};  // in another section: which change has put it there, "FILE:LINE:COLUMN", for messages

  friend bool operator==(const Field&, const Field&) = default;
};

// Bytes of a structure that a change has moved: `from` in the layout as it was, `to` in its section now.
struct MovedBytes {
  int from = 0, size = 0, to = 0;
  Section section = Section::own;

  friend bool operator==(const MovedBytes&, const MovedBytes&) = default;
};

// A structure's layout. Bytes that no field names belong to a field "".
struct Layout {
  std::string name;
  int size = 0;       // bytes, of its own section
  int alignment = 8;  // of its objects
  std::vector<Field> fields;
  std::optional<int> base_offset = {};  // bytes from the start of a line to where its objects begin; then no `alignment`
  std::string subsystem = {};           // whose structure it is: "scheduler"
  std::vector<MovedBytes> moved = {};   // of a changed one: where each byte is now, by `from`; others are as they were

  friend bool operator==(const Layout&, const Layout&) = default;
};

enum class Mode : std::uint8_t { kernel, user };

struct Function {
  std::string name;
  Mode mode = Mode::kernel;
};

// What stands at an address.
struct Symbol {
  std::string structure, object, field;
  std::int64_t line = 0;    // of the object, counted from the line in which it begins
  std::int64_t offset = 0;  // in that line
};

// Whether these are objects of structure `whole`, or what a layout has moved out of them to another section: "rq.read_mostly".
bool is_part_of(const std::string& structure, const std::string& whole);

class AddressSpace {
 public:
  // `homes`, if there is any, hears where every object is to be; `placed` are objects by name whose home the configuration
  // decides.
  explicit AddressSpace(LineStore& store, Homes* homes = nullptr, std::map<std::string, Home> placed = {});

  [[nodiscard]] int line_bytes() const { return store_->line_bytes(); }

  // Places a new object behind all others. `alignment` 0: the layout's; the coherence line's gives it lines of its own. An
  // object begins a new line (with a policy: a new page) where its home differs from that of the object before it.
  Address place(const Layout& layout, const std::string& object, int alignment = 0, std::optional<Home> home = {});
  // An array without fields that begins on a line of its own and shares none.
  Address place_array(const std::string& object, std::int64_t bytes, std::optional<Home> home = {});

  // The same right behind what was placed before it.
  Address place_bytes(const std::string& object, std::int64_t bytes, std::optional<Home> home = {});
  // Bytes without fields whose lines are told apart.
  Address place_plain(const std::string& object, std::int64_t bytes, int alignment, std::optional<Home> home = {});
  // What is placed next begins so many bytes later. / No earlier than at an address whose remainder by `step` is `remainder`.
  void leave_out(Address bytes) { next_ += bytes; }
  void go_to(Address remainder, Address step) { next_ += (remainder + step - next_ % step) % step; }

  [[nodiscard]] std::vector<std::string> object_names() const;  // in the order of placing

  // What a word holds before the program starts; 0 where nothing is said.
  void preset(Address address, Value value, int bytes = 8) { store_->preset(address, bytes, value); }

  FunctionId function(const std::string& name, Mode mode);
  [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }

  // An address as a number of its object and an offset in it. Bytes of an array are not told apart. Cheap: a miss asks for it.
  struct Place {
    std::uint32_t object = kNoObject;
    std::uint32_t offset = 0;
  };
  static constexpr std::uint32_t kNoObject = 0xFFFFFFFF;
  [[nodiscard]] Place find(Address address) const;
  [[nodiscard]] Symbol symbol(Place place) const;
  [[nodiscard]] Address address(Place place) const;                              // REQUIRES: an object is there
  [[nodiscard]] const std::string& subsystem(Place place) const;                 // of its layout; empty if there is none
  [[nodiscard]] const std::vector<Layout>& layouts() const { return layouts_; }  // of the objects, in the order of their first

  // An object as it was placed, for who places the same ones again.
  struct Object {
    std::size_t layout;
    std::string name;
    Address begin;
    bool array;
    std::int64_t size;
    int alignment;             // as place() was given it
    std::optional<Home> home;  // none: the machine's policy
  };
  [[nodiscard]] const std::vector<Object>& objects() const { return objects_; }  // by address
  // The byte at an address, of arrays, too.
  [[nodiscard]] Place find_byte(Address address) const {
    const std::uint32_t near = found_[address / kGranule % kFound];
    if (near < objects_.size()) {
      const Object& object = objects_[near];
      if (address - object.begin < static_cast<Address>(object.size))
        return {near, static_cast<std::uint32_t>(address - object.begin)};
    }
    return search(address);
  }

  // Where this field is in each of the structure's objects, and in what a layout has moved out of them
  // (workloads/program/object.hpp). Empty where there is no such field, or no object.
  [[nodiscard]] std::vector<Address> addresses_of(const std::string& structure, const std::string& field) const;

 private:
  static constexpr Address kGranule = 32;
  static constexpr std::size_t kFound = 256;

  [[nodiscard]] Place search(Address address) const;
  Address place_sized(const Layout& layout, std::int64_t bytes, const std::string& object, int alignment,
                      std::optional<Home> home);

  LineStore* store_;
  Homes* homes_;
  std::map<std::string, Home> placed_;
  std::optional<Home> last_home_;  // none: the machine's policy
  Address next_;
  std::vector<Layout> layouts_;
  std::vector<Object> objects_;
  mutable std::array<std::uint32_t, kFound> found_ = {};  // objects of the latest searches, by granule
  std::vector<Function> functions_;
};

}  // namespace linebounce::workloads

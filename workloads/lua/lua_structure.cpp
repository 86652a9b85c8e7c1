#include "workloads/lua/lua_structure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "workloads/lua/lua_table.hpp"

namespace linebounce::workloads {
namespace {

constexpr std::int64_t kLargestStructureBytes = 1 << 20;
constexpr std::size_t kMostFields = 1 << 17;  // limit on a structure's fields, including elements of arrays

int round_up_to(int value, int step) {
  return (value + step - 1) / step * step;
}

// Reads the fields of one structure, in the order in which the program lists them.
class FieldReader {
 public:
  FieldReader(Interpreter& lua, Layout& layout) : lua_(lua), layout_(layout) {}

  // Adds the field at the top of Lua's stack: "name", "name:BYTES" or a table.
  void add() {
    if (lua_type(lua_.state(), -1) == LUA_TSTRING) return add_text(lua_.text_at(-1));
    if (lua_type(lua_.state(), -1) != LUA_TTABLE)
      lua_.fail(fmt::format("structure {}: a field is \"name\", \"name:4\" or {{ \"name\", bytes = 4, at = 64, count = 8 }}",
                            layout_.name));
    const LuaTable table(lua_, lua_gettop(lua_.state()), "a field", {"bytes", "at", "count"});
    const std::string name = table.first_text();
    const auto bytes = static_cast<int>(table.integer("bytes", 8, 1, 8));
    const auto at = static_cast<int>(table.integer("at", round_up_to(end_, bytes), 0, kLargestStructureBytes));
    check_name(name);
    const std::int64_t count = table.integer("count", 0, 0, 65536);
    if (count == 0) return add_field(name, bytes, at);
    for (std::int64_t i = 0; i < count; ++i) add_field(fmt::format("{}[{}]", name, i), bytes, at + static_cast<int>(i) * bytes);
  }
  [[nodiscard]] int end() const { return end_; }

 private:
  void add_text(const std::string& text) {
    const auto colon = text.find(':');
    int bytes = 8;
    if (colon != std::string::npos) {
      const char* const last = text.data() + text.size();
      const auto [end, error] = std::from_chars(text.data() + colon + 1, last, bytes);
      if (error != std::errc() || end != last) bytes = 0;
    }
    check_name(text.substr(0, colon));
    add_field(text.substr(0, colon), bytes, bytes > 0 ? round_up_to(end_, bytes) : 0);
  }

  // A name must have no bracket, because the elements of an array are fields "slot[0]", "slot[1]", ...
  void check_name(const std::string& name) {
    if (name.find('[') != std::string::npos) refuse(name, ": a name has no bracket; count = makes an array");
    if (!names_.insert(name).second) refuse(name, " is declared twice");
  }

  void add_field(const std::string& name, int bytes, int at) {
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) refuse(name, ": legal sizes are 1, 2, 4 and 8 bytes");
    if (at % bytes != 0) refuse(name, fmt::format(": {} bytes at {}; legal: multiples of its size", bytes, at));
    if (name.empty() || name == "address") refuse(name, ": this name is taken");
    if (layout_.fields.size() == kMostFields) refuse(name, fmt::format(": more than {} fields", kMostFields));
    layout_.fields.push_back({name, at, bytes});
    end_ = std::max(end_, at + bytes);
  }

  [[noreturn]] void refuse(const std::string& field, const std::string& why) const {
    lua_.fail(fmt::format("structure {}: field {}{}", layout_.name, field, why));
  }

  Interpreter& lua_;
  Layout& layout_;
  std::set<std::string> names_;
  int end_ = 0;
};

}  // namespace

Layout read_structure(Interpreter& lua, int index, int line_bytes) {
  const LuaTable table(lua, index, "structure", {"name", "align", "size"});
  Layout layout{.name = table.text("name"), .fields = {}};
  FieldReader fields(lua, layout);
  for (lua_Integer i = 1; lua_rawgeti(lua.state(), index, i) != LUA_TNIL; ++i) {
    fields.add();
    lua_pop(lua.state(), 1);
  }
  lua_pop(lua.state(), 1);
  const bool on_lines = table.is_text("align", "line");
  layout.alignment = on_lines ? line_bytes : static_cast<int>(table.integer("align", 8, 1, 1 << 16));
  if ((layout.alignment & (layout.alignment - 1)) != 0)
    lua.fail(fmt::format("structure {}: align = {}; legal: \"line\" and powers of two", layout.name, layout.alignment));
  const int least = std::max(1, fields.end());
  layout.size = static_cast<int>(table.integer(
      "size", round_up_to(least, on_lines ? line_bytes : std::min(8, layout.alignment)), least, kLargestStructureBytes));
  return layout;
}

namespace {

// The largest word at the field's offset that lies within the field.
int word_bytes(const Field& field) {
  int bytes = 8;
  while (bytes > 1 && (bytes > field.size || field.offset % bytes != 0)) bytes /= 2;
  return bytes;
}

// Pushes a key: a number for "3", else the text.
void push_key(lua_State* state, std::string_view key) {
  lua_Integer number = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
  if (error == std::errc() && end == key.data() + key.size()) {
    lua_pushinteger(state, number);
  } else {
    lua_pushlstring(state, key.data(), key.size());
  }
}

// Sets t.sd[0].lock in the table on top of the stack for the name "sd[0].lock".
void set_by_path(lua_State* state, std::string_view name, lua_Integer word) {
  lua_pushvalue(state, -1);
  for (;;) {
    const std::size_t end = name.find_first_of(".[");
    std::string_view key = name.substr(0, end);
    if (key.ends_with(']')) key.remove_suffix(1);
    push_key(state, key);
    if (end == std::string_view::npos) break;
    name.remove_prefix(end + 1);
    lua_pushvalue(state, -1);
    if (lua_rawget(state, -3) != LUA_TTABLE) {
      lua_pop(state, 1);
      lua_newtable(state);
      lua_pushvalue(state, -2);
      lua_pushvalue(state, -2);
      lua_rawset(state, -5);
    }
    // Leaves only the inner table above the table that was on top.
    lua_replace(state, -3);
    lua_pop(state, 1);
  }
  lua_pushinteger(state, word);
  lua_rawset(state, -3);
  lua_pop(state, 1);
}

}  // namespace

void push_fields(lua_State* state, const Layout& layout, Address base) {
  lua_createtable(state, 0, static_cast<int>(layout.fields.size()) + 1);
  for (const Field& field : layout.fields) {
    const lua_Integer word = LuaWord::pack(base + static_cast<Address>(field.offset), word_bytes(field));
    const std::string_view names = field.name;
    // The fast path for most names, because there may be many objects.
    if (names.find_first_of(".[|") == std::string_view::npos) {
      lua_pushinteger(state, word);
      lua_setfield(state, -2, field.name.c_str());
      continue;
    }
    for (std::size_t begin = 0; begin <= names.size();) {
      const std::size_t end = std::min(names.find('|', begin), names.size());
      const std::string name(names.substr(begin, end - begin));
      set_by_path(state, name, word);
      if (name.find('.') != std::string::npos) {  // also sets the whole name as a key: object["wait.next"]
        lua_pushinteger(state, word);
        lua_setfield(state, -2, name.c_str());
      }
      begin = end + 1;
    }
  }
}

}  // namespace linebounce::workloads

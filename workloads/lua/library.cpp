#include "workloads/lua/library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <span>
#include <string_view>
#include <vector>

#include "workloads/lua/interpreter.hpp"
#include "workloads/lua/setup_functions.hpp"

namespace linebounce::workloads {
namespace {

constexpr std::array kBaseNames = {"assert", "error", "ipairs", "select", "tonumber", "type"};
constexpr std::array kMathNames = {"abs", "ceil", "floor", "fmod", "max", "min", "sqrt", "tointeger", "type", "ult"};
constexpr std::array kStringNames = {"byte", "char", "format", "len", "lower", "rep", "reverse", "sub", "upper"};
constexpr std::array kArithmeticNames = {"__add", "__sub", "__mul", "__mod", "__pow", "__div", "__idiv", "__unm"};
constexpr std::array kTableNames = {"concat", "insert", "move", "pack", "remove", "unpack"};

bool is_plain(lua_State* state, int index) {
  const int type = lua_type(state, index);
  return type == LUA_TNIL || type == LUA_TBOOLEAN || type == LUA_TNUMBER || type == LUA_TSTRING;
}

// tostring(value). For values that Lua would print with an address, such as tables, returns only the type's name.
int plain_tostring(lua_State* state) {
  luaL_checkany(state, 1);
  if (is_plain(state, 1)) {
    luaL_tolstring(state, 1, nullptr);
  } else {
    lua_pushstring(state, luaL_typename(state, 1));
  }
  return 1;
}

int plain_format(lua_State* state) {
  Interpreter& lua = Interpreter::of(state);
  for (int argument = 1; argument <= lua_gettop(state); ++argument) {
    if (!is_plain(state, argument))
      lua.fail(fmt::format("string.format: argument {} is a {}, which has no text", argument, luaL_typename(state, argument)));
  }
  std::size_t size = 0;
  const char* const text = luaL_checklstring(state, 1, &size);  // continues after a zero byte, which Lua texts may contain
  const std::string_view format(text, size);
  for (std::size_t at = format.find('%'); at != std::string_view::npos; at = format.find('%', at + 2)) {
    const std::size_t end = format.find_first_not_of("0123456789.-+ #", at + 1);
    if (end != std::string_view::npos && format[end] == 'p') lua.fail("string.format: %p shows an address of this computer");
  }
  const int results = lua_tocfunction(state, lua_upvalueindex(1))(state);
  lua.charge(static_cast<std::int64_t>(lua_rawlen(state, -1)));
  return results;
}

// Like string.rep, but returns at once if there is nothing to repeat. Lua's own function would loop in C, where the limit on
// instructions does not count.
int bounded_rep(lua_State* state) {
  std::size_t text = 0, separator = 0;
  luaL_checklstring(state, 1, &text);
  luaL_optlstring(state, 3, "", &separator);
  luaL_checkinteger(state, 2);
  if (text + separator > 0) return lua_tocfunction(state, lua_upvalueindex(1))(state);
  lua_pushliteral(state, "");
  return 1;
}

// The number of elements from `first` to `last`, limited so that sums of such numbers don't overflow.
std::int64_t elements(lua_Integer first, lua_Integer last) {
  if (last < first) return 0;
  const lua_Unsigned distance = static_cast<lua_Unsigned>(last) - static_cast<lua_Unsigned>(first);
  return static_cast<std::int64_t>(std::min<lua_Unsigned>(distance, Interpreter::kMostWork)) + 1;
}

lua_Integer integer_or(lua_State* state, int argument, lua_Integer otherwise) {
  return lua_isnoneornil(state, argument) ? otherwise : lua_tointeger(state, argument);
}

lua_Integer length(lua_State* state) {
  return static_cast<lua_Integer>(lua_rawlen(state, 1));
}

// The number of elements from argument `from` (default 1) to argument `from` + 1 (default: the end).
template <int from>
std::int64_t in_range(lua_State* state) {
  return elements(integer_or(state, from, 1), integer_or(state, from + 1, length(state)));
}

std::int64_t moved_by_insert(lua_State* state) {
  return lua_gettop(state) < 3 ? 0 : elements(lua_tointeger(state, 2), length(state));
}

std::int64_t moved_by_remove(lua_State* state) {
  return elements(integer_or(state, 2, length(state)), length(state));
}

std::int64_t bytes_of_byte(lua_State* state) {
  const lua_Integer size = length(state);
  const auto place = [size](lua_Integer at) { return at < 0 ? at + size + 1 : at; };
  const lua_Integer first = place(integer_or(state, 2, 1));
  return elements(std::max<lua_Integer>(1, first), std::min(size, place(integer_or(state, 3, first))));
}

std::int64_t bytes_of_text(lua_State* state) {
  return static_cast<std::int64_t>(lua_rawlen(state, 1));
}

// Functions of Lua's library whose work shows neither in instructions nor in new memory, which LuaMemory charges. `work`
// returns how many elements a call handles. It accepts any arguments, and leaves errors to the function itself.
struct ChargedFunction {
  const char* table;  // the global table that holds it; null: it is a global itself
  const char* name;
  std::int64_t (*work)(lua_State* state);
};
constexpr std::array<ChargedFunction, 7> kCharged = {{{nullptr, "tonumber", bytes_of_text},
                                                      {LUA_TABLIBNAME, "concat", in_range<3>},
                                                      {LUA_TABLIBNAME, "insert", moved_by_insert},
                                                      {LUA_TABLIBNAME, "move", in_range<2>},
                                                      {LUA_TABLIBNAME, "remove", moved_by_remove},
                                                      {LUA_TABLIBNAME, "unpack", in_range<2>},
                                                      {LUA_STRLIBNAME, "byte", bytes_of_byte}}};

// Calls one of kCharged. Upvalues: Lua's own function, and its place in kCharged.
int charged_call(lua_State* state) {
  const ChargedFunction& called = kCharged[static_cast<std::size_t>(lua_tointeger(state, lua_upvalueindex(2)))];
  Interpreter& lua = Interpreter::of(state);
  const std::int64_t work = called.work(state);
  if (work > Interpreter::kMostWork)
    lua.fail(fmt::format("{}: more than {} elements",
                         called.table == nullptr ? called.name : fmt::format("{}.{}", called.table, called.name),
                         Interpreter::kMostWork));
  lua.charge(work);
  return lua_tocfunction(state, lua_upvalueindex(1))(state);
}

// A table's keys, sorted.
class SortedKeys {
 public:
  explicit SortedKeys(lua_State* state) : state_(state) {}

  void add(int index) {
    switch (lua_type(state_, index)) {
      case LUA_TNUMBER:
        if (lua_isinteger(state_, index) != 0) {
          integers_.push_back(lua_tointeger(state_, index));
        } else {
          numbers_.push_back(lua_tonumber(state_, index));
        }
        break;
      case LUA_TSTRING: texts_.push_back(text(index)); break;
      case LUA_TBOOLEAN: flags_.push_back(lua_toboolean(state_, index)); break;
      default:
        Interpreter::of(state_).fail(
            fmt::format("pairs: the keys must be numbers, texts or booleans, which have an order; one is a {}",
                        luaL_typename(state_, index)));
    }
  }

  // Pushes the keys as a list.
  void push() {
    lua_newtable(state_);
    push_all(integers_, lua_pushinteger);
    push_all(numbers_, lua_pushnumber);
    push_all(texts_, [](lua_State* state, std::string_view text) { lua_pushlstring(state, text.data(), text.size()); });
    push_all(flags_, lua_pushboolean);
  }

 private:
  [[nodiscard]] std::string_view text(int index) const {
    std::size_t size = 0;
    const char* begin = lua_tolstring(state_, index, &size);
    return {begin, size};
  }
  template <class Key, class PushKey>
  void push_all(std::vector<Key>& keys, PushKey push_key) {
    std::sort(keys.begin(), keys.end());
    for (const Key& key : keys) {
      push_key(state_, key);
      lua_rawseti(state_, -2, ++count_);
    }
  }

  lua_State* state_;
  std::vector<lua_Integer> integers_;
  std::vector<lua_Number> numbers_;
  std::vector<std::string_view> texts_;  // views of Lua's strings, which the table keeps alive
  std::vector<int> flags_;
  lua_Integer count_ = 0;
};

// The iterator of `pairs`. Upvalues: the table, the list of its keys, the number of keys already visited.
int next_sorted(lua_State* state) {
  lua_Integer at = lua_tointeger(state, lua_upvalueindex(3));
  for (;;) {
    if (lua_rawgeti(state, lua_upvalueindex(2), ++at) == LUA_TNIL) return 1;
    lua_pushvalue(state, -1);
    // If the value is nil, the program has removed the key meanwhile.
    if (lua_rawget(state, lua_upvalueindex(1)) != LUA_TNIL) break;
    lua_pop(state, 2);
  }
  lua_pushinteger(state, at);
  lua_replace(state, lua_upvalueindex(3));
  return 2;
}

int sorted_pairs(lua_State* state) {
  constexpr std::size_t kBytesOfEntry = 64;
  luaL_checktype(state, 1, LUA_TTABLE);
  lua_settop(state, 1);
  // The search for a key may pass many empty places of the table.
  Interpreter& lua = Interpreter::of(state);
  lua.charge(static_cast<std::int64_t>(lua.memory_used() / kBytesOfEntry) * (1 + lua.work_of_lookup()));
  SortedKeys keys(state);
  for (lua_pushnil(state); lua_next(state, 1) != 0; lua_pop(state, 1)) keys.add(-2);
  keys.push();
  lua_pushinteger(state, 0);
  lua_pushcclosure(state, next_sorted, 3);
  return 1;
}

// A part of Lua's own library, reduced to the functions that programs have.
struct LibraryPart {
  const char* table;  // the global table that holds the functions; null: they are globals themselves
  std::vector<luaL_Reg> functions;
};

// Takes the functions `names` from the table on top of the stack, and pops the table.
template <class Names>
std::vector<luaL_Reg> take_functions(lua_State* state, const Names& names) {
  std::vector<luaL_Reg> functions;
  for (const char* name : names) {
    lua_getfield(state, -1, name);
    functions.push_back({name, lua_tocfunction(state, -1)});
    lua_pop(state, 1);
  }
  lua_pop(state, 1);
  return functions;
}

template <class Names>
LibraryPart open_part(lua_State* state, const char* table, lua_CFunction open, const Names& names) {
  luaL_requiref(state, table == nullptr ? LUA_GNAME : table, open, 0);
  return {table, take_functions(state, names)};
}

struct Library {
  std::vector<LibraryPart> parts;
  std::vector<luaL_Reg> arithmetic;  // arithmetic on texts that are numbers
};

// Opens Lua's library once, in an interpreter of its own, because that costs as much as everything else in starting an
// interpreter. The functions have no state, so all interpreters can share them.
Library read_library() {
  const std::unique_ptr<lua_State, decltype(&lua_close)> own(luaL_newstate(), lua_close);
  if (!own) throw std::bad_alloc();
  Library library;
  library.parts = {open_part(own.get(), nullptr, luaopen_base, kBaseNames),
                   open_part(own.get(), LUA_MATHLIBNAME, luaopen_math, kMathNames),
                   open_part(own.get(), LUA_TABLIBNAME, luaopen_table, kTableNames),
                   open_part(own.get(), LUA_STRLIBNAME, luaopen_string, kStringNames)};
  lua_pushliteral(own.get(), "");
  lua_getmetatable(own.get(), -1);
  library.arithmetic = take_functions(own.get(), kArithmeticNames);
  return library;
}

void set_functions(lua_State* state, std::span<const luaL_Reg> functions) {
  for (const luaL_Reg& function : functions) {
    lua_pushcfunction(state, function.func);
    lua_setfield(state, -2, function.name);
  }
}

// Replaces the function `name` of the global table `table`, or the global itself, by `function`, which gets the old one and
// `place` as upvalues.
void replace(lua_State* state, const char* table, const char* name, lua_CFunction function, std::size_t place = 0) {
  if (table == nullptr) {
    lua_pushvalue(state, -1);
  } else {
    lua_getfield(state, -1, table);
  }
  lua_getfield(state, -1, name);
  lua_pushinteger(state, static_cast<lua_Integer>(place));
  lua_pushcclosure(state, function, 2);
  lua_setfield(state, -2, name);
  lua_pop(state, 1);
}

void set_math_constants(lua_State* state) {
  lua_getfield(state, -1, LUA_MATHLIBNAME);
  lua_pushnumber(state, std::numbers::pi);
  lua_setfield(state, -2, "pi");
  lua_pushnumber(state, HUGE_VAL);
  lua_setfield(state, -2, "huge");
  lua_pushinteger(state, LUA_MAXINTEGER);
  lua_setfield(state, -2, "maxinteger");
  lua_pushinteger(state, LUA_MININTEGER);
  lua_setfield(state, -2, "mininteger");
  lua_pop(state, 1);
}

// Sets the metatable of texts, with the table `string` for methods such as ("text"):upper().
void set_methods_of_texts(lua_State* state, std::span<const luaL_Reg> arithmetic) {
  lua_pushliteral(state, "");
  lua_createtable(state, 0, static_cast<int>(arithmetic.size()) + 1);
  set_functions(state, arithmetic);
  lua_getfield(state, -3, LUA_STRLIBNAME);
  lua_setfield(state, -2, "__index");
  lua_setmetatable(state, -2);
  lua_pop(state, 1);
}

}  // namespace

void open_library(lua_State* state) {
  static const Library kLibrary = read_library();
  constexpr int kGlobals = 64;  // an estimate, so that the table need not grow
  lua_createtable(state, 0, kGlobals);
  for (const LibraryPart& part : kLibrary.parts) {
    if (part.table != nullptr) lua_createtable(state, 0, static_cast<int>(part.functions.size()));
    set_functions(state, part.functions);
    if (part.table != nullptr) lua_setfield(state, -2, part.table);
  }
  set_math_constants(state);
  for (std::size_t i = 0; i < kCharged.size(); ++i) replace(state, kCharged[i].table, kCharged[i].name, charged_call, i);
  replace(state, LUA_STRLIBNAME, "rep", bounded_rep);
  replace(state, LUA_STRLIBNAME, "format", plain_format);
  set_methods_of_texts(state, kLibrary.arithmetic);
  lua_pushcfunction(state, sorted_pairs);
  lua_setfield(state, -2, "pairs");
  lua_pushcfunction(state, plain_tostring);
  lua_setfield(state, -2, "tostring");
  lua_rawseti(state, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  add_setup_functions(state);
}

}  // namespace linebounce::workloads

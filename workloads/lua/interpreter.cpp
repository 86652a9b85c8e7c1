#include "workloads/lua/interpreter.hpp"

#include <fmt/format.h>

#include <cctype>
#include <new>

#include "models/text/visible.hpp"
#include "workloads/lua/library.hpp"
#include "workloads/lua/undefined_name.hpp"

namespace linebounce::workloads {
namespace {

int append_code(lua_State*, const void* bytes, std::size_t size, void* code) {
  static_cast<std::string*>(code)->append(static_cast<const char*>(bytes), size);
  return 0;
}

}  // namespace

Interpreter::Interpreter(const SourceFile& file, std::optional<int> cpu)
    : file_(file), name_(file.name()), cpu_number_(cpu), heap_(*this), state_(lua_newstate(LuaMemory::allocate, &heap_)) {
  if (state_ == nullptr) throw std::bad_alloc();
  *static_cast<Interpreter**>(lua_getextraspace(state_)) = this;
  lua_atpanic(state_, panic);
  // Files that ship with Linebounce run without the limits on work, because the hook makes each Lua instruction cost about
  // twice as much.
  if (!file.is_ours) lua_sethook(state_, count_instructions, LUA_MASKCOUNT, kInstructions);
  open_library(state_);
  seed(0);
}

void Interpreter::seed(std::uint64_t seed) {
  randoms_.clear();
  for (std::uint64_t series = 0; series < kRandomSeries; ++series)
    randoms_.emplace_back(seed, static_cast<std::uint64_t>(cpu_number_.value_or(0)), series);
}

void Interpreter::load(std::string* compiled) {
  const std::string chunk = "@" + name_;
  const bool known = compiled != nullptr && !compiled->empty();
  const std::string& code = known ? *compiled : file_.text;
  if (luaL_loadbufferx(state_, code.data(), code.size(), chunk.c_str(), known ? "b" : "t") != LUA_OK) panic(state_);
  if (compiled != nullptr && !known) lua_dump(state_, append_code, compiled, 0);
  call(0, 0);
}

bool Interpreter::push_function(const char* name) {
  const int type = lua_getglobal(state_, name);
  if (type == LUA_TFUNCTION) return true;
  lua_pop(state_, 1);
  if (type == LUA_TNIL) return false;
  throw LuaError(fmt::format("{}: {} is {}; it must be a function", name_, name, lua_typename(state_, type)));
}

void Interpreter::call(int arguments, int results) {
  const char here = 0;
  const char* const caller = outermost_call_;
  if (caller == nullptr) {
    outermost_call_ = &here;
    timeless_work_ = 0;
  }
  const auto used = static_cast<std::size_t>(outermost_call_ > &here ? outermost_call_ - &here : &here - outermost_call_);
  if (used > kNestedBytes) fail("functions, locks and named functions call each other too deeply");
  lua_call(state_, arguments, results);
  outermost_call_ = caller;
}

void Interpreter::fail(const std::string& text) const {
  throw LuaError(located(place() + text));
}

std::string Interpreter::text_at(int index) const {
  std::size_t size = 0;
  const char* begin = lua_tolstring(state_, index, &size);
  if (size > kLongestText) fail(fmt::format("a string of {} bytes; legal here: at most {}", size, kLongestText));
  if (!is_utf8({begin, size})) fail(fmt::format("the string \"{}\" must be UTF-8", visible({begin, size})));
  return begin;  // the copy ends at the first zero byte
}

int Interpreter::panic(lua_State* state) {
  const Interpreter& self = of(state);
  const char* text = lua_type(state, -1) == LUA_TSTRING ? lua_tostring(state, -1) : "an error that is not text";
  throw LuaError(self.located(text + hint_for_undefined(state, text)));
}

int Interpreter::source_line() const {
  lua_Debug at;
  for (int level = 0; lua_getstack(state_, level, &at) != 0; ++level) {
    lua_getinfo(state_, "l", &at);
    if (at.currentline > 0) return at.currentline;
  }
  return 0;
}

std::string Interpreter::place() const {
  const int line = source_line();
  return line > 0 ? fmt::format("{}:{}: ", name_, line) : name_ + ": ";
}

// Inserts "CPU N: " after the "FILE:LINE: " of a message, and adds "FILE: " to a message without it. The program's part of
// the message may contain any bytes.
std::string Interpreter::located(const std::string& text) const {
  const std::string message = visible_name(text);
  const std::string cpu = cpu_ == nullptr ? "" : fmt::format("CPU {}: ", cpu_->id().value);
  if (!message.starts_with(name_ + ":")) return fmt::format("{}: {}{}", name_, cpu, message);
  std::size_t end = name_.size() + 1;
  while (end < message.size() && std::isdigit(static_cast<unsigned char>(message[end])) != 0) ++end;
  if (message.compare(end, 2, ": ") == 0) end += 2;
  if (message.compare(end, 1, " ") == 0) ++end;  // the message begins with "FILE: " and has no line number
  return message.substr(0, end) + cpu + message.substr(end);
}

void Interpreter::charge(std::int64_t work) {
  if (operations_ != operations_then_) work_ = 0;
  operations_then_ = operations_;
  work_ += work;
  if (work_ > kMostWork)
    fail(
        fmt::format("{} instructions, or as much work of Lua's library, without an operation of the simulated machine: does a "
                    "loop never end?",
                    kMostWork));
  if (cpu_ == nullptr || setup != nullptr) return;
  if (cpu_->local_time() != time_then_) timeless_work_ = 0;
  time_then_ = cpu_->local_time();
  timeless_work_ += work;
  if (timeless_work_ > kMostTimelessWork)
    fail(fmt::format("{} instructions, or as much work of Lua's library, in no simulated time: does a loop never end?",
                     kMostTimelessWork));
}

void Interpreter::count_instructions(lua_State* state, lua_Debug* at) {
  Interpreter& self = of(state);
  self.charge(kInstructions * (self.cost_of_instruction(at) + self.work_of_lookup()));
}

// The cost of one instruction: it may compare two texts, or copy all arguments that a function with `...` was called with.
std::int64_t Interpreter::cost_of_instruction(lua_Debug* at) const {
  constexpr std::size_t kCheapText = 256;  // bytes that are compared in the time of a few instructions, even if all are zero
  constexpr int kCheapArguments = 256;
  int arguments = kCheapArguments;
  while (lua_getlocal(state_, at, -arguments) != nullptr) {
    lua_pop(state_, 1);
    arguments *= 2;
  }
  return static_cast<std::int64_t>(longest_text_ / kCheapText) + arguments / kCheapArguments;
}

void Interpreter::refuse_word(Address address, int bytes) const {
  if (address == 0) fail("address 0: a pointer that points to nothing");
  const AddressSpace::Place place = memory_->find_byte(address);
  if (place.object == AddressSpace::kNoObject) fail(fmt::format("address 0x{:x} is in no structure", address));
  fail(fmt::format("{} bytes at 0x{:x} go beyond the end of {}", bytes, address, memory_->objects()[place.object].name));
}

}  // namespace linebounce::workloads

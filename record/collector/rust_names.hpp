// Names that Rust's compiler gives the linker.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace linebounce::record {

// Both spellings: "_ZN3app4work17h0123456789abcdefE" and "_RNvCs11G97PgjCDl_3app4work" -> "app::work". Arguments of generic
// functions and types are left out. Nothing: it is no name of Rust's.
std::optional<std::string> demangled_rust(std::string_view linker_name);

}  // namespace linebounce::record

// Text with fields in braces, such as "cache {cache}: {from} -> {to}".
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace linebounce {

// Replaces each {FIELD} by value(FIELD). Errors: std::invalid_argument for a '{' without '}'; those of `value`.
std::string fill_fields(std::string_view text, const std::function<std::string(std::string_view field)>& value);

}  // namespace linebounce

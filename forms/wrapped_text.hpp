// Texts that a mail program, a terminal, an editor or a web page has wrapped, so that no reader would find its lines in them.
#pragma once

#include <string>

#include "forms/excerpt.hpp"

namespace linebounce::sim {

// Errors: trace::TraceError if the excerpt is of such a text; the message names the command that unwraps it.
void refuse_wrapped(const Excerpt& excerpt, const std::string& file);

}  // namespace linebounce::sim

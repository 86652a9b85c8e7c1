// The form of gdb's `ptype /o`.
#pragma once

#include "types/listing.hpp"

namespace linebounce::types {

ListingForm ptype_form();

}  // namespace linebounce::types

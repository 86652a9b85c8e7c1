// The form of clang's record layouts.
#pragma once

#include "types/listing.hpp"

namespace linebounce::types {

ListingForm record_layouts_form();

}  // namespace linebounce::types

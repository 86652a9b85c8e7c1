// The form of Go's structlayout.
#pragma once

#include "types/listing.hpp"

namespace linebounce::types {

ListingForm structlayout_form();

}  // namespace linebounce::types

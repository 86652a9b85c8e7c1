// The form of gcc's -fdump-lang-class.
#pragma once

#include "types/listing.hpp"

namespace linebounce::types {

ListingForm class_hierarchy_form();

}  // namespace linebounce::types

// Recognises lists of structures with their members' offsets and sizes. types/ reads them.
#include "forms/forms.hpp"
#include "types/elf_file.hpp"
#include "types/listing.hpp"

namespace linebounce::sim {

std::vector<Form> listing_forms() {
  std::vector<Form> forms;
  for (const types::ListingForm& one : types::listing_forms()) {
    forms.push_back({.name = one.name,
                     .kind = FormKind::layout,
                     .what = one.what,
                     .marks = one.marks,
                     .likeness = [&one](const Excerpt& excerpt) {
                       return certain_if(one.is_like(excerpt.is_text ? types::unquoted(excerpt.bytes) : excerpt.bytes),
                                         one.because);
                     }});
  }
  return forms;
}

Form dwarf_form() {
  return {
      .name = "dwarf",
      .kind = FormKind::layout,
      .what = "a program or library (ELF), for the structures in its debug information",
      .marks = "ELF at its beginning",
      .likeness = [](const Excerpt& excerpt) { return certain_if(types::is_elf(excerpt.bytes), "it begins as ELF files do"); }};
}

}  // namespace linebounce::sim

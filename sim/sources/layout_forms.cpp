// Recognises lists of structures with their members' offsets and sizes. sim/config reads them.
#include "models/text/structure_listing.hpp"
#include "sim/sources/forms.hpp"

namespace linebounce::sim {

Form pahole_form() {
  return {.name = "pahole",
          .kind = FormKind::layout,
          .what = "pahole's listing of structures",
          .marks = "struct NAME { ... }; with /* OFFSET SIZE */ behind members",
          .likeness = [](const Excerpt& excerpt) {
            return certain_if(excerpt.is_text && is_structure_listing(excerpt.bytes),
                              "members have their offset and size behind them");
          }};
}

Form ptype_form() {
  return {.name = "ptype",
          .kind = FormKind::layout,
          .what = "gdb's ptype /o: structures with offsets and sizes",
          .marks = "/* offset | size */ type = struct NAME {",
          .likeness = [](const Excerpt& excerpt) {
            return certain_if(excerpt.is_text && is_ptype_listing(excerpt.bytes), "it has the head that gdb prints");
          }};
}

Form dwarf_form() {
  return {.name = "dwarf",
          .kind = FormKind::layout,
          .what = "a program or library (ELF), for the structures in its debug information",
          .marks = "ELF at its beginning",
          .likeness = [](const Excerpt& excerpt) {
            return certain_if(excerpt.bytes.starts_with("\x7f"
                                                        "ELF"),
                              "it begins as ELF files do");
          }};
}

Form btf_form() {
  return {
      .name = "btf",
      .kind = FormKind::layout,
      .what = "BTF types: bpftool btf dump ... format raw",
      .marks = "[7] STRUCT 'NAME' size=64 vlen=3, and 'MEMBER' type_id=1 bits_offset=0; or the same as JSON, from bpftool -j",
      .likeness = [](const Excerpt& excerpt) {
        return certain_if(excerpt.is_text && is_btf_listing(excerpt.bytes), "its lines are numbered types");
      }};
}

}  // namespace linebounce::sim

#include "code_at.h"

#include <link.h>

struct Search {
  uintptr_t address;
  struct CodeAt* found;
};

static int look_in(struct dl_phdr_info* file, size_t bytes, void* data) {
  (void)bytes;
  const struct Search* search = data;
  for (unsigned i = 0; i < file->dlpi_phnum; ++i) {
    const Elf64_Phdr* header = &file->dlpi_phdr[i];
    const uintptr_t begin = file->dlpi_addr + header->p_vaddr;
    const bool is_code = header->p_type == PT_LOAD && (header->p_flags & PF_X) != 0;
    if (!is_code || search->address < begin || search->address >= begin + header->p_filesz) continue;
    *search->found = (struct CodeAt){file->dlpi_name, begin + header->p_filesz, (header->p_flags & PF_R) != 0};
    return 1;
  }
  return 0;
}

bool find_code(uintptr_t address, struct CodeAt* found) {
  struct Search search = {address, found};
  return dl_iterate_phdr(look_in, &search) != 0;
}

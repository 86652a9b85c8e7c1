#!/usr/bin/env bash
# pahole takes the tag of a pointer for its type, or prints <ERROR>, and exits with 0.
#
# Guess before the run: `int __percpu *slot`, whose tag the kernel writes with btf_type_tag, is listed as `int *`, and if pahole
# cannot read BTF's kinds 17 and 18 (declaration and type tags, Linux 5.16), it fails.
# Seen with pahole 1.24 on what clang 14 writes: from BTF the member is `<ERROR> slot`, standard error has "Unknown kind", and
# the exit code is 0. From DWARF it is `percpu *`: the tag, which is a child of the pointer's entry, takes the type's place.
# Offset and size are right in both. Tags of a declaration leave no trace.
# What rests on it: types/btf.cpp passes over tags of types, so the same member has its type when BTF is read itself.
#
# Usage: bash findings/pahole_names_a_tagged_pointer_by_its_tag.sh     needs apt-get and dpkg-deb; fails if the behaviour changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
apt-get download pahole=1.24-4.1 libbpf1=1:1.1.2-0+deb12u1 libdw1=0.188-2.1 libelf1=0.188-2.1 clang-14=1:14.0.6-12 \
  libclang-cpp14=1:14.0.6-12 libllvm14=1:14.0.6-12 libedit2 libz3-4 libxml2 libbsd0 libmd0 libicu72 libffi8 >/dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done
export LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu

cat >slots.c <<'C'
struct slots {
  int __attribute__((btf_type_tag("percpu"))) *slot __attribute__((btf_decl_tag("shared")));
  long used;
};
long use(struct slots *s) { return *s->slot + s->used; }
C
root/usr/bin/clang-14 -target bpf -g -O1 -c slots.c -o slots.o
list() { root/usr/bin/pahole -F "$1" -C slots slots.o; }

echo "pahole $(root/usr/bin/pahole --version); $(root/usr/bin/clang-14 --version | head -n 1)"
list btf >btf.txt 2>btf.errors || { echo "pahole -F btf ends with an error now"; exit 1; }
list dwarf | tee dwarf.txt
cat btf.txt btf.errors

grep -q 'Unknown kind 18' btf.errors || { echo "type tags are known now"; exit 1; }
grep -q 'Unknown kind 17' btf.errors || { echo "declaration tags are known now"; exit 1; }
grep -Eq '<ERROR *> *slot; */\* *0 *8 \*/' btf.txt || { echo "BTF's member has another type now"; exit 1; }
grep -Eq 'percpu \* *slot; */\* *0 *8 \*/' dwarf.txt || { echo "DWARF's member has another type now"; exit 1; }
grep -Eq 'long .*used; */\* *8 *8 \*/' btf.txt || { echo "the member behind it has changed"; exit 1; }
echo "as described: <ERROR> from BTF, the tag's name from DWARF"

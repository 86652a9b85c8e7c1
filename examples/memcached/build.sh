#!/usr/bin/env bash
# Builds memcached 1.6.18 from Debian's source package, unchanged.
#
#   build.sh COMPILER FOLDER     FOLDER/memcached, compiled by COMPILER
#
# What ../fetch.sh fetches stays below FOLDER, too, and nothing is installed. Exit code 75: it cannot be fetched here.
set -euo pipefail

readonly version=1.6.18
readonly tarball=memcached_$version.orig.tar.xz
readonly sha256=35872bd25f8d29d7cc2072d23e74344530891bfd0aa4f4f64184a8ae7291164b

if (($# != 2)); then
  sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
fetch=$(realpath "${BASH_SOURCE[0]%/*}/../fetch.sh")
compiler=$(realpath "$(command -v "$1")")
mkdir -p "$2"
cd "$2"

"$fetch" . memcached "$tarball" "$sha256" libevent-dev

# configure only looks for libevent; make decides how the program is compiled.
if [[ ! -f source/Makefile ]]; then
  # Deletes nothing: FOLDER may have a folder of this name that someone else made, and mv then fails.
  unfinished=$(mktemp --directory "$PWD/unfinished.XXXXXX")
  mkdir "$unfinished/source"
  [[ -d libevent ]] || dpkg-deb --extract libevent-dev_*.deb libevent
  tar --extract --strip-components=1 --directory "$unfinished/source" --file "$tarball"
  mv --no-target-directory "$unfinished/source" source
  rmdir "$unfinished"
  (cd source && CPPFLAGS=-I$PWD/../libevent/usr/include LDFLAGS=$(printf -- '-L%s' "$PWD"/../libevent/usr/lib/*-linux-gnu) \
    ./configure --disable-coverage --disable-docs --disable-dependency-tracking >../configure.log)
fi
# Links anew each time, because linebounce-cc may bring a newer version of its library.
[[ source/memcached -nt $compiler ]] || make --directory source clean >make.log
rm -f source/memcached
make --directory source --jobs "$(nproc)" memcached CC="$compiler" CFLAGS="-O2 -g -pthread" LIBS=-l:libevent_core.a >make.log
cp source/memcached memcached

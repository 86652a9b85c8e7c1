#!/usr/bin/env bash
# Builds memcached 1.6.18 from Debian's source package, unchanged.
#
#   build.sh COMPILER FOLDER     FOLDER/memcached, compiled by COMPILER
#
# What it fetches, by apt from where this machine's packages come from, stays below FOLDER, too, and nothing is installed.
# Exit code 75: it cannot be fetched here.
set -euo pipefail

readonly version=1.6.18
readonly tarball=memcached_$version.orig.tar.xz
readonly sha256=35872bd25f8d29d7cc2072d23e74344530891bfd0aa4f4f64184a8ae7291164b

if (($# != 2)); then
  sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
compiler=$(realpath "$(command -v "$1")")
mkdir -p "$2"
cd "$2"

give_up() {
  printf 'memcached cannot be fetched: %s\n' "$1" >&2
  exit 75
}

# apt with lists of its own: source packages are rarely among the machine's.
make_lists() {
  mkdir -p apt/sources apt/lists/partial apt/cache/archives/partial
  printf '%s\n' 'Dir::Etc::SourceList "/dev/null";' "Dir::Etc::SourceParts \"$PWD/apt/sources\";" \
    "Dir::State::Lists \"$PWD/apt/lists\";" "Dir::Cache \"$PWD/apt/cache\";" \
    'APT::Sandbox::User "root";' 'Acquire::Retries "2";' 'Acquire::http::Timeout "20";' >apt/apt.conf
  local file
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do
    case $file in
      *.sources) [[ -r $file ]] && sed 's/^Types:.*/Types: deb deb-src/' "$file" >"apt/sources/${file##*/}" ;;
      *) [[ -r $file ]] && sed -n '/^deb /{p;s/^deb/deb-src/p}' "$file" >"apt/sources/${file##*/}.list" ;;
    esac
  done
  # One source that does not answer need not be the one that is wanted.
  own_apt update >apt/log 2>&1 || true
}

own_apt() { APT_CONFIG=$PWD/apt/apt.conf apt-get --quiet "$@"; }

first_complaint() { grep -m 1 '^[EW]:' apt/log || tail -n 1 apt/log; }

fetch() {
  command -v apt-get >/dev/null || give_up "this machine has no apt-get"
  make_lists
  own_apt source --download-only --tar-only memcached >>apt/log 2>&1 || give_up "$(first_complaint)"
  [[ -f $tarball ]] || give_up "the package that this machine's sources have is another version than $version"
  own_apt download libevent-dev >>apt/log 2>&1 || give_up "$(first_complaint)"
}

[[ -f $tarball && -n $(compgen -G 'libevent-dev_*.deb') ]] || fetch
sha256sum --quiet --check - <<<"$sha256  $tarball" >&2 || give_up "$tarball is not the one that the findings are of"

# configure looks for libevent only; how the program is compiled is make's.
if [[ ! -f source/Makefile ]]; then
  rm -rf source libevent
  dpkg-deb --extract libevent-dev_*.deb libevent
  mkdir source
  tar --extract --strip-components=1 --directory source --file "$tarball"
  (cd source && CPPFLAGS=-I$PWD/../libevent/usr/include LDFLAGS=$(printf -- '-L%s' "$PWD"/../libevent/usr/lib/*-linux-gnu) \
    ./configure --disable-coverage --disable-docs --disable-dependency-tracking >../configure.log)
fi
# Linked anew each time: the compiler may bring its own library.
[[ source/memcached -nt $compiler ]] || make --directory source clean >make.log
rm -f source/memcached
make --directory source --jobs "$(nproc)" memcached CC="$compiler" CFLAGS="-O2 -g -pthread" LIBS=-l:libevent_core.a >make.log
cp source/memcached memcached

#!/usr/bin/env bash
# Fetches Debian's source and binary packages, without installing anything.
#
#   fetch.sh FOLDER PACKAGE TARBALL SHA256 [DEB...]     FOLDER/TARBALL of source package PACKAGE, checked
#   fetch.sh FOLDER -- DEB...                           binary packages alone: FOLDER/DEB_*.deb
#
# Uses apt with this machine's package sources; apt's lists and log stay below FOLDER, too. What is there already is not
# fetched again. Exit code 75: it cannot be fetched here.
set -euo pipefail

if (($# < 3)) || { [[ $2 != -- ]] && (($# < 4)); }; then
  sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
mkdir -p "$1"
cd "$1"
if [[ $2 == -- ]]; then
  package='' tarball='' sha256='' debs=("${@:3}")
else
  package=$2 tarball=$3 sha256=$4 debs=("${@:5}")
fi

give_up() {
  printf '%s cannot be fetched: %s\n' "${package:-${debs[0]}}" "$1" >&2
  exit 75
}

# Uses package lists of its own for apt, because the machine's rarely contain source packages.
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
  # Ignores a package source that does not answer: it may not be the needed one.
  own_apt update >apt/log 2>&1 || true
}

own_apt() { APT_CONFIG=$PWD/apt/apt.conf apt-get --quiet "$@"; }

first_complaint() { grep -m 1 '^[EW]:' apt/log || tail -n 1 apt/log; }

missing() {
  local deb
  [[ -z $tarball || -f $tarball ]] || return 0
  for deb in "${debs[@]}"; do
    [[ -n $(compgen -G "${deb}_*.deb") ]] || return 0
  done
  return 1
}

fetch() {
  command -v apt-get >/dev/null || give_up "this machine has no apt-get"
  make_lists
  if [[ -n $tarball ]]; then
    own_apt source --download-only --tar-only "$package" >>apt/log 2>&1 || give_up "$(first_complaint)"
    [[ -f $tarball ]] || give_up "the package that this machine's sources have is another version than $tarball"
  fi
  ((${#debs[@]} == 0)) || own_apt download "${debs[@]}" >>apt/log 2>&1 || give_up "$(first_complaint)"
}

! missing || fetch
[[ -z $tarball ]] || sha256sum --quiet --check - <<<"$sha256  $tarball" >&2 || give_up "$tarball is not the one that is wanted"

#!/usr/bin/env bash
# Prints the man page: what the program says of itself and of each subcommand. man_page.sh PROGRAM
set -euo pipefail
program=$1

# Escapes text for troff, to which backslashes, and dots and quotes at the beginning of a line, have a meaning.
verbatim() { sed -e 's/\\/\\e/g' -e "s/^[.']/\\\\\\&&/"; }
section() { printf '.SH %s\n.nf\n' "${1^^}"; }

printf '.TH LINEBOUNCE 1 "" "%s" "User Commands"\n.SH NAME\nlinebounce \\- cycle-level simulator of cache coherence\n' \
  "$("$program" --version | head -n 1)"
section description
"$program" --help | verbatim
printf '.fi\n'
subcommands=$("$program" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z-]*\).*/\1/p')
for subcommand in $subcommands; do
  section "linebounce $subcommand"
  "$program" "$subcommand" --help | verbatim
  printf '.fi\n'
done
for companion in linebounce-record linebounce-probe; do
  section "$companion"
  "${program%/*}/$companion" --help | verbatim
  printf '.fi\n'
done
printf '.SH SEE ALSO\nlinebounce SUBCOMMAND \\-\\-help, and the documentation that comes with the source.\n'

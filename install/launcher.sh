#!/bin/sh
# PREFIX/bin/NAME: PREFIX/lib/linebounce/NAME, wherever PREFIX is.
self=$(readlink -f "$0")
exec "${self%/*}/../lib/linebounce/${self##*/}" "$@"

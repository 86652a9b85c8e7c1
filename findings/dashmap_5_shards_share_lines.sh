#!/usr/bin/env bash
# dashmap 5's shards are 56 bytes apart, lock and table of one on the lines of the next; dashmap 6 gives each 128 bytes.
#
# Guess before the run: a map that is divided into shards against contention keeps the shards' locks on lines of their own.
# Seen with dashmap 5.5.3 and 6.1.0: version 5 has an array of locks with their tables, 56 bytes each, so each line of 64 has parts of
# two shards; version 6 wraps each in CachePadded. A program of version 5 has false sharing between keys of different shards.
# What rests on it: the table "Lines that libraries share" of docs/real-programs.md.
#
# Usage: bash findings/dashmap_5_shards_share_lines.sh     needs cargo; fails if the behaviour changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
export CARGO_HOME=$folder/cargo
for version in 5.5.3 6.1.0; do
  mkdir -p $version/src
  cat >$version/Cargo.toml <<T
[package]
name = "shards"
version = "0.1.0"
edition = "2021"
[dependencies]
dashmap = { version = "=$version", features = ["raw-api"] }
T
  cat >$version/src/main.rs <<'R'
fn main() {
    let map: dashmap::DashMap<u64, u64> = dashmap::DashMap::with_shard_amount(8);
    let at: Vec<usize> = map.shards().iter().map(|shard| shard as *const _ as usize).collect();
    println!("{} shards, {} bytes apart", at.len(), at[1] - at[0]);
}
R
  (cd $version && cargo build --quiet && ./target/debug/shards) >$version.txt
  echo "dashmap $version: $(cat $version.txt)"
done
grep -qx '8 shards, 56 bytes apart' 5.5.3.txt || { echo "version 5's are otherwise apart now"; exit 1; }
grep -qx '8 shards, 128 bytes apart' 6.1.0.txt || { echo "version 6's are otherwise apart now"; exit 1; }
echo "as described: 56 and 128 bytes"

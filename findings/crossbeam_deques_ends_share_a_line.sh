#!/usr/bin/env bash
# crossbeam-deque's work-stealing queue has the owner's and the thieves' end on one cache line; it is the buffer's pointer that is padded.
#
# Guess before the run: front and back are CachePadded, each on lines of its own, for a thief changes one and the owner the other.
# Seen with crossbeam-deque 0.8.6 (which rayon uses): a push changes the word `back`, a steal the word `front`, 8 bytes before it; the
# pointer to the buffer, which all read, has 128 bytes to itself. So each steal takes the owner's line away, and each push the
# thieves'.
# What rests on it: the table "Lines that libraries share" of docs/real-programs.md; record/collector/type_reader.cpp reads such a type
# in the order that Rust's compiler gave it.
#
# Usage: bash findings/crossbeam_deques_ends_share_a_line.sh     needs cargo; fails if the behaviour changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'T'
[package]
name = "ends"
version = "0.1.0"
edition = "2021"
[dependencies]
crossbeam-deque = "=0.8.6"
T
# The queue is two pointers: to its shared part, whose words are compared before and after each operation, and to its buffer.
cat >src/main.rs <<'R'
use crossbeam_deque::Worker;

const WORDS: usize = 48; // of the shared part: two counts of its Arc, padding to 128 bytes, 256 bytes

fn words(worker: &Worker<u64>) -> Vec<u64> {
    let shared = unsafe { *(worker as *const Worker<u64> as *const [usize; 4]) };
    // The Arc's block is aligned to 128 bytes; the buffer's is not, or is not the same across operations.
    let block = shared.into_iter().find(|at| *at % 128 == 0 && *at > 4096).expect("a pointer to the shared part");
    (0..WORDS).map(|i| unsafe { std::ptr::read_volatile((block as *const u64).add(i)) }).collect()
}

fn changed(what: &str, before: &[u64], after: &[u64]) {
    let places: Vec<String> = (0..WORDS).filter(|i| before[*i] != after[*i]).map(|i| (8 * i).to_string()).collect();
    println!("{what} changes bytes {}", places.join(" "));
}

fn main() {
    let worker = Worker::new_fifo();
    let stealer = worker.stealer();
    for i in 0..5 {
        worker.push(i);
    }
    let full = words(&worker);
    worker.push(5);
    let pushed = words(&worker);
    changed("push", &full, &pushed);
    assert!(stealer.steal().is_success());
    changed("steal", &pushed, &words(&worker));
}
R
export CARGO_HOME=$folder/cargo
cargo build --quiet
./target/debug/ends | tee places.txt
push=$(sed -n 's/push changes bytes //p' places.txt) steal=$(sed -n 's/steal changes bytes //p' places.txt)
case "$push $steal" in *" "*" "*) echo "an operation changes several words now"; exit 1 ;; esac
[ $((push - steal)) = 8 ] || { echo "the ends are $((push - steal)) bytes apart now"; exit 1; }
[ $((push / 64)) = $((steal / 64)) ] || { echo "the ends have a line each now"; exit 1; }
echo "as described: 8 bytes apart, on one line"

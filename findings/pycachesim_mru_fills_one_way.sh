#!/usr/bin/env bash
# pycachesim's "MRU" cache uses one way of each set, and a load across two lines is one load with two misses.
#
# Guess before the run: replacement chooses among full sets only, so two lines stay in a set of two ways under any policy; and hits
# and misses of a level add up to its accesses.
# Seen with pycachesim 0.3.1, two ways, accesses to lines A, B, A of one set: LRU, FIFO and RR hit the second A, MRU misses it: the
# most recent line is replaced while the other way is empty. A load of 8 bytes across the end of a line counts as one load and two
# misses; of a load's miss the bytes are those asked for, of a store's the line's 64.
# What rests on it: models/cache/replacement/policies.hpp offers no MRU, so that nobody takes figures of the two for comparable.
#
# Usage: bash findings/pycachesim_mru_fills_one_way.sh     needs Python with venv and a compiler; fails if it changed
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check pycachesim==0.3.1

cat >accesses.py <<'P'
from cachesim import Cache, CacheSimulator, MainMemory

LINE, SETS, WAYS = 64, 4, 2


def count(accesses, policy="LRU"):
    memory = MainMemory()
    cache = Cache("L1", SETS, WAYS, LINE, policy)
    memory.load_to(cache)
    memory.store_from(cache)
    simulator = CacheSimulator(cache, memory)
    for kind, address, size in accesses:
        getattr(simulator, kind)(address, size)
    return next(iter(simulator.stats()))


a, b = ("load", 0, 8), ("load", SETS * LINE, 8)
hits = {policy: count([a, b, a], policy)["HIT_count"] for policy in ("LRU", "FIFO", "RR", "MRU")}
across = count([("load", LINE - 4, 8)])
store = count([("store", 0, 8)])
print("hits of A, B, A:", hits)
print("a load across two lines: loads", across["LOAD_count"], "misses", across["MISS_count"], "bytes", across["MISS_byte"])
print("a store of 8 bytes that misses: bytes", store["MISS_byte"])
assert hits == {"LRU": 1, "FIFO": 1, "RR": 1, "MRU": 0}, "replacement has changed"
assert (across["LOAD_count"], across["MISS_count"], across["MISS_byte"]) == (1, 2, 16), "loads are counted otherwise"
assert store["MISS_byte"] == LINE, "stores are counted otherwise"
print("as described: MRU keeps one line of a set")
P
environment/bin/python accesses.py

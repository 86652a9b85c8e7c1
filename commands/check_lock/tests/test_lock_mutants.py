"""Each lock in programs/locks with one mistake (lock_mutants.py): check-lock finds it broken, or this file gives the reason."""

import json

import pytest
from lock_mutants import WEAK_ORDERS, Mutant, mutants
from program import Program

PUBLISHED = "its own node, which nobody else sees before the atomic operation that queues it"
HELD = "words of the holder alone, until it gives the lock back by a release"
LOOKS_AGAIN = "the loop around it looks again: it waits by trying"
EMPTY_BUFFER = "the atomic operation before it is a full barrier: nothing is left that it could pass"
THROUGH_POINTER = "what is loaded next is loaded through this pointer, which orders as much"
LEFT_OUT = (
    "only loads stand between an atomic operation and it: a load that takes effect later is load buffering, which is left out"
)
HEURISTIC = "slow_reads only advises when readers get their marks back; both stores come before the writer looks at marks"

# Changes that are not mistakes, with the reasons.
NO_MISTAKE: dict[str, str] = {
    "bakery: swap two operations 3": "its number is seen before it looks at others'; if it seems to choose longer, they wait",
    "bravo: skip a wait 1": LOOKS_AGAIN,
    "bravo: weaken an acquire 2": "only nine reads after a writer set the bias again, more than are searched",
    "clh: weaken an acquire 3": "wait_at() looks again, by an acquire",
    "dekker: weaken an acquire 2": "the loop around it looks again, by an acquire",
    "cna: weaken an acquire 2": THROUGH_POINTER,
    "mcs_parking: weaken an acquire 3": THROUGH_POINTER,
    "bravo: swap two operations 1": HEURISTIC,
    "bravo: swap two operations 2": "slow_reads may be reset late, and only advises when readers get their marks back",
    "bravo: swap two operations 4": "a reader that waits inside the count keeps out no holder, who leaves by subtraction",
    "cna: swap two operations 1": PUBLISHED,
    "cna: swap two operations 2": PUBLISHED,
    "cna: weaken a release 1": EMPTY_BUFFER,
    "cna: swap two operations 4": HELD,
    "cna: swap two operations 5": HELD,
    "cna: weaken a release 2": EMPTY_BUFFER,
    "cohort: swap two operations 1": HELD,
    "cohort: swap two operations 2": HELD,
    "dekker: skip a wait 1": LOOKS_AGAIN,
    "mcs: swap two operations 1": PUBLISHED,
    "mcs: weaken a release 1": EMPTY_BUFFER,
    "mcs_parking: swap two operations 1": PUBLISHED,
    "mcs_parking: swap two operations 2": PUBLISHED,
    "mcs_parking: weaken a release 1": EMPTY_BUFFER,
    "percpu_rwsem: skip a wait 1": LOOKS_AGAIN,
    "percpu_rwsem: swap two operations 1": "a reader that wakes the wrong CPU has left before the writer looks at its mark",
    "rwlock: swap two operations 2": "a reader that waits inside the counter keeps out no holder, who leaves by subtraction",
    "rwsem: swap two operations 1": "the guard keeps everybody from the queue, and `after` was read before",
    "rwsem: weaken a release 1": LEFT_OUT,
    "rwsem: swap two operations 3": PUBLISHED,
    "rwsem: swap two operations 4": PUBLISHED,
    "rwsem: swap two operations 6": "whoever sees QUEUED takes the guard before it looks at the queue",
    "seqlock: skip a wait 1": LOOKS_AGAIN,
}

# After these mistakes, CPUs may keep each other out forever, although at any time one of them could get in. A waiting CPU
# announces itself and retracts again and again; another CPU gets in only in a moment between the two. The check then says
# that it is incomplete.
LIVELOCKS = {
    "bravo: skip a wait 2",
    "dekker: skip a wait 2",
    "percpu_rwsem: skip a wait 2",
    "rwlock: skip a wait 1",
    "rwlock: skip a wait 2",
}


# Under c11 Peterson's lock is broken without a mistake, as its file says.
MISTAKES_IN_ORDER = [
    mutant
    for mutant in mutants()
    if mutant.name.startswith(WEAK_ORDERS) and mutant.lock != "peterson" and f"{mutant.lock}: {mutant.name}" not in NO_MISTAKE
]


@pytest.mark.parametrize("mutant", MISTAKES_IN_ORDER, ids=lambda mutant: f"{mutant.lock}: {mutant.name}")
def test_c11_finds_a_mistake_in_the_order_of_operations(linebounce: Program, mutant: Mutant) -> None:
    file = linebounce.file(f"{mutant.lock}.lua", mutant.text)
    (found,) = json.loads(linebounce("check-lock", file, "--json", "--machines=0", "--consistency=c11").stdout)
    assert found["verdict"] == "broken"


@pytest.mark.thorough
@pytest.mark.parametrize("mutant", mutants(), ids=lambda mutant: f"{mutant.lock}: {mutant.name}")
def test_a_lock_with_one_mistake_is_broken(linebounce: Program, mutant: Mutant) -> None:
    file = linebounce.file(f"{mutant.lock}.lua", mutant.text)
    (found,) = json.loads(linebounce("check-lock", file, "--json", timeout=600).stdout)
    name = f"{mutant.lock}: {mutant.name}"
    if name in LIVELOCKS:
        assert found["verdict"] == "incomplete"
    else:
        assert (found["verdict"] == "broken") == (name not in NO_MISTAKE)


def test_every_recorded_reason_names_an_existing_mutant() -> None:
    assert NO_MISTAKE.keys() | LIVELOCKS <= {f"{mutant.lock}: {mutant.name}" for mutant in mutants()}

"""The content of a trace: kinds of operations, symbols, the summary (docs/trace-symbols.md)."""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple

COUNTED, PAIRED, RELEASE, FAILED, FOR_WRITE, PART = 1, 2, 4, 8, 16, 16
REPEAT_SHIFT = 5

Kind = IntEnum(
    "Kind",
    "LOAD STORE EXCHANGE FETCH_ADD COMPARE_EXCHANGE PREFETCH FENCE EXECUTE COMPUTE CLOCK ENTER LEAVE ACQUIRE TRY_ACQUIRE "
    "RELEASE ACQUIRE_SHARED TRY_ACQUIRE_SHARED RELEASE_SHARED BARRIER AWAIT SIGNAL WAIT CREATE JOIN SLEEP WAKE TIMER INTERRUPT "
    "INTERRUPTS_OFF INTERRUPTS_ON HANDLER HANDLER_END TALLY BLOCKED",
)


class Operation(NamedTuple):
    """One operation. The meaning of `id` and `argument` depends on the kind."""

    kind: Kind
    bytes: int = 0
    flags: int = 0
    id: int = 0
    argument: int = 0

    @property
    def repeats(self) -> int:
        """How many more loads or stores follow this one, each at the next address."""
        changes = self.kind in (Kind.FETCH_ADD, Kind.COMPARE_EXCHANGE)  # in these kinds, the upper flags have another meaning
        return 0 if changes else self.flags >> REPEAT_SHIFT


@dataclass
class Field:
    """A structure's field; offsets and sizes in bytes. The alignment is 0 if a word of that size needs no more."""

    name: str = ""
    offset: int = 0
    size: int = 0
    alignment: int = 0


@dataclass
class Structure:
    name: str = ""
    size: int = 0
    alignment: int = 8
    base_offset: int | None = None
    subsystem: str = ""
    fields: list[Field] = field(default_factory=list)
    unexplained: list[Field] = field(default_factory=list)
    source: str = ""


@dataclass
class Object:
    """An object in memory. `structure` and similar members are None if it has none."""

    name: str = ""
    structure: int | None = None
    size: int = 0
    alignment: int = 0
    home: str = ""
    address: int | None = None
    of_lock: int | None = None
    movable: bool = False
    source: str = ""
    page_bytes: int = 0


@dataclass
class Function:
    name: str = ""
    user: bool = False


@dataclass
class WaitsIn:
    """How long one lock's takers wait. A taker of None stands for all takers that have no entry of their own."""

    taker: int | None = None
    function: int = 0


@dataclass
class Lock:
    name: str = ""
    algorithm: str = ""
    sleeps: bool = False
    object: int | None = None
    offset: int = 0
    word_bytes: int = 8
    figures: str = ""
    waits_in: list[WaitsIn] = field(default_factory=list)
    in_handlers: bool = False
    readers_write: bool = False
    readers_follow: str = ""


@dataclass
class Barrier:
    name: str = ""
    parties: int = 0


@dataclass
class Event:
    name: str = ""


@dataclass
class Word:
    """A word in memory whose change a stream waits for."""

    object: int | None = None
    offset: int = 0
    bytes: int = 8


@dataclass
class Stream:
    name: str = ""
    cpu: int = -1
    vector: int = -1
    created: bool = False


Symbol = Structure | Object | Function | Lock | Barrier | Event | Word | Stream


@dataclass
class Summary:
    program: str = ""
    recorder: str = ""
    machine: str = ""
    misses: dict[str, int] = field(default_factory=dict)
    configuration: str = ""
    missing: list[str] = field(default_factory=list)


@dataclass
class Symbols:
    """All symbols of a trace. Those of each kind are numbered from 0 in order of definition."""

    structures: list[Structure] = field(default_factory=list)
    objects: list[Object] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    locks: list[Lock] = field(default_factory=list)
    barriers: list[Barrier] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    streams: list[Stream] = field(default_factory=list)

    def define(self, symbol: Symbol) -> int:
        """Returns the symbol's number."""
        symbols: list[Any] = getattr(self, type(symbol).__name__.lower() + "s")
        symbols.append(symbol)
        return len(symbols) - 1

    def redefine(self, lock: int, facts: Symbol) -> None:
        """Replaces a lock's facts."""
        if not isinstance(facts, Lock) or not 0 <= lock < len(self.locks):
            raise ValueError(f"lock {lock} can't be redefined: {len(self.locks)} locks are defined")
        self.locks[lock] = facts

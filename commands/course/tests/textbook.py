"""Snooping protocols as textbooks tell them, without their tables: states, transactions, suppliers and classes of misses for
each access of a trace. The classes are found backwards, from all accesses of each copy's life."""

import random
from dataclasses import dataclass, field

Access = tuple[int, bool, int]  # CPU, whether it writes, address
WORD = 4
PROTOCOLS = (
    "msi", "mesi", "mosi", "moesi", "moesif", "dragon", "illinois", "write_through", "write_through_allocate",
    "mesi_snarfing", "dragon_competitive", "msi_rdx", "mesi_rdx",
)  # fmt: skip
DIRTY = ("M", "O", "Sm")
TAG = "T"  # a tag without its line
AFTER_WORD = {"Sm": "Sc1", "Sc": "Sc1", "Sc1": "Sc2"}  # under competitive update: after another CPU's word


@dataclass
class Shape:
    cache_bytes: int = 128
    ways: int = 2
    line_bytes: int = 16

    @property
    def sets(self) -> int:
        return self.cache_bytes // self.ways // self.line_bytes

    @property
    def options(self) -> list[str]:
        return [f"--cache-bytes={self.cache_bytes}", f"--ways={self.ways}", f"--line-bytes={self.line_bytes}"]


@dataclass
class Life:
    """A copy's, from its miss until the cache loses it."""

    row: int
    why: str  # "cold", "capacity", "conflict", or "" where another cache's write took the copy before
    words: list[int] = field(default_factory=list)
    is_miss: bool = True  # False: the cache took the line when it passed


class Textbook:
    def __init__(self, protocol: str, shape: Shape, cpus: list[int]) -> None:
        self.protocol, self.shape, self.cpus = protocol.removesuffix("_rdx"), shape, cpus
        self.upgrades = not protocol.endswith("_rdx")
        self.through, self.updates = protocol.startswith("write_through"), protocol.startswith("dragon")
        self.copies: dict[int, dict[int, str]] = {cpu: {} for cpu in cpus}  # oldest first
        self.shadows: dict[int, list[int]] = {cpu: [] for cpu in cpus}  # fully associative caches, oldest first
        self.evicted: dict[tuple[int, int], bool] = {}  # how each cache lost a line
        self.lives: dict[tuple[int, int], list[Life]] = {}
        self.writes: list[tuple[int, int, int]] = []  # row, CPU, word
        self.rows: list[dict[str, str]] = []

    def others(self, cpu: int, line: int) -> list[int]:
        return [other for other in self.cpus if other != cpu and self.copies[other].get(line, TAG) != TAG]

    def access(self, cpu: int, write: bool, address: int) -> None:
        line, mine = address // self.shape.line_bytes, self.copies[cpu]
        before = {one: self.copies[one].get(line, "I") for one in self.cpus}
        row = {"bus": [], "data_from": "", "to_memory": [], "evicts": "", "evicted_state": "", "result": "hit"}
        state = mine.pop(line, None)
        if state in (None, TAG) and not (write and self.protocol == "write_through"):
            state = self.miss(cpu, write, line, row)
        if write:
            state = self.write_through(cpu, line, state, row) if self.through else self.write(cpu, line, state, row)
            self.writes.append((len(self.rows), cpu, address // WORD))
        elif state in ("Sc1", "Sc2"):
            state = "Sc"
        if state is not None:
            mine[line] = state
            self.use(cpu, line, address)
        states = {one: (before[one], self.copies[one].get(line, "I")) for one in self.cpus}
        self.rows.append(
            {"cpu": f"P{cpu}", "operation": "W" if write else "R", "address": hex(address)}
            | {f"P{one}_{when}": both[i] for one, both in states.items() for i, when in enumerate(("before", "after"))}
            | {name: ", ".join(value) if isinstance(value, list) else value for name, value in row.items()}
        )

    def use(self, cpu: int, line: int, address: int) -> None:
        self.lives[cpu, line][-1].words.append(address // WORD)
        shadow = self.shadows[cpu]
        kept = [one for one in shadow if one != line][-(self.shape.cache_bytes // self.shape.line_bytes) + 1 :]
        shadow[:] = [*kept, line]

    def miss(self, cpu: int, write: bool, line: int, row: dict) -> str:
        row["result"] = "miss"
        was_evicted = self.evicted.get((cpu, line))
        replaced = "conflict" if line in self.shadows[cpu] else "capacity"
        why = "cold" if was_evicted is None else replaced if was_evicted else ""
        self.lives.setdefault((cpu, line), []).append(Life(len(self.rows), why))
        self.make_room(cpu, line, row)
        exclusive = write and not self.updates and not self.through
        row["bus"].append("BusRdX" if exclusive else "BusRd")
        suppliers = DIRTY + (("E", "F") if self.protocol == "moesif" else ())
        others = self.others(cpu, line)
        supplier = [other for other in others if self.copies[other][line] in suppliers or self.protocol == "illinois"]
        row["data_from"] = f"P{min(supplier)}" if supplier else "memory"
        if supplier and self.protocol in ("msi", "mesi", "illinois", "mesi_snarfing"):
            row["to_memory"] += [f"P{other}" for other in others if self.copies[other][line] == "M"]
        if exclusive:
            self.invalidate(others, line)
            return "M"
        if self.through:
            return "V"
        others += self.snarf(cpu, line)
        after = {"msi": {}, "mesi": {}, "mosi": {"M": "O", "O": "O"}, "moesi": {"M": "O", "O": "O"}}
        after |= {"moesif": {"M": "O", "O": "O", "E": "F", "F": "F"}, "dragon": {"M": "Sm", "Sm": "Sm"}}
        after |= {"dragon_competitive": {"M": "Sm", "Sm": "Sm", "Sc1": "Sc1", "Sc2": "Sc2"}}
        shared = "Sc" if self.updates else "S"
        for other in others:
            self.copies[other][line] = after.get(self.protocol, {}).get(self.copies[other][line], shared)
        if not others:
            return "S" if self.protocol in ("msi", "mosi") else "E"
        return "F" if self.protocol == "moesif" and not supplier else shared

    def snarf(self, cpu: int, line: int) -> list[int]:
        """The caches whose tag catches the line that passes."""
        takers = [one for one in self.cpus if one != cpu and self.copies[one].get(line) == TAG]
        for taker in takers:
            self.lives[taker, line].append(Life(len(self.rows), "", is_miss=False))
        return takers

    def write_through(self, cpu: int, line: int, state: str | None, row: dict) -> str | None:
        row["bus"].append("BusWr")
        row["to_memory"].append(f"P{cpu}")
        if row["result"] == "hit":
            row["result"] = "write-through" if state else "miss"
        self.invalidate(self.others(cpu, line), line)
        return state

    def write(self, cpu: int, line: int, state: str, row: dict) -> str:
        if state in ("M", "E"):
            return "M"
        others = self.others(cpu, line)
        if not self.upgrades and not self.updates:
            row["bus"].append("BusRdX")
            row["result"], row["data_from"] = "miss", "memory"
        else:
            row["bus"].append("BusUpd" if self.updates else "BusUpgr")
            if row["result"] == "hit":
                row["result"] = "update" if self.updates else "upgrade"
        if not self.updates:
            self.invalidate(others, line)
            return "M"
        tired = [one for one in others if self.protocol != "dragon" and self.copies[one][line] == "Sc2"]
        self.invalidate(tired, line)
        for other in others:
            if other not in tired:
                state = self.copies[other][line]
                self.copies[other][line] = "Sc" if self.protocol == "dragon" else AFTER_WORD[state]
        return "Sm" if len(others) > len(tired) else "M"

    def invalidate(self, others: list[int], line: int) -> None:
        for other in others:
            if self.protocol == "mesi_snarfing":
                self.copies[other][line] = TAG
            else:
                del self.copies[other][line]
            self.evicted[other, line] = False
            self.shadows[other] = [one for one in self.shadows[other] if one != line]

    def make_room(self, cpu: int, line: int, row: dict) -> None:
        mine = self.copies[cpu]
        rivals = [one for one in mine if one % self.shape.sets == line % self.shape.sets]
        if len(rivals) < self.shape.ways:
            return
        victim = next((one for one in rivals if mine[one] == TAG), rivals[0])
        state = mine.pop(victim)
        if state == TAG:
            return
        self.evicted[cpu, victim] = True
        row["evicts"], row["evicted_state"] = hex(victim * self.shape.line_bytes), state
        if state in DIRTY:
            row["bus"].append("BusWB")
            row["to_memory"].append(f"P{cpu}")

    def classified(self) -> list[dict[str, str]]:
        classes = dict.fromkeys(range(len(self.rows)), "")
        for (cpu, _), lives in self.lives.items():
            essential = -1  # the row of the latest miss that brought something new
            for life in lives:
                brought = {word for row, writer, word in self.writes if writer != cpu and essential < row < life.row}
                kind = life.why or ("true sharing" if brought & set(life.words) else "false sharing")
                if life.is_miss:
                    classes[life.row] = kind
                essential = essential if kind == "false sharing" else life.row
        return [row | {"miss_class": classes[number]} for number, row in enumerate(self.rows)]


def told(protocol: str, order: list[Access], shape: Shape) -> list[dict[str, str]]:
    model = Textbook(protocol, shape, list(dict.fromkeys(cpu for cpu, _, _ in order)))
    for access in order:
        model.access(*access)
    return model.classified()


def random_order(seed: int, count: int) -> list[Access]:
    """Few words of few lines, so that copies are shared, taken, evicted and fetched again; CPUs' numbers have gaps."""
    draw = random.Random(seed)
    cpus = draw.sample(range(16), draw.randint(2, 4))
    lines = draw.sample(range(0x40), draw.randint(2, 14))
    writes = draw.choice((0.15, 0.3, 0.5))
    return [
        (draw.choice(cpus), draw.random() < writes, 0x1000 + 16 * draw.choice(lines) + WORD * draw.randrange(4))
        for _ in range(count)
    ]


def text_of(order: list[Access]) -> str:
    return "".join(f"P{cpu}: {'write' if write else 'read'} {address:x}\n" for cpu, write, address in order)

"""Evaluates readings such as "state of x in CPU 1" on a run, from the document that `linebounce steps` prints."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from linebounce.errors import meant
from linebounce.teach.engine import Document

Answer = str | int | float

ROW, ACCESS, MESSAGE = 0, 1, 2
# The kind of an access that only writes, in the document of `linebounce steps`.
_STORE = 1

FORMS = (
    "state of X in CPU N",
    "state of X at memory",
    "state of X at home N",
    "value of X",
    "value that CPU N read",
    "sender of data to CPU N",
    "number of messages",
    "number of MESSAGE (GetS, GetM, ...)",
    "number of messages that ask",
    "number of messages to other nodes",
    "number of loads of X by CPU N",
    "metric NAME",
    "nanoseconds",
)


class UnreadableError(Exception):
    """Raised for a reading of an unknown form, or one that names something the run lacks."""


@dataclass(frozen=True)
class Span:
    """A span of a run's steps. Readings count events between `begin` and `end`, and take states at `end`."""

    run: Document
    begin: int
    end: int

    def rows(self, kind: int) -> Iterator[list[Any]]:
        """The steps of this kind in the span."""
        return (row for row in self.run["log"][self.begin : self.end] if row[1] == kind)

    def earlier(self, kind: int) -> Iterator[list[Any]]:
        """The steps of this kind from the start of the run to the end of the span."""
        return (row for row in self.run["log"][: self.end] if row[1] == kind)


def read(text: str, span: Span) -> Answer:
    """Evaluates a reading. Raises UnreadableError, which lists the legal forms, if the text has none of them."""
    words = " ".join(text.split())
    for pattern, reader in _READERS:
        found = pattern.fullmatch(words)
        if found:
            return reader(found, span)
    raise UnreadableError(f'"{text}" cannot be read from a run; legal: {"; ".join(FORMS)}')


def read_is(text: str, span: Span) -> tuple[Answer, str]:
    """Splits "READING is VALUE" and evaluates the reading: returns what it gives, and VALUE. Raises UnreadableError as
    read() does."""
    reading, found, value = text.rpartition(" is ")
    if not found:
        raise UnreadableError(f'"{text}" is not of the form "READING is VALUE"')
    return read(reading, span), value.strip()


def same(answer: Answer, value: str) -> bool:
    """Whether a reading's result equals a text."""
    if isinstance(answer, str):
        return answer == value
    try:
        return abs(float(value) - answer) < 1e-9
    except ValueError:
        return False


def _number(text: Any) -> int:
    return int(text, 16) if isinstance(text, str) else int(text)


def _line(span: Span, name: str) -> int:
    """The number of the line that holds this word or object."""
    addresses = {word[2]: _number(word[0]) for word in span.run["words"]}
    addresses |= {thing[0]: _number(thing[2]) for thing in span.run["objects"]}
    if name not in addresses:
        known = sorted(addresses)
        raise UnreadableError(f'the run has nothing called "{name}": {meant(name, known)} (known: {", ".join(known)})')
    return addresses[name] // int(span.run["line_bytes"])


def _agent(span: Span, cpu: str) -> int:
    for agent, cache in enumerate(span.run["caches"]):
        if int(cpu) in cache[3]:
            return agent
    raise UnreadableError(f"there is no CPU {cpu}: the machine has CPUs 0 to {span.run['cpus'] - 1}")


def _state(span: Span, controller: str, agent: int, line: int) -> str:
    number = next((i for i, table in enumerate(span.run["tables"]) if table["name"] == controller), -1)
    if number < 0:
        raise UnreadableError(f"this machine has no {controller}")
    states: list[str] = span.run["tables"][number]["states"]
    state = 0
    for row in span.earlier(ROW):
        if row[2:5] == [number, agent, line]:
            state = row[7]
    return states[state]


def _state_in_cpu(found: re.Match[str], span: Span) -> str:
    return _state(span, "cache", _agent(span, found[2]), _line(span, found[1]))


def _state_at_memory(found: re.Match[str], span: Span) -> str:
    return _state(span, "memory", 0, _line(span, found[1]))


def _state_at_home(found: re.Match[str], span: Span) -> str:
    return _state(span, "directory", int(found[2]), _line(span, found[1]))


def _word(span: Span, name: str) -> list[Any]:
    words: dict[str, list[Any]] = {word[2]: word for word in span.run["words"]}
    for thing in span.run["objects"]:
        within = [word for word in span.run["words"] if 0 <= _number(word[0]) - _number(thing[2]) < thing[3]]
        if len(within) == 1:
            words.setdefault(thing[0], within[0])
    if name not in words:
        known = sorted(words)
        raise UnreadableError(f'the run has no word "{name}": {meant(name, known)} (known: {", ".join(known)})')
    return words[name]


def _value(found: re.Match[str], span: Span) -> int:
    return _value_of(span, _word(span, found[1]))


def _value_read(found: re.Match[str], span: Span) -> int:
    read_ = [row for row in span.earlier(ACCESS) if row[3] == int(found[1]) and row[4] != _STORE]
    if not read_:
        raise UnreadableError(f"CPU {found[1]} has read nothing by then")
    return _number(read_[-1][7])


def _sender(found: re.Match[str], span: Span) -> str:
    agent, ends = _agent(span, found[1]), span.run["endpoints"]
    senders = [row[2] for row in span.earlier(MESSAGE) if row[7] and ends[row[3]][:2] == ["cache", agent]]
    if not senders:
        raise UnreadableError(f"CPU {found[1]}'s cache has received no data by then")
    return str(ends[senders[-1]][2])


def _messages(_found: re.Match[str], span: Span) -> int:
    return sum(1 for _ in span.rows(MESSAGE))


def _messages_called(found: re.Match[str], span: Span) -> int:
    names: list[str] = span.run["messages"]
    if found[1] not in names:
        raise UnreadableError(f'there is no message "{found[1]}": {", ".join(sorted(names))}')
    return sum(1 for row in span.rows(MESSAGE) if row[4] == names.index(found[1]))


def _messages_that_ask(_found: re.Match[str], span: Span) -> int:
    """Counts the messages without data that a cache puts on a bus: requests and upgrades."""
    ends = span.run["endpoints"]
    return sum(1 for row in span.rows(MESSAGE) if ends[row[2]][0] == "cache" and ends[row[3]][0] == "bus" and not row[7])


def _messages_to_other_nodes(_found: re.Match[str], span: Span) -> int:
    ends = span.run["endpoints"]
    return sum(1 for row in span.rows(MESSAGE) if ends[row[2]][3] != ends[row[3]][3])


def _loads(found: re.Match[str], span: Span) -> int:
    address = _word(span, found[1])[0]
    return sum(1 for row in span.rows(ACCESS) if row[3] == int(found[2]) and row[5] == address)


def _metric(found: re.Match[str], span: Span) -> float:
    metrics = span.run["metrics"]
    if found[1] not in metrics:
        # The run has no metric for an event that never happened.
        if found[1].endswith(".count"):
            return 0
        raise UnreadableError(f"the run has no metric {found[1]}: {meant(found[1], sorted(metrics))}")
    return float(metrics[found[1]][0])


def _nanoseconds(_found: re.Match[str], span: Span) -> float:
    above, _, below = span.run["tick_ns"].partition("/")
    log = span.run["log"]
    times = [log[place - 1][0] if place > 0 else 0 for place in (span.begin, span.end)]
    return round((times[1] - times[0]) * float(above) / float(below or 1), 3)


_Reader = Callable[[re.Match[str], Span], Answer]
_READERS: tuple[tuple[re.Pattern[str], _Reader], ...] = tuple(
    (re.compile(pattern), reader)
    for pattern, reader in (
        (r"state of (\S+) in CPU (\d+)", _state_in_cpu),
        (r"state of (\S+) at memory", _state_at_memory),
        (r"state of (\S+) at home (\d+)", _state_at_home),
        (r"value that CPU (\d+) read", _value_read),
        (r"value of (\S+)", _value),
        (r"sender of data to CPU (\d+)", _sender),
        (r"number of messages", _messages),
        (r"number of messages that ask", _messages_that_ask),
        (r"number of messages to other nodes", _messages_to_other_nodes),
        (r"number of loads of (\S+) by CPU (\d+)", _loads),
        (r"number of (\S+)", _messages_called),
        (r"metric (\S+)", _metric),
        (r"nanoseconds", _nanoseconds),
    )
)


def copies(span: Span) -> list[str]:
    """Each named line that has a copy somewhere, such as "x: CPU 0 S, CPU 1 I, value 7"."""
    number = next(i for i, table in enumerate(span.run["tables"]) if table["name"] == "cache")
    states: list[str] = span.run["tables"][number]["states"]
    found: dict[int, dict[int, str]] = {}
    for row in span.earlier(ROW):
        if row[2] == number:
            found.setdefault(row[4], {})[row[3]] = states[row[7]]
    size = int(span.run["line_bytes"])
    texts = []
    for name, _, begin, _ in span.run["objects"]:
        agents = found.get(_number(begin) // size)
        if agents is None:
            continue
        shown = [
            f"CPU {', '.join(map(str, cache[3]))} {agents.get(i, states[0])}" for i, cache in enumerate(span.run["caches"])
        ]
        within = [word for word in span.run["words"] if _number(word[0]) // size == _number(begin) // size]
        values = [f"{word[2]} = {_value_of(span, word)}" for word in within]
        texts.append(f"{name}: {', '.join([*shown, *values])}")
    return texts


def _value_of(span: Span, word: list[Any]) -> int:
    value = word[3]
    for row in span.earlier(ACCESS):
        if row[5] == word[0]:
            value = row[8]
    return _number(value)

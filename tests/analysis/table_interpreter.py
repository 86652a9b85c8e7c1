"""Runs a bus protocol's table for accesses that come one after the other, straight from the Markdown. It shares no code with
the simulator, and knows nothing of time."""

import re
from dataclasses import dataclass, field

from program import ROOT

Row = tuple[list[str], str]  # actions, next state


def rows_of(protocol: str) -> dict[tuple[str, str, str], Row]:
    """Rows by controller, state and event; an event without a guard stands for all of its guards."""
    found: dict[tuple[str, str, str], Row] = {}
    controller, in_rows = "", False
    for line in (ROOT / "models" / "protocols" / f"{protocol}.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            controller = line[3:].strip()
        if not line.startswith("|"):
            in_rows = False
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells == ["in", "on", "do", "then", "why"]:
            in_rows = True
        elif in_rows and set(cells[0]) != {"-"}:
            states, events, actions, then, _ = cells
            for state in states.split(","):
                for event in events.split(","):
                    row = ([part.strip() for part in actions.split(";")], state.strip() if then == "=" else then)
                    found[controller, state.strip(), event.strip()] = row
    return found


@dataclass
class Done:
    """What one access did."""

    messages: list[str] = field(default_factory=list)
    supplier: str = ""


class Interpreter:
    def __init__(self, protocol: str, caches: int) -> None:
        self.rows = rows_of(protocol)
        self.states = [self.first_state()] * caches

    def first_state(self) -> str:
        return next(state for controller, state, _ in self.rows if controller == "cache")

    def row(self, controller: str, state: str, event: str, guard: str = "") -> Row:
        found = self.rows.get((controller, state, f"{event} [{guard}]")) or self.rows[controller, state, event]
        assert found[0] != ["impossible"], (controller, state, event, guard)
        return found

    def access(self, cpu: int, write: bool) -> Done:
        done = Done()
        event = "Store" if write else "Load"
        actions, self.states[cpu] = self.row("cache", self.states[cpu], event)
        while actions != ["hit"]:
            (message,) = [action.removeprefix("issue ") for action in actions if action.startswith("issue ")]
            done.messages.append(message)
            actions = self.order(cpu, message, done)
            if "send word" in actions:
                break
            if "complete" in actions:
                actions, self.states[cpu] = self.row("cache", self.states[cpu], event)
        return done

    def order(self, cpu: int, message: str, done: Done) -> list[str]:
        """Runs the order step, and the data step if one follows. Returns the actions of the last row that the requester
        ran."""
        shared = owned = False
        supplier = ""
        for other in range(len(self.states)):
            if other == cpu:
                continue
            actions, self.states[other] = self.row("cache", self.states[other], f"Other_{message}")
            shared |= "assert shared" in actions
            owned |= "assert owned" in actions
            if any(action.startswith("send data to requestor") for action in actions):
                supplier = f"CPU {other}'s cache"
        if "send data to requestor" in self.row("memory", "Idle", message, "owned" if owned else "clean")[0]:
            supplier = "memory"
        actions, state = self.row("cache", self.states[cpu], f"Own_{message}", "shared" if shared else "alone")
        self.states[cpu] = state
        data = self.rows.get(("cache", state, "Data"), (["impossible"], ""))
        if "complete" in actions or "send word" in actions or data[0] == ["impossible"]:
            return actions
        done.supplier = supplier
        self.states[cpu] = data[1]
        return data[0]

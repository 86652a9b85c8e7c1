"""Random experiments for comparing the engine's two builds: a shipped machine, made small and randomly changed, under random
references or a random Lua program."""

import json
import random
from pathlib import Path

# With how many CPUs. They make a number of references together that takes no machine long.
MACHINES = {
    "p3_xeon_4way": 4, "p3_xeon_8way": 8, "x445_8way": 8, "numaq_16way": 16, "itanium2_two_node_16way": 16,
    "opteron_6172_4socket": 48, "xeon_gold_6242_2socket": 64, "epyc_7773x_1socket": 64, "generic_chiplet_64core": 64,
    "generic_cxl_32core": 32,
}  # fmt: skip
REFERENCES = 640
LOCKS = ["tas", "ttas", "ticket", "mcs", "clh", "qspinlock"]
WORDS = ["shared.a", "shared.b", "shared.c", "other.a", "other.d", "mine.a", "mine.b", "items[cpu:random(6)].key"]


def write_experiment(folder: Path, number: int, seed: int) -> Path:
    """Writes NAME.toml and, for every second experiment, the program beside it."""
    rng = random.Random(f"{seed} {number}")
    machine, cpus = list(MACHINES.items())[number % len(MACHINES)]
    file = folder / f"{number:04}_{machine}.toml"
    changes = {
        "machine.cpu.store_buffer_entries": rng.choice([1, 2, 8]),
        "machine.cpu.outstanding_misses": rng.choice([1, 2, 4]),
        "machine.cache.L1D.size_kib": rng.choice([1, 2, 8]),
        "machine.cache.L1D.ways": rng.choice([1, 2, 4]),
        "machine.cache.L1D.replacement": rng.choice(["lru", "tree_plru"]),
        "machine.cpu.pair_prefetch": rng.choice(["none", "all"]),
        "machine.cpu.ownership_prefetch": number % 4 < 2,
        "machine.memory.latency_ns": rng.randrange(20, 300),
    }
    text = f'name = "case"\ntitle = "A random case"\nmachine = "{machine}"\nseed = {rng.randrange(1 << 30)}\n\n[workload]\n'
    if number % 2 == 0:
        text += f'name = "random_references"\noperations = {REFERENCES // cpus}\nshared_lines = 6\n'
    else:
        program = file.with_suffix(".lua")
        program.write_text(random_program(rng), encoding="utf-8")
        text += f'name = "program"\nprogram = "{program.name}"\n'
    text += "\n[run]\nmeasure_us = 0\n\n[set]\n"
    text += "".join(f'"{key}" = {json.dumps(value)}\n' for key, value in changes.items())
    file.write_text(text, encoding="utf-8")
    return file


def random_program(rng: random.Random) -> str:
    body = []
    for _ in range(rng.randrange(3, 12)):
        body += ["do", *("  " + line for line in _statement(rng)), "end"]
    align = rng.choice(["", ', align = "line"'])
    own = rng.choice(['place_per_cpu(pair, "own")', 'place(pair, "own", { count = machine.cpus })'])
    lines = [
        'title = "Random"',
        "ends = true",
        "",
        "function setup()",
        f'  local pair = structure {{ name = "pair", "a", "b:4", "c:2", "d:1"{align} }}',
        '  shared = place(pair, "shared")',
        '  other = place(pair, "other", { node = machine.nodes - 1 })',
        '  items = place(structure { name = "item", "key", "next" }, "items", { count = 6 })',
        f"  own = {own}",
        f'  the_lock = lock("{rng.choice(LOCKS)}", "the_lock")',
        '  all = barrier("all")',
        f"  preset(shared.a, {rng.randrange(1000)})",
        "end",
        "",
        "function run(cpu)",
        "  local sum, mine = 0, own[cpu.id]",
        f"  for round = 1, {rng.randrange(1, 4)} do",
        *("    " + line for line in body),
        *(["    cpu:meet(all)"] if rng.random() < 0.5 else []),
        "    cpu:tally()",
        "  end",
        "  cpu:store(mine.a, sum)",
        "end",
        "",
    ]
    return "\n".join(lines)


def _statement(rng: random.Random, depth: int = 0) -> list[str]:
    word, n = rng.choice(WORDS), rng.randrange(1, 9)
    simple = [
        [f"sum = sum + cpu:load({word})"],
        [f"cpu:store({word}, sum % 100 + {n})"],
        [f"sum = sum + cpu:fetch_add({word}, {n})"],
        [f"sum = sum + cpu:exchange({word}, sum % 100 + {n})"],
        [f"local old = cpu:load({word})", f"if cpu:compare_exchange({word}, old, old + {n}) then sum = sum + 1 end"],
        [rng.choice(["cpu:fence()", "cpu:store_fence()", f"cpu:compute({20 * n})", f"cpu:execute({n})"])],
        [f"cpu:prefetch({word})"],
        [f"local p, q = cpu:load_all({word}, shared.b)", "sum = sum + p - q"],
        [f"cpu:store_release({word}, {n})", f"sum = sum + cpu:load_acquire({word})"],
        [f"sum = sum + cpu:random({n})"],
    ]
    kind = rng.randrange(len(simple) + (3 if depth < 2 else 0))
    if kind < len(simple):
        return simple[kind]
    body = ["  " + line for _ in range(rng.randrange(1, 4)) for line in _statement(rng, depth + 1)]
    if kind == len(simple) and depth == 0:
        return ["cpu:acquire(the_lock)", *body, "cpu:release(the_lock)"]
    if kind == len(simple) + 1:
        return [f"for i = 1, {n} do", *body, "end"]
    return [f"if sum % 3 == {n % 3} then", *body, "end"]

"""route_cache_flood: a router that receives more packets than it can route."""

from itertools import groupby
from pathlib import Path

import pytest
from program import Program
from results import metric_of, read_csv, validate
from ways import Way, assert_every_way_agrees

ONE_POINT = """\
name    = "flood"
machine = "p4_router_2way_ht"
[workload]
name = "route_cache_flood"
{more}
[run]
warmup_us  = 1000
measure_us = {us}
"""
SERIES = [
    "softirqs.per_4_jiffies",
    "rcu.grace_period_ms",
    "rcu.batch",
    "rcu.pending",
    "route_cache.entries",
    "threads.runnable",
]


def flood(linebounce: Program, output: str, *arguments: str, us: int = 30_000, more: str = "") -> Path:
    return linebounce.run(linebounce.file("flood.toml", ONE_POINT.format(us=us, more=more)), output, *arguments)


@pytest.mark.parametrize("reception", ["netif_rx", "napi"])
def test_a_flood_gives_the_same_results_without_speed_ups(linebounce: Program, reception: str) -> None:
    more = f'reception = "{reception}"\nsoftirq_quota_pct = 60'
    file = linebounce.file("flood.toml", ONE_POINT.format(us=30_000, more=more))
    assert_every_way_agrees(linebounce, file, ways=[Way.BOTH_OFF])


def test_series_have_one_row_every_four_milliseconds(linebounce: Program) -> None:
    rows = read_csv(flood(linebounce, "out") / "series.csv")
    series = {name: list(part) for name, part in groupby(rows, lambda row: row["name"])}
    assert list(series) == SERIES
    for part in series.values():
        assert [float(row["time_us"]) for row in part] == [4000 * i for i in range(len(part))]
    lengths = {len(part) for part in series.values()}
    assert lengths == {8}  # up to the end, at 31 ms
    assert sum(float(row["value"]) for row in series["softirqs.per_4_jiffies"]) > 100


# 100,000 packets arrive each second, whether they are taken or not. At the beginning and at the end, up to a ring and a
# backlog of them are under way.
@pytest.mark.parametrize("rate", [50_000, 400_000])
def test_no_packet_is_forgotten(linebounce: Program, rate: int) -> None:
    results = validate(flood(linebounce, "out", more=f"packets_per_s = {rate}") / "results.json", "results")
    counted = [
        metric_of(results, name)
        for name in ("packets.passed_on", "packets.without_route", "packets.lost_in_ring", "packets.lost_in_backlog")
    ]
    assert sum(counted) == pytest.approx(rate * 0.03, abs=256 + 300 + 1)


def test_with_call_rcu_bh_grace_periods_are_short(linebounce: Program) -> None:
    def longest(grace_periods: str) -> float:
        out = flood(linebounce, grace_periods, us=250_000, more=f'grace_periods = "{grace_periods}"\npackets_per_s = 200000')
        return metric_of(validate(out / "results.json", "results"), "rcu.grace_period_max_us")

    assert longest("call_rcu_bh") < 20_000
    assert longest("call_rcu") > 50_000


def test_a_quota_shortens_a_processs_wait(linebounce: Program) -> None:
    def starved(quota: int) -> float:
        out = flood(linebounce, str(quota), us=250_000, more=f"softirq_quota_pct = {quota}\npackets_per_s = 200000")
        return metric_of(validate(out / "results.json", "results"), "starvation.longest_ms")

    assert starved(50) < 20
    assert starved(50 + 50) > starved(25)

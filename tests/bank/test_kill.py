"""A write that is killed, or fails, at any step: the old page or the new, and no text lost."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.bank.killed import ALICE, BOB, BOTH, FIRST, KILLED, NEW, NOTE, OLD, OUTSIDE
from tests.serving import ROOT, environment

# What the page may hold afterwards: before the write, and once it is acknowledged.
STATES = {
    "create": (ALICE, None, NEW),
    "batch": (ALICE, None, NEW),
    "edit": (ALICE, OLD, NEW),
    "append": (NOTE, FIRST, BOTH),
    "archive": (ALICE, OLD, None),
    "restore": (ALICE, None, OLD),
    "over an outside edit": (ALICE, OUTSIDE, NEW),
    "raced by an outside edit": (ALICE, OLD, NEW),
}
SCENARIOS = list(STATES)


def attempts(tmp_path: Path, scenario: str, fault: str) -> list[dict[str, Any]]:
    """What became of the write with the fault at its first step, its second, and so on."""
    home = tmp_path / "home"
    ran = subprocess.run(
        [sys.executable, "-m", "tests.bank.killed", scenario, fault, str(home)],
        cwd=ROOT,
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert ran.returncode == 0, ran.stderr
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(lines) > 30
    return lines


def check_whole(scenario: str, after: dict[str, Any]) -> None:
    """The record, the file and the history agree, and nothing is left over."""
    path, old, new = STATES[scenario]
    assert after["integrity"] == "ok"
    assert after["problems"] == {}
    assert after["pending"] == 0
    assert after["page"] == after["current"]
    assert after["page"] in (old, new) or (after["page"] == OUTSIDE and "outside" in scenario)
    assert after["files"] == ({path: after["page"]} if after["page"] is not None else {})
    assert after["changes"] >= len(after["revisions"])
    assert after["links"] == (1 if after["page"] == NEW else 0)
    kept = {text for text in (old, after["page"]) if text is not None}
    if scenario != "restore":
        assert kept <= set(after["revisions"])
    raced = OUTSIDE in after["revisions"] and "raced" in scenario
    assert (after["conflict"] is not None) == raced


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_write_killed_at_any_step_is_wholly_done_or_not_at_all(tmp_path: Path, scenario: str):
    results = set()
    *killed, last = attempts(tmp_path, scenario, "exit")
    for one in killed:
        assert one["code"] == KILLED, one
        check_whole(scenario, one["after"])
        results.add(one["after"]["page"])
    check_whole(scenario, last["after"])
    check_acknowledged(scenario, last)
    assert len(results) >= 2  # It was killed on both sides of the moment that decides.


FAULTS = [
    *(("edit", fault) for fault in ("ENOSPC", "EIO", "EACCES", "short")),
    *((scenario, "EIO") for scenario in ("append", "archive", "restore", "batch")),
    *(("raced by an outside edit", fault) for fault in ("ENOSPC", "EIO")),
]


@pytest.mark.parametrize(("scenario", "fault"), FAULTS)
def test_a_disk_that_fails_at_any_step_is_said_and_nothing_is_lost(
    tmp_path: Path, scenario: str, fault: str
):
    for one in attempts(tmp_path, scenario, fault):
        assert one["code"] == 0, one
        check_whole(scenario, one["after"])
        if one["attempted"]["answer"] == "done":
            check_acknowledged(scenario, one)
        else:
            assert one["attempted"]["answer"].startswith(("Unavailable: ", "OperationalError: "))


def check_acknowledged(scenario: str, one: dict[str, Any]) -> None:
    """The text that was said to be stored is the page's, or waits for a decision beside it."""
    _, _, new = STATES[scenario]
    assert one["attempted"]["answer"] == "done"
    if "raced" in scenario:
        assert {new, OUTSIDE} <= set(one["after"]["revisions"])
    else:
        assert one["after"]["page"] == new


@pytest.mark.parametrize("fault", ["exit", "EIO"])
def test_a_rename_killed_or_failing_at_any_step_leaves_one_page_with_one_file(
    tmp_path: Path, fault: str
):
    *faulty, last = attempts(tmp_path, "rename", fault)
    for one in [*faulty, last]:
        after = one["after"]
        assert after["files"] == {after["path"]: OLD}
        assert (after["page"], after["revisions"]) == (OLD, [OLD])
        assert (after["conflict"], after["pending"], after["problems"]) == (None, 0, {})
    assert {one["after"]["path"] for one in faulty} == {ALICE, BOB}
    assert (last["attempted"]["answer"], last["after"]["path"]) == ("done", BOB)


def test_a_file_renamed_outside_is_one_page_under_its_new_name_wherever_that_is_killed(
    tmp_path: Path,
):
    for one in attempts(tmp_path, "rename outside", "exit"):
        after = one["after"]
        assert (after["files"], after["path"]) == ({BOB: OLD}, BOB)
        assert (after["rows"], after["revisions"]) == (1, [OLD, OLD])
        assert (after["conflict"], after["pending"], after["problems"]) == (None, 0, {})


@pytest.mark.parametrize("fault", ["exit", "EIO"])
def test_an_erasure_killed_or_failing_at_any_step_leaves_the_page_or_no_byte_of_it(
    tmp_path: Path, fault: str
):
    *faulty, last = attempts(tmp_path, "erase", fault)
    for one in [*faulty, last]:
        after = one["after"]
        assert (after["integrity"], after["pending"], after["problems"]) == ("ok", 0, {})
        if after["page"] == OLD:
            assert (after["files"], after["revisions"]) == ({ALICE: OLD}, [OLD])
        else:
            assert (after["rows"], after["revisions"], after["files"]) == (0, [], {})
            killed = one["code"] == KILLED
            assert not after["in_database"] or not killed
    assert {one["after"]["page"] for one in faulty} == {OLD, None}
    assert (last["attempted"]["answer"], last["after"]["rows"]) == ("done", 0)
    assert not last["after"]["in_database"]

"""What a start finds undone is done before the server says that it lives."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from memoryweb.core import health
from tests.bank.killed import ALICE, NEW, OLD
from tests.serving import ROOT, environment, serving, status

STRANDED = """
import os, django
django.setup()
from bank import places
from memoryweb import house
from tests.bank.faulty_disk import FaultyDisk
from tests.bank.killed import counting, scenarios
house.prepare()
scenario = scenarios()["edit"]
scenario.before()
class Killed(FaultyDisk):
    def replace(self, *names):
        os._exit(86)
places.disk = Killed()
scenario.write()
"""


def kill_in_the_middle_of_a_save(home: Path) -> None:
    extra = {"DJANGO_SETTINGS_MODULE": "memoryweb.settings"}
    killed = subprocess.run(
        [sys.executable, "-c", STRANDED], cwd=ROOT, env=environment(home, **extra)
    )
    assert killed.returncode == 86


def test_a_save_that_was_killed_is_finished_before_the_server_lives(tmp_path: Path):
    kill_in_the_middle_of_a_save(tmp_path)
    assert (tmp_path / "memory" / ALICE).read_text() == OLD
    with serving(tmp_path, "--no-worker") as served:
        assert status(served.url + "/healthz") == 200
        assert (tmp_path / "memory" / ALICE).read_text() == NEW
        assert [path.name for path in (tmp_path / "memory/bank/entities").iterdir()] == ["alice.md"]
        assert status(served.url + "/readyz") == 200


def test_an_edit_outside_appears_within_ten_seconds(tmp_path: Path):
    with serving(tmp_path) as served:
        token = served.token("read")
        (tmp_path / "memory" / ALICE).write_text(OLD)
        edited = time.monotonic()
        request = urllib.request.Request(
            served.url + "/api/v1/bank/entities", headers={"Authorization": f"Bearer {token}"}
        )
        while True:
            with urllib.request.urlopen(request) as answer:
                if json.load(answer)["total"] == 1:
                    break
            assert time.monotonic() - edited < 10
            time.sleep(0.2)


def test_a_start_that_fails_is_503_and_tried_again(client, monkeypatch: pytest.MonkeyPatch):
    tries: list[int] = []

    def fail_once() -> None:
        tries.append(1)
        if len(tries) == 1:
            raise OSError(os.strerror(5))

    monkeypatch.setattr(health, "_first", {"a test's own start": fail_once})
    first = client.get("/healthz")
    assert first.status_code == 503
    assert b"a test's own start" in first.content
    assert [client.get("/healthz").status_code for _ in range(2)] == [200, 200]
    assert len(tries) == 2

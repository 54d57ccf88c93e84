"""Eight processes write one database at once: nobody is turned away, nothing is lost."""

import fcntl
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from django.db import OperationalError

from memoryweb.core.sqlite import queue

WRITER = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "memoryweb.settings"
import django; django.setup()
from memoryweb.core import clock
from memoryweb.core.actor import system
for n in range(40):
    with clock.writing(system()) as tx:
        tx.changed("episodes", f"{sys.argv[1]}-{n}")
        tx.audited("test.write", f"episodes/{sys.argv[1]}-{n}")
"""


def test_eight_processes_lose_no_write_and_keep_the_audit_chain(tmp_path: Path):
    environ = {"MEMORYWEB_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    root = Path(__file__).parents[2]
    manage = [sys.executable, "manage.py"]
    subprocess.run([*manage, "migrate", "-v0"], cwd=root, env=environ, check=True)
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(n)], cwd=root, env=environ)
        for n in range(8)
    ]
    assert [writer.wait(120) for writer in writers] == [0] * 8
    report = subprocess.run(
        [*manage, "shell", "-v0", "-c", CHECK],
        cwd=root,
        env=environ,
        capture_output=True,
        text=True,
    )
    assert report.stdout.split() == ["320", "320", "True"], report.stderr


CHECK = """
from memoryweb.core import clock
from memoryweb.core.models import AuditEntry, Change
entries = list(AuditEntry.objects.order_by("id"))
linked = all(b.previous_hash == a.hash for a, b in zip(entries, entries[1:]))
print(clock.current_seq(), Change.objects.count(), linked)
"""


def test_a_writer_that_waits_too_long_is_told_so(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(queue, "TIMEOUT", 0.05)
    first, second = (queue.WriteQueue(tmp_path / "write.lock") for _ in range(2))
    first.enter()
    with pytest.raises(OperationalError, match="another write"):
        second.enter()
    first.leave()
    second.enter()
    second.close()


def test_the_queue_is_left_when_the_lock_file_cannot_be_opened(tmp_path: Path):
    broken = queue.WriteQueue(tmp_path / "no-such-folder" / "write.lock")
    with pytest.raises(OperationalError, match=r"write\.lock: No such file"):
        broken.enter()
    (tmp_path / "no-such-folder").mkdir()
    done = threading.Thread(target=lambda: (broken.enter(), broken.leave()))
    done.start()
    done.join(5)
    assert not done.is_alive()


def test_who_will_not_wait_gets_the_turn_only_when_nobody_has_it(tmp_path: Path):
    first, second = (queue.WriteQueue(tmp_path / "write.lock") for _ in range(2))
    assert first.enter_now()
    assert not second.enter_now()
    first.leave()
    assert second.enter_now()
    second.close()


def test_who_will_not_wait_does_not_wait_for_another_process_either(tmp_path: Path):
    lock = tmp_path / "write.lock"
    with lock.open("w") as held_elsewhere:
        fcntl.flock(held_elsewhere, fcntl.LOCK_EX)
        assert not queue.WriteQueue(lock).enter_now()
    last = queue.WriteQueue(lock)
    assert last.enter_now()
    last.close()

"""The first command: a new home is set up, served, and left clean."""

import errno
import fcntl
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from http.client import HTTPConnection
from io import StringIO
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from django.test import Client

from memoryweb import house, processes
from memoryweb.management.commands import serve
from tests.serving import Served, manage, serving, set_up, status


def test_a_new_home_is_set_up_served_and_stopped_within_ten_seconds(tmp_path: Path):
    with serving(tmp_path / "home") as served:
        link = served.wait_for(r"(http://\S+/first/\S+/)")
        assert status(served.url + "/healthz") == 200
        assert status(served.url + "/readyz") == 200
        assert status(link) == 200
        assert status(served.url + "/no-such-page") == 404
        assert served.stop() < 10
    assert served.process.returncode == 0
    assert served.home.stat().st_mode & 0o777 == 0o700
    for private in served.home.iterdir():
        if private.name not in ("memory", "bank"):
            mode = 0o700 if private.is_dir() else 0o600
            assert private.stat().st_mode & 0o777 == mode, private
    with sqlite3.connect(served.home / "memoryweb.sqlite3") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("place", ["a file", "beside a file"])
def test_a_home_that_cannot_be_is_said_in_one_sentence(tmp_path: Path, place: str):
    taken = tmp_path / "taken"
    taken.write_text("not a folder")
    refused = manage(taken if place == "a file" else taken / "home", "serve", "--port", "0")
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1
    assert refused.stderr.startswith("memoryweb cannot start: ")


@pytest.mark.parametrize("command", [["serve", "--port", "0"], ["worker", "--once"]])
def test_a_database_that_is_none_is_said_in_one_sentence_and_left_alone(
    tmp_path: Path, command: list[str]
):
    tmp_path.chmod(0o700)
    (tmp_path / "memoryweb.sqlite3").write_bytes(b"no database " * 1000)
    refused = manage(tmp_path, *command)
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1
    assert "damaged" in refused.stderr
    assert (tmp_path / "memoryweb.sqlite3").read_bytes() == b"no database " * 1000


def test_a_home_that_others_can_read_is_left_so_and_warned_of(tmp_path: Path):
    set_up(tmp_path)
    tmp_path.chmod(0o755)
    warned = manage(tmp_path, "create_token", "x", "--scope", "read")
    assert f"chmod 700 {tmp_path}" in warned.stderr
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_no_child_outlives_a_server_that_was_killed(tmp_path: Path):
    served = Served(tmp_path / "home", "--workers", "2")
    served.process.send_signal(signal.SIGKILL)
    served.process.wait()
    deadline = time.monotonic() + 15
    while children_of(served) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not children_of(served)
    with serving(served.home) as again:
        assert status(again.url + "/readyz") == 200


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL])
def test_requests_that_do_not_end_hold_up_neither_the_stop_nor_the_port(tmp_path: Path, sent: int):
    served = Served(tmp_path / "home", "--workers", "2")
    headers = {"Authorization": f"Bearer {served.token()}", "Content-Type": "application/json"}
    body = '{"agent_id": "a", "working_dir": "/", "outcome": "success", "summary": "s"}'
    with (served.home / "write.lock").open() as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)  # A write waits half a minute for this.
        slow = [HTTPConnection(urlsplit(served.url).netloc) for _ in range(4)]
        for connection in slow:
            connection.request("POST", "/api/v1/episodes", body, headers)
        time.sleep(1)
        served.process.send_signal(sent)
        started = time.monotonic()
        served.process.wait(30)
        while children_of(served):
            assert time.monotonic() - started < 10
            time.sleep(0.1)
        assert time.monotonic() - started < 10
    with serving(served.home, "--port", served.url.rpartition(":")[2]) as again:
        assert again.url == served.url


def test_a_child_that_cannot_be_started_is_tried_again(monkeypatch):
    started, tried = threading.Event(), []

    def popen(*arguments, **options):
        tried.append(arguments)
        if len(tried) == 1:
            raise OSError(errno.ENOMEM, "Cannot allocate memory")
        started.set()
        return subprocess.Popen([sys.executable, "-c", ""])

    class Fake:
        DEVNULL = subprocess.DEVNULL
        Popen = staticmethod(popen)

    monkeypatch.setattr(processes, "subprocess", Fake)
    monkeypatch.setattr(processes, "LONGEST_PAUSE", 0.01)
    children = processes.Children()
    children.keep(["worker"])
    assert started.wait(20)
    children.stop()


def test_an_address_that_is_given_up_is_taken_over():
    first = processes.listen("127.0.0.1", 0)
    host, port = first.getsockname()
    said: list[str] = []

    def give_up():
        said.append("taken")
        first.close()

    processes.listen(host, port, give_up, patience=20).close()
    assert said == ["taken"]


def test_a_server_that_does_not_answer_is_not_called_one_that_does(monkeypatch):
    answers = ["waiting: saves", "waiting: saves", None]
    monkeypatch.setattr(serve, "PATIENCE", -1.0)
    monkeypatch.setattr(serve, "_unanswered", lambda url: answers.pop(0))
    out, err = StringIO(), StringIO()
    serve.Command(stdout=out, stderr=err)._announce("http://x")
    assert err.getvalue().count("\n") == 1
    assert "waiting: saves" in err.getvalue()
    assert "answers on http://x/" in out.getvalue()


def children_of(served: Served) -> list[str]:
    """Processes that still run with this home, whoever their parent is now."""
    home = f"MEMORYWEB_HOME={served.home}".encode()
    found = []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            if home in environ.read_bytes().split(b"\0"):
                found.append(environ.parent.name)
        except OSError:
            continue  # The process ended while we looked.
    return found


def test_a_second_serve_on_one_home_serves_beside_the_first(tmp_path: Path):
    with serving(tmp_path / "home") as first, serving(tmp_path / "home") as second:
        assert status(first.url + "/readyz") == status(second.url + "/readyz") == 200
        assert first.url != second.url


def test_behind_a_tls_proxy_a_form_is_taken_and_https_is_asked_for(tmp_path: Path):
    host = {"Host": "memory.example"}
    settings = {"MEMORYWEB_HTTPS": "1", "MEMORYWEB_ALLOWED_HOSTS": "memory.example"}
    with serving(tmp_path / "home", **settings) as served:
        assert served.wait_for(r"(\S+/first/\S+/)").startswith("https://memory.example/first/")
        shown = asked(served, "GET", "/login/", host)
        assert shown.headers["Strict-Transport-Security"]
        token = re.search(r'csrfmiddlewaretoken" value="(\w+)"', shown.read().decode())
        assert token
        form = urlencode({"csrfmiddlewaretoken": token[1], "username": "ada", "password": "wrong"})
        browser = {
            "Origin": "https://memory.example",
            "Cookie": shown.headers["Set-Cookie"].partition(";")[0],
            "Content-Type": "application/x-www-form-urlencoded",
        }
        assert asked(served, "POST", "/login/", host | browser, form).status == 200


@pytest.mark.parametrize(
    ("https", "hosts", "origins", "address"),
    [
        (False, ["memory.example"], ["https://memory.example"], "http://127.0.0.1:8765"),
        (True, ["127.0.0.1", "memory.example"], [], "https://memory.example"),
        (True, ["memory.example"], ["https://memory.example:8443"], "https://memory.example:8443"),
        (True, [".example", "*"], ["https://*.example"], "http://127.0.0.1:8765"),
    ],
)
def test_a_link_for_people_leads_to_where_they_reach_it(settings, https, hosts, origins, address):
    settings.HTTPS, settings.ALLOWED_HOSTS, settings.CSRF_TRUSTED_ORIGINS = https, hosts, origins
    assert house.public_address("http://127.0.0.1:8765") == address


def test_every_server_process_answers_to_the_address_it_is_served_on(tmp_path: Path):
    names = {"MEMORYWEB_ALLOWED_HOSTS": "memory.example", "MEMORYWEB_HOMES": "misspelt"}
    with serving(tmp_path / "home", "--workers", "2", **names) as served:
        served.process.send_signal(signal.SIGSTOP)  # Now only the other one can answer.
        try:
            assert asked(served, "GET", "/healthz", {}).status == 200
            assert "".join(served.printed).count("MEMORYWEB_HOMES is not a setting") == 1
        finally:
            served.process.send_signal(signal.SIGCONT)


def test_behind_a_named_proxy_each_client_has_tries_of_its_own(tmp_path: Path):
    """The proxy's double is this test itself: it connects from 127.0.0.1 and adds the headers."""
    names = {"MEMORYWEB_TRUSTED_PROXIES": "127.0.0.1", "MEMORYWEB_ALLOWED_HOSTS": "memory.example"}
    with serving(tmp_path / "home", **names) as served:

        def wrong_password(client: str) -> int:
            said = {
                "X-Forwarded-For": f"192.0.2.1, {client}",
                "X-Forwarded-Proto": "https",
                "X-Forwarded-Host": "memory.example",
            }
            shown = asked(served, "GET", "/login/", said)
            token = re.search(r'csrfmiddlewaretoken" value="(\w+)"', shown.read().decode())
            assert token
            form = {"csrfmiddlewaretoken": token[1], "username": "ada", "password": "wrong"}
            browser = {
                "Origin": "https://memory.example",
                "Cookie": shown.headers["Set-Cookie"].partition(";")[0],
                "Content-Type": "application/x-www-form-urlencoded",
            }
            return asked(served, "POST", "/login/", said | browser, urlencode(form)).status

        answers = [wrong_password("198.51.100.7") for _ in range(11)]
        assert (answers[0], answers[-1]) == (200, 429)
        assert wrong_password("203.0.113.9") == 200


def asked(served: Served, method: str, path: str, headers: dict[str, str], body: str = ""):
    """One request on a connection of its own, its headers as they are given."""
    connection = HTTPConnection(urlsplit(served.url).netloc, timeout=30)
    connection.request(method, path, body or None, headers)
    return connection.getresponse()


def test_an_address_that_is_taken_is_said_and_nothing_is_set_up(tmp_path: Path):
    with serving(tmp_path / "home") as served:
        port = served.url.rpartition(":")[2]
        refused = manage(tmp_path / "other", "serve", "--port", port)
    assert refused.returncode == 1
    assert "cannot listen" in refused.stderr
    assert not (tmp_path / "other" / "memoryweb.sqlite3").exists()


def test_create_token_prints_the_token_alone_on_the_last_line(tmp_path: Path):
    set_up(tmp_path)
    made = manage(tmp_path, "create_token", "laptop", "--scope", "write", "--expires", "90d")
    assert re.fullmatch(r"mw_[0-9a-f]{12}_[\w-]{43}", made.stdout.splitlines()[-1])
    assert f"home: {tmp_path}\n" in made.stderr


USING = [
    ("create_token", "x", "--scope", "read"),
    ("admin_link",),
    ("check_memory",),
    ("reindex",),
    ("rebuild",),
    ("context_env", "1"),
]


@pytest.mark.parametrize("command", USING, ids=lambda command: command[0])
def test_a_command_that_uses_a_home_makes_none_where_another_was_meant(
    tmp_path: Path, command: tuple[str, ...]
):
    refused = manage(tmp_path / "elsewhere", *command)
    assert refused.returncode == 1
    assert f"there is no memoryweb at {tmp_path / 'elsewhere'}" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert refused.stdout == ""
    assert not (tmp_path / "elsewhere" / "memoryweb.sqlite3").exists()


@pytest.mark.parametrize("expires", ["90", "0d", "-1d", "d", "1y", "9" * 30 + "d"])
def test_create_token_refuses_an_expiry_it_does_not_understand(tmp_path: Path, expires: str):
    refused = manage(tmp_path, "create_token", "x", "--scope", "read", f"--expires={expires}")
    assert refused.returncode != 0
    assert "Traceback" not in refused.stderr


def test_a_database_of_a_newer_program_is_refused_and_left_alone(tmp_path: Path):
    set_up(tmp_path)
    with sqlite3.connect(tmp_path / "memoryweb.sqlite3") as database:
        database.execute(
            "INSERT INTO django_migrations (app, name, applied) "
            "VALUES ('core', '9999_from_the_future', '2030-01-01')"
        )
    refused = manage(tmp_path, "create_token", "y", "--scope", "read")
    assert refused.returncode == 1
    assert "newer memoryweb" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.django_db(transaction=True)
def test_the_copy_that_an_upgrade_keeps_is_whole_and_private(tmp_path: Path, viewer):
    house._back_up(tmp_path)
    [copy] = tmp_path.iterdir()
    assert copy.stat().st_mode & 0o777 == 0o600
    with sqlite3.connect(copy) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("SELECT username FROM core_user").fetchall() == [("viewer",)]


@pytest.mark.django_db
def test_the_setup_link_makes_the_administrator_and_signs_in(client: Client):
    path = house.setup_path()
    weak = client.post(path, {"username": "ada", "password": "password"})
    assert weak.status_code == 200
    assert not house.has_administrator()
    done = client.post(path, {"username": "ada", "password": "correct horse battery"})
    assert (done.status_code, done.headers["Location"]) == (302, "/")
    assert client.get("/settings/people/").status_code == 200
    assert client.get(path).status_code == 404


@pytest.mark.django_db
def test_ten_wrong_passwords_close_the_door_even_to_the_right_one(client: Client, viewer):
    for _ in range(10):
        client.post("/login/", {"username": "viewer", "password": "wrong"})
    answer = client.post("/login/", {"username": "viewer", "password": "correct horse battery"})
    assert answer.status_code == 429
    other = Client(REMOTE_ADDR="10.0.0.9")
    answer = other.post("/login/", {"username": "viewer", "password": "correct horse battery"})
    assert answer.status_code == 302

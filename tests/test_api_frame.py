"""What holds for the whole API: who may call, how errors read, what is too large."""

import json

import pytest
from django.db import OperationalError
from django.test import Client

from memoryweb.core import tokens
from memoryweb.core.actor import system

pytestmark = pytest.mark.django_db
PROBLEM = "application/problem+json"


def test_a_session_reads_but_writes_only_with_the_pages_csrf_token(curator):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(curator, "django.contrib.auth.backends.ModelBackend")
    assert browser.get("/api/v1/episodes").status_code == 200
    refused = browser.post("/api/v1/episodes", "{}", "application/json")
    assert refused.status_code == 403
    assert "CSRF" in refused.json()["detail"]
    browser.get("/settings/account/")
    secret = browser.cookies["csrftoken"].value
    body = {"agent_id": "me", "working_dir": "/srv", "outcome": "success", "summary": "By hand"}
    written = browser.post(
        "/api/v1/episodes", json.dumps(body), "application/json", headers={"X-CSRFToken": secret}
    )
    assert written.status_code == 201


def test_a_viewer_cannot_write_through_the_session(viewer, signed_in):
    answer = signed_in(viewer).post("/api/v1/episodes", "{}", "application/json")
    assert answer.status_code == 403


def test_a_bad_token_is_refused_even_beside_a_good_session(curator, signed_in):
    answer = signed_in(curator).get("/api/v1/episodes", headers={"Authorization": "Bearer mw_x"})
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_revoked_token_is_refused_by_the_next_request(client):
    token, text = tokens.issue(system(), "laptop", "read")
    headers = {"Authorization": f"Bearer {text}"}
    assert client.get("/api/v1/episodes", headers=headers).status_code == 200
    tokens.revoke(system(), token.key)
    assert client.get("/api/v1/episodes", headers=headers).status_code == 401


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing/here", 404),
        ("GET", "/episodes/no-such-id", 404),
        ("DELETE", "/episodes", 405),
        ("GET", "/episodes/edit", 404),
        ("GET", "/episodes/batch", 405),
        ("GET", "", 404),
        ("GET", "/bank/notes/append", 405),
        ("GET", "/episodes?outcom=success", 422),
        ("GET", "/episodes?limit=1000000", 422),
        ("GET", "/episodes?limit=ten", 422),
        ("GET", "/episodes?cursor=made-up", 422),
        ("GET", "/episodes?since=yesterday", 422),
        ("POST", "/episodes", 422),
    ],
)
def test_every_error_is_a_problem_document(api, method, path, status):
    answer = api("write")(method, path, {} if method == "POST" else None)
    assert answer.status_code == status
    assert answer.headers["Content-Type"] == PROBLEM
    document = answer.json()
    assert set(document) >= {"type", "title", "status", "detail", "request_id"}
    assert document["status"] == status
    assert answer.headers["X-Request-ID"] == document["request_id"]
    if status == 405:
        assert method not in answer.headers["Allow"]


@pytest.mark.parametrize(
    ("method", "path", "body", "loc"),
    [
        ("GET", "/episodes?cursor=none", None, ["query", "cursor"]),
        ("GET", "/episodes?limit=0", None, ["query", "limit"]),
        ("PUT", "/bank/entities/a.b", {"content": "# A\n\nb\n"}, ["path", "name"]),
        ("PUT", "/bank/entities/a", {"content": "no heading"}, ["body", "content"]),
        ("PUT", "/bank/entities/a", {}, ["body", "content"]),
        ("POST", "/bank/notes/append", {"text": " "}, ["body", "text"]),
        ("POST", "/bank/notes/append", {"text": "x", "date": "1"}, ["body", "date"]),
        ("POST", "/search", {}, ["body", "query"]),
    ],
)
def test_a_mistake_names_the_part_of_the_request_that_it_is_in(api, home, method, path, body, loc):
    answer = api("write")(method, path, body)
    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, loc)


@pytest.mark.parametrize(
    ("method", "path", "body", "said"),
    [
        ("POST", "/search", {"query": "x" * 20_001}, "at most 20000 characters"),
        ("POST", "/sessions/shop/environment", {"query": "x" * 20_001}, "at most 20000 characters"),
        ("GET", f"/bank/context?query={'x' * 20_001}", None, "at most 20000 characters"),
        ("GET", f"/episodes?q={'x' * 1_001}", None, "at most 1000 characters"),
        ("GET", "/episodes?agent_id=", None, "at least 1 character"),
        ("POST", "/sessions", {"context_id": "x" * 201, "name": "x"}, "at most 200 characters"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_the_length_of_a_text_is_told_in_characters(api, home, method, path, body, said):
    answer = api("write")(method, path, body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["msg"].endswith(said)


def test_a_body_over_the_limit_is_413_and_nothing_is_stored(api):
    body = {"agent_id": "me", "working_dir": "/srv", "outcome": "success"}
    large = json.dumps({**body, "summary": "x" * 10_000_000})
    answer = api("write").post("/episodes", large)
    assert answer.status_code == 413
    assert answer.headers["Content-Type"] == PROBLEM
    assert api("read").get("/episodes").json()["total"] == 0


def test_a_page_form_over_the_limit_is_a_413_page(curator, signed_in):
    answer = signed_in(curator).post("/settings/account/", {"old_password": "x" * 3_000_000})
    assert answer.status_code == 413
    assert "2 MiB" in answer.content.decode()


def test_the_document_and_its_pages_ask_for_a_login_or_a_token(client, api):
    for path in ("/api/v1/openapi.json", "/api/v1/docs"):
        assert client.get(path).status_code == 401
        assert api("read").get(path.removeprefix("/api/v1")).status_code == 200


def test_the_docs_page_loads_nothing_from_elsewhere(api):
    page = api("read").get("/docs")
    assert "//cdn" not in page.content.decode()
    assert "data:" in page.headers["Content-Security-Policy"]


def test_a_token_has_only_its_minutes_share_of_requests(api, settings):
    settings.MEMORYWEB_RATE_LIMIT = 3
    agent = api("read")
    answers = [agent.get("/episodes").status_code for _ in range(5)]
    assert answers[:3] == [200, 200, 200]
    assert 429 in answers


def test_who_asks_too_often_is_told_when_to_come_back(api, settings):
    settings.MEMORYWEB_RATE_LIMIT = 1
    agent = api("read")
    answers = [agent.get("/episodes") for _ in range(3)]  # A minute may begin in between.
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert 1 <= int(refused.headers["Retry-After"]) <= 60


def test_no_cache_keeps_what_needs_a_login(api, signed_in, viewer, client):
    answers = [
        api("read").get("/episodes"),
        api("read").get("/episodes/none"),
        signed_in(viewer).get("/episodes/"),
        signed_in(viewer).get("/no-such-page/"),
        client.get("/episodes/"),
    ]
    assert {answer.headers["Cache-Control"] for answer in answers} == {"private, no-store"}
    static = client.get("/static/css/tokens.css")
    assert "no-store" not in static.headers["Cache-Control"]


def test_an_unexpected_error_is_a_problem_without_its_text(api, monkeypatch):
    from episodes import queries

    def explode(*arguments):
        raise RuntimeError("secret detail")

    monkeypatch.setattr(queries, "matching", explode)
    answer = api("read").get("/episodes")
    assert answer.status_code == 500
    assert answer.headers["Content-Type"] == PROBLEM
    assert "secret" not in answer.content.decode()


def test_a_full_database_is_503_and_says_what_is_safe(api, monkeypatch):
    from episodes import queries

    def fill(*arguments):
        raise OperationalError("database or disk is full")

    monkeypatch.setattr(queries, "matching", fill)
    answer = api("read").get("/episodes")
    assert answer.status_code == 503
    assert "disk is full" in answer.json()["detail"]
    assert "nothing was changed" in answer.json()["detail"]


def test_a_full_database_is_a_page_that_says_what_is_safe(viewer, signed_in, monkeypatch):
    from episodes import views

    def fill(*arguments):
        raise OperationalError("database or disk is full")

    monkeypatch.setattr(views.queries, "matching", fill)
    answer = signed_in(viewer).get("/episodes/")
    assert answer.status_code == 503
    assert "nothing was changed" in answer.content.decode()

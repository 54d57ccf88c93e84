"""Who was signed out while typing loses nothing, and a foreign page gains nothing by it."""

import re
from html import unescape

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from episodes import store
from episodes.models import Episode
from memoryweb.core.actor import system
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db
HERE = {"Origin": "http://testserver"}
TEXT = 'Fixed the "deadlock" & <b>more</b>\r\nin two lines'


@pytest.fixture
def window(curator) -> Client:
    """A browser that checks CSRF, whose person has an episode open for editing."""
    row = {"id": "one", "agent_id": "otter", "working_dir": "/srv", "outcome": "success"}
    store.store(system(), store.parse({**row, "summary": "Fixed it"}))
    client = Client(enforce_csrf_checks=True, headers=HERE)
    client.force_login(curator, "django.contrib.auth.backends.ModelBackend")
    return client


def typed(window: Client, summary: str = TEXT) -> dict[str, str]:
    """The fields of the open form, as the browser would send them."""
    page = window.get("/episodes/one/edit/")
    form = page.context["form"]
    fields = {name: form[name].value() or "" for name in form.fields}
    fields |= {"etag": page.context["etag"], "csrfmiddlewaretoken": token(page)}
    return {**fields, "summary": summary, "step": "save"}


def token(page) -> str:
    return re.findall(r'csrfmiddlewaretoken" value="(\w+)"', page.content.decode())[-1]


def hidden(page) -> dict[str, str]:
    found = re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page.content.decode())
    return {unescape(name): unescape(value) for name, value in found}


def test_a_form_that_comes_after_the_session_ended_is_sent_again_after_the_login(window):
    fields = typed(window)
    Session.objects.all().delete()
    kept = window.post("/episodes/one/edit/", fields)
    assert kept.status_code == 403
    assert unescape(kept.content.decode()).count(TEXT) == 2  # Kept, and shown to be copied.
    wrong = {**hidden(kept), "username": "curator", "password": "wrong"}
    again = window.post("/login/continue/", wrong)
    assert "Please enter a correct" in again.content.decode()
    right = {**hidden(again), "username": "curator", "password": PASSWORD}
    ready = window.post("/login/continue/", right)
    assert 'action="/episodes/one/edit/"' in ready.content.decode()
    assert Episode.objects.get().summary == "Fixed it"
    saved = window.post("/episodes/one/edit/", hidden(ready))
    assert saved.status_code == 302
    assert Episode.objects.get().summary == TEXT.replace("\r\n", "\n")


def test_a_form_from_before_a_new_login_is_sent_again_with_one_click(window, curator):
    fields = typed(window)
    window.cookies.pop("csrftoken")
    window.get("/settings/account/")
    kept = window.post("/episodes/one/edit/", fields)
    assert kept.status_code == 403
    assert window.post("/episodes/one/edit/", hidden(kept)).status_code == 302
    assert Episode.objects.get().summary == TEXT.replace("\r\n", "\n")


@pytest.mark.parametrize("origin", [None, "https://evil.example", "null"])
def test_what_a_foreign_page_sends_is_not_offered_to_be_sent(window, origin):
    headers = {} if origin is None else {"Origin": origin}
    client = Client(enforce_csrf_checks=True, headers=headers)
    client.cookies = window.cookies
    answer = client.post("/episodes/one/edit/", {"summary": "Evil words of a foreign page"})
    assert answer.status_code == 403
    assert "Evil words" not in answer.content.decode()


@pytest.mark.parametrize(
    "address", ["https://evil.example/", "//evil.example/", "/\\evil.example", "/nowhere/", "x", ""]
)
def test_the_page_leads_nowhere_else(client, curator, address):
    form = {"kept-for": address, "kept:summary": "Words", "username": "curator"}
    answer = client.post("/login/continue/", {**form, "password": PASSWORD})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/")


def test_a_password_is_never_put_into_a_page(window):
    Session.objects.all().delete()
    page = window.get("/login/")
    form = {"old_password": "my old secret", "csrfmiddlewaretoken": token(page)}
    answer = window.post("/settings/account/", form)
    assert answer.status_code == 302
    answer = window.post("/login/", {"username": "curator", "password": "my secret words"})
    assert answer.status_code == 403
    assert b"my secret words" not in answer.content


def test_a_part_that_is_asked_for_says_so_and_replaces_nothing(window):
    fields = typed(window)
    Session.objects.all().delete()
    answer = window.post("/episodes/one/edit/", fields, headers={"HX-Request": "true"})
    assert answer.status_code == 403
    assert "data-refusal" in answer.content.decode()
    assert "You were signed out" in answer.content.decode()


def test_a_page_that_is_only_read_still_leads_to_the_login(client):
    answer = client.get("/episodes/")
    assert answer.headers["Location"] == "/login/?next=/episodes/"
    assert client.get("/login/continue/").headers["Location"] == "/login/"

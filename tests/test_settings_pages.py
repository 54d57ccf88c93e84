"""Tokens and people: what an administrator can do, and what everybody else cannot."""

import json
import re
import shlex

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from memoryweb import house
from memoryweb.core.models import ApiToken, User

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(signed_in, administrator) -> Client:
    return signed_in(administrator)


@pytest.mark.parametrize("role", ["viewer", "curator"])
@pytest.mark.parametrize("path", ["/settings/tokens/", "/settings/people/"])
def test_only_administrators_open_tokens_and_people(signed_in, person, role, path):
    refused = signed_in(person(role)).get(path)
    assert refused.status_code == 403
    assert "An administrator can give you another role." in refused.content.decode()


def test_a_token_is_shown_once_and_works_until_it_is_revoked(desk, client):
    answer = desk.post("/settings/tokens/", {"name": "laptop", "scope": "read"}, follow=True)
    assert answer.redirect_chain == [("/settings/tokens/", 302)]
    page = answer.content.decode()
    text = re.search(r"mw_[0-9a-f]{12}_[\w-]{43}", page)[0]
    assert text not in desk.get("/settings/tokens/").content.decode()
    headers = {"Authorization": f"Bearer {text}"}
    assert client.get("/api/v1/episodes", headers=headers).status_code == 200
    desk.post(f"/settings/tokens/{ApiToken.objects.get().key}/revoke/")
    assert client.get("/api/v1/episodes", headers=headers).status_code == 401


def test_the_page_with_a_new_token_is_kept_by_no_cache(desk):
    answer = desk.post("/settings/tokens/", {"name": "laptop", "scope": "read"}, follow=True)
    assert "no-store" in answer.headers["Cache-Control"]


def test_the_text_of_a_token_is_in_no_row_and_its_cookie_is_for_that_page_alone(desk):
    answer = desk.post("/settings/tokens/", {"name": "laptop", "scope": "read"})
    cookie = answer.cookies["made_token"]
    assert (cookie["path"], cookie["httponly"], cookie["samesite"]) == (
        "/settings/tokens/", True, "Strict",
    )  # fmt: skip
    secret = cookie.value.rpartition("_")[2]
    for session in Session.objects.all():
        assert secret not in str(session.get_decoded())
    shown = desk.get("/settings/tokens/")
    assert cookie.value in shown.content.decode()
    assert shown.cookies["made_token"].value == ""


def test_a_made_up_cookie_shows_no_token(desk):
    desk.cookies["made_token"] = "mw_" + "0" * 12 + "_" + "A" * 43
    assert "Copy it now" not in desk.get("/settings/tokens/").content.decode()


def test_a_token_name_that_nobody_can_read_is_said_at_its_field(desk):
    answer = desk.post("/settings/tokens/", {"name": "lap\u200btop", "scope": "read"})
    assert "name" in answer.context["form"].errors
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize(
    "name",
    [".", "..", "VIEWER", "Viewer", "a/b", "a b", "a\nb", "a\x00b", "no\u200bor", "no\u3164or"],
)
def test_a_name_that_cannot_be_told_from_another_or_addressed_is_refused(desk, viewer, name):
    before = User.objects.count()
    form = {"username": name, "password": "a long enough phrase", "role": "viewer"}
    answer = desk.post("/settings/people/", form)
    assert answer.context["form"].errors["username"]
    assert User.objects.count() == before


@pytest.mark.parametrize("agent", ["", "otter", 'it\'s "me" $(date)', "助手"])
def test_the_line_to_paste_writes_as_the_tokens_agent(desk, client, agent):
    body = {"name": "laptop", "scope": "write", "agent_id": agent}
    answer = desk.post("/settings/tokens/", body, follow=True)
    words = shlex.split(answer.context["store_example"].replace("\\\n", ""))
    sent = words[words.index("-d") + 1]
    header = words[words.index("-H") + 1].partition(": ")[2]
    stored = client.post(
        "/api/v1/episodes", sent, "application/json", headers={"Authorization": header}
    )
    assert stored.status_code == 201
    assert stored.json()["agent_id"] == (agent or "my-agent")


def test_the_lines_for_agents_hold_the_new_token_and_later_only_its_variable(desk):
    body = {"name": "laptop", "scope": "read"}
    answer = desk.post("/settings/tokens/", body, follow=True)
    made = answer.context["made"]
    by_title = {way.title: way.text for way in answer.context["ways"]}
    assert by_title.keys() == {"Claude Code", "Cursor", "VS Code", "Any other MCP client", "curl"}
    assert all(made in text for text in by_title.values())
    assert all("http://testserver/mcp" in text for text in by_title.values())
    later = {way.title: way.text for way in desk.get("/settings/tokens/").context["ways"]}
    assert not any(made in text for text in later.values())
    for title in ("Cursor", "VS Code"):
        assert "Bearer ${env:MEMORYWEB_TOKEN}" in later[title]


def test_the_lines_for_agents_work_as_they_are_pasted(desk, client):
    body = {"name": "laptop", "scope": "read"}
    answer = desk.post("/settings/tokens/", body, follow=True)
    by_title = {way.title: way.text for way in answer.context["ways"]}
    words = shlex.split(by_title["curl"].replace("\\\n", ""))
    header = words[words.index("-H") + 1].partition(": ")[2]
    files = [json.loads(by_title[title]) for title in ("Cursor", "VS Code")]
    servers = [files[0]["mcpServers"]["memoryweb"], files[1]["servers"]["memoryweb"]]
    assert servers[1]["type"] == "http"
    for server in (*servers, json.loads(by_title["Any other MCP client"])):
        assert server["headers"] == {"Authorization": header}
        assert server["url"] == words[2] == "http://testserver/mcp"
    sent = words[words.index("-d") + 1]
    listed = client.post("/mcp", sent, "application/json", headers={"Authorization": header})
    assert "memory_search" in listed.content.decode()
    line = shlex.split(by_title["Claude Code"].replace("\\\n", ""))
    assert line[:6] == ["claude", "mcp", "add", "--transport", "http", "memoryweb"]
    assert line[6:] == ["http://testserver/mcp", "--header", f"Authorization: {header}"]


def test_a_new_person_can_sign_in_with_the_role_given(desk):
    form = {"username": "noor", "password": "a long enough phrase", "role": "curator"}
    desk.post("/settings/people/", form)
    assert User.objects.get(username="noor").role == "curator"
    answer = Client().post("/login/", {"username": "noor", "password": form["password"]})
    assert answer.status_code == 302


def test_what_is_wrong_with_a_new_person_is_said_at_its_field(desk, viewer):
    form = {"username": "viewer", "password": "a long enough phrase", "role": "viewer"}
    taken = desk.post("/settings/people/", form)
    assert taken.context["form"].errors["username"] == ["this name is taken"]
    weak = desk.post("/settings/people/", {**form, "username": "noor", "password": "12345"})
    assert "password" in weak.context["form"].errors
    assert not User.objects.filter(username="noor").exists()


def test_the_last_administrator_stays(desk, administrator):
    answer = desk.post("/settings/people/administrator/", {"role": "viewer"}, follow=True)
    assert "last administrator" in answer.content.decode()
    administrator.refresh_from_db()
    assert (administrator.role, administrator.is_active) == ("administrator", True)


def test_a_closed_account_is_out_at_its_next_request(desk, viewer, signed_in):
    theirs = signed_in(viewer)
    assert theirs.get("/episodes/").status_code == 200
    desk.post("/settings/people/viewer/", {"role": "viewer"})
    assert theirs.get("/episodes/").status_code == 302
    assert theirs.get("/api/v1/episodes").status_code == 401


def test_a_one_time_link_with_a_taken_name_keeps_its_form(client, viewer):
    path = house.setup_path()
    form = {"username": "viewer", "password": "a long enough phrase"}
    answer = client.post(path, form)
    assert answer.context["form"].errors["username"] == ["this name is taken"]
    assert client.post(path, {**form, "username": "ada"}).status_code == 302


def test_a_used_link_says_so(client):
    path = house.setup_path()
    client.post(path, {"username": "ada", "password": "a long enough phrase"})
    again = Client().get(path)
    assert again.status_code == 404
    assert "used already" in again.content.decode()

"""The pages of episodes, as a curator, a viewer and a stranger meet them."""

import html
import re
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from episodes import store
from episodes.models import DeletedEpisode, Episode
from memoryweb.core.actor import system
from tests.episodes.builders import ATTACK, sent

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser(signed_in, curator) -> Client:
    return signed_in(curator)


@pytest.fixture
def onlooker(signed_in, viewer) -> Client:
    return signed_in(viewer)


def text(response: Any) -> str:
    return html.unescape(response.content.decode())


def form_of(page: str) -> dict[str, Any]:
    """The values of the edit form as a browser would send them back."""
    values: dict[str, Any] = {}
    for name, value in re.findall(r'<input[^>]*name="(\w+)"[^>]*value="([^"]*)"', page):
        values[name] = html.unescape(value)
    for name, value in re.findall(
        r'<textarea[^>]*name="(\w+)"[^>]*>\n?(.*?)</textarea>', page, re.S
    ):
        values[name] = html.unescape(value).replace("\r\n", "\n").replace("\n", "\r\n")
    for name, inside in re.findall(r'<select[^>]*name="(\w+)"[^>]*>(.*?)</select>', page, re.S):
        values[name] = re.findall(r'value="(\w+)" selected', inside)[0]
    return values


def edit_form(browser: Client, id: str = "one") -> dict[str, Any]:
    return form_of(browser.get(f"/episodes/{id}/edit/").content.decode())


def save(browser: Client, values: dict[str, Any], id: str = "one") -> Any:
    """Send the form and confirm what it changes."""
    asked = browser.post(f"/episodes/{id}/edit/", values)
    assert asked.status_code == 200
    confirmed = form_of(asked.content.decode()) | {"step": "save"}
    return browser.post(f"/episodes/{id}/edit/", confirmed)


def test_a_short_summary_of_several_lines_is_shown_whole_under_its_heading(browser, remember):
    remember(id="lines", summary="Fixed it\nby sorting the locks")
    remember(id="line", summary="Fixed it\n")
    assert "<p>Fixed it<br>by sorting the locks</p>" in text(browser.get("/episodes/lines/"))
    assert "<h2>Summary</h2>" not in text(browser.get("/episodes/line/"))


def test_an_empty_list_says_what_will_appear_and_how(browser):
    page = text(browser.get("/episodes/"))
    assert "No episodes yet" in page
    assert "import_episodes" in page


def test_the_list_shows_what_happened_where_and_how_it_stands(browser, remember):
    remember(vector=[1.0], outcome="blocked")
    remember("two", summary=ATTACK)
    remember("blank", summary=" ")
    page = text(browser.get("/episodes/"))
    for shown in ("Sorted the locks", "/srv/shop", "otter", "blocked", "in quarantine", "blank"):
        assert shown in page
    assert "3 episodes" in page


def test_filters_are_in_the_address_and_each_can_be_taken_off(browser, remember):
    remember("one", outcome="failure")
    remember("two")
    page = text(browser.get("/episodes/?outcome=failure&q=locks&vector=missing"))
    assert page.count("data-item") == 1
    off = re.findall(r'class="chip chip-on" href="\?([^"]*)"', page)
    assert [set(parse_qs(query)) for query in off] == [
        {"outcome", "vector"},
        {"q", "vector"},
        {"outcome", "q"},
    ]


def test_days_are_those_of_the_configured_zone_and_both_are_included(browser, remember):
    remember("before", created_at="2026-03-01T15:59:59Z")  # 23:59:59 in Shanghai
    remember("within", created_at="2026-03-01T16:00:00Z")
    remember("last", created_at="2026-03-02T15:59:59.999999Z")
    remember("after", created_at="2026-03-02T16:00:00Z")
    page = text(browser.get("/episodes/?since=2026-03-02&until=2026-03-02"))
    assert set(re.findall(r'name="id" value="(\w+)"', page)) == {"within", "last"}


@pytest.mark.parametrize(
    "query", ["since=yesterday", "outcome=done", "vector=x", f"q={'x' * 1001}"]
)
def test_a_filter_with_a_mistake_lists_nothing_and_says_so(browser, remember, query: str):
    remember()
    page = text(browser.get(f"/episodes/?{query}"))
    assert "This filter has a mistake" in page
    assert "data-item" not in page


def test_filters_that_fit_nothing_offer_the_way_back(browser, remember):
    remember()
    assert "No episode fits these filters" in text(browser.get("/episodes/?q=nothing"))


def test_directories_are_offered_with_their_counts(browser, remember):
    remember("one", working_dir="/srv/shop/web")
    remember("two", working_dir="/srv/shop")
    page = browser.get("/episodes/").content.decode()
    assert 'href="/episodes/?working_dir_prefix=%2Fsrv%2Fshop%2Fweb"' in page
    chosen = text(browser.get("/episodes/?working_dir_prefix=/srv/shop/web"))
    assert 'aria-current="true">web</a>' in chosen
    assert chosen.count("data-item") == 1


def test_the_pages_of_the_list_lead_on_and_back(browser):
    list(store.store_many(system(), (store.parse(sent(id=f"{n:03}")) for n in range(120))))
    seen: list[str] = []
    address = "/episodes/?order=created_at"
    for _ in range(3):
        page = text(browser.get(address))
        seen += re.findall(r'name="id" value="(\w+)"', page)
        following = re.search(r'rel="next" href="([^"]*)"', page)
        address = f"/episodes/{following[1]}" if following else ""
    assert len(seen) == len(set(seen)) == 120
    assert address == ""
    [back] = re.findall(r'rel="prev" href="([^"]*)"', page)
    before = text(browser.get(f"/episodes/{back}"))
    assert re.findall(r'name="id" value="(\w+)"', before) == seen[50:100]


def test_htmx_gets_the_part_and_a_person_the_page(browser, remember):
    remember()
    part = browser.get("/episodes/?q=locks", headers={"HX-Request": "true"})
    assert "<html" not in text(part)
    assert "data-item" in text(part)
    assert "HX-Request" in part.headers["Vary"]
    boosted = {"HX-Request": "true", "HX-Boosted": "true"}
    assert "<html" in text(browser.get("/episodes/", headers=boosted))


@pytest.mark.parametrize(
    "path", ["/episodes/?q=locks&vector=missing&since=2026-01-01", "/episodes/one/"]
)
def test_each_page_has_its_twin_in_json(browser, remember, path: str):
    remember()
    [twin] = re.findall(r'<a href="([^"]*)">as JSON</a>', text(browser.get(path)))
    answer = browser.get(twin)
    assert answer.status_code == 200
    body = answer.json()
    assert [item["id"] for item in body.get("items", [body])] == ["one"]


ADDRESSES = [
    "/episodes/",
    "/episodes/?q=locks&vector=missing&working_dir_prefix=/srv&order=-updated_at",
    "/episodes/7/",
    "/episodes/7/edit/",
    "/episodes/7/delete/",
]


def test_each_page_asks_the_same_number_of_times_and_stays_as_small_at_ten_thousand_rows(browser):
    def stored(*numbers: int) -> None:
        rows = (
            store.parse(sent(id=f"{n}", working_dir=f"/srv/{n}", agent_id=f"agent {n}"))
            for n in numbers
        )
        list(store.store_many(system(), rows))

    def asked(address: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            assert browser.get(address).status_code == 200
        return len(captured)

    stored(*range(10))
    few = [asked(address) for address in ADDRESSES]
    stored(*range(10, 10_000))
    assert [asked(address) for address in ADDRESSES] == few
    page = text(browser.get("/episodes/"))
    assert page.count('class="tree-row"') == 300
    assert "And 9,701 more with fewer episodes" in page
    assert page.count('<option value="agent ') == 200


def test_directories_inside_each_other_to_the_end_of_the_longest_path_are_drawn(browser):
    rows = (sent(id=f"{n}", working_dir="/" + "/".join("d" * n)) for n in range(1, 200))
    list(store.store_many(system(), map(store.parse, rows)))
    assert text(browser.get("/episodes/")).count('class="tree-row"') == 31


def test_an_episode_shows_everything_that_is_known_of_it(browser, remember):
    remember(
        vector=[1.0, 2.0],
        schema_version=3,
        task_id="task-9",
        key_decisions=["Count in the database"],
        files_modified=["orders/worker.py"],
        branch="main",
        body="first line\nsecond line",
    )
    page = text(browser.get("/episodes/one/"))
    for shown in (
        "Sorted the locks", "Count in the database", "orders/worker.py", "task-9", "branch", "main",
        "second line", "version 3", "2 wide", '"state": "current"',
    ):  # fmt: skip
        assert shown in page


def test_what_agents_wrote_is_text_and_never_markup(browser, remember):
    evil = "<img src=x onerror=alert(1)>"
    remember(
        "<b>id</b>", summary=evil, working_dir=evil, agent_id=evil, task_id=evil,
        key_decisions=[evil], files_modified=[evil], **{evil: evil},
    )  # fmt: skip
    for path in ("/episodes/", Episode.objects.get().get_absolute_url()):
        page = browser.get(path).content.decode()
        assert "<img src=x" not in page
        assert "&lt;img src=x" in page


def test_a_quarantined_episode_says_why(browser, remember):
    remember(summary=ATTACK)
    page = text(browser.get("/episodes/one/"))
    assert "In quarantine." in page
    assert "instruction-override" in page


def test_why_a_vector_was_refused_is_told(browser, api, remember):
    remember()
    api("write").put("/episodes/one/embedding", {"embedding": [0, 0]})
    assert "Refused 1 time: zero" in text(browser.get("/episodes/one/"))


def test_what_is_not_there_is_not_found(browser):
    assert browser.get("/episodes/none/").status_code == 404
    assert browser.get("/episodes/none/edit/").status_code == 404
    assert browser.get("/episodes/none/delete/").status_code == 404


def test_a_form_that_is_sent_back_as_it_came_changes_nothing(browser, remember):
    before = remember(
        summary="line\r\nline\n\n", key_decisions=["one\ntwo", "three"], note={"a": [1, 2.50]}
    )
    answer = browser.post("/episodes/one/edit/", edit_form(browser))
    assert answer.status_code == 302
    assert vars(Episode.objects.get()) | {"_state": 0} == vars(before) | {"_state": 0}


def test_an_edit_saves_what_was_changed(browser, remember):
    remember(key_decisions=["one\ntwo"], branch="main")
    form = edit_form(browser) | {
        "summary": "Line one\r\nLine two",
        "outcome": "failure",
        "files_modified": "a.py\r\n\r\n b.py\r\n",
        "extra": '{"branch": "other"}',
    }
    answer = save(browser, form)
    assert answer.headers["Location"] == "/episodes/one/"
    edited = Episode.objects.get()
    assert (edited.summary, edited.outcome) == ("Line one\nLine two", "failure")
    assert (edited.files_modified, edited.extra) == (["a.py", " b.py"], {"branch": "other"})
    assert edited.key_decisions == ["one\ntwo"]


def test_what_an_edit_replaces_is_shown_before_it_is_saved(browser, remember):
    remember()
    form = edit_form(browser) | {"summary": "\r\nA new summary", "outcome": "failure"}
    asked = browser.post("/episodes/one/edit/", form)
    for shown in (sent()["summary"], "A new summary", "success", "failure"):
        assert shown in text(asked)
    assert "Files modified" not in text(asked)
    assert Episode.objects.get().summary == sent()["summary"]
    back = browser.post("/episodes/one/edit/", form_of(asked.content.decode()) | {"step": "edit"})
    assert form_of(back.content.decode())["summary"] == "\r\nA new summary"
    assert Episode.objects.get().summary == sent()["summary"]


def test_an_edit_that_is_overtaken_while_it_is_confirmed_is_stale(browser, remember):
    remember()
    asked = browser.post("/episodes/one/edit/", edit_form(browser) | {"summary": "Mine"})
    save(browser, edit_form(browser) | {"summary": "Theirs"})
    confirmed = form_of(asked.content.decode()) | {"step": "save"}
    assert browser.post("/episodes/one/edit/", confirmed).status_code == 409
    assert Episode.objects.get().summary == "Theirs"


def test_a_person_blanks_no_summary_but_one_that_was_blank_may_stay(browser, remember):
    remember()
    remember("blank", summary=" ")
    refused = browser.post("/episodes/one/edit/", edit_form(browser) | {"summary": " \r\n"})
    assert refused.status_code == 422
    assert "A blank summary is found by no search" in text(refused)
    save(browser, edit_form(browser, "blank") | {"outcome": "failure"}, "blank")
    stored = Episode.objects.in_bulk()
    assert stored["one"].summary == sent()["summary"]
    assert (stored["blank"].summary, stored["blank"].outcome) == (" ", "failure")


def test_a_stale_save_keeps_the_text_shows_what_is_stored_and_can_be_repeated(browser, remember):
    remember()
    form = edit_form(browser) | {"summary": "My version"}
    save(browser, edit_form(browser) | {"summary": "Their version"})
    stale = browser.post("/episodes/one/edit/", form)
    assert stale.status_code == 409
    assert "My version" in text(stale)
    assert "Their version" in text(stale)
    assert Episode.objects.get().summary == "Their version"
    save(browser, form_of(stale.content.decode()))
    assert Episode.objects.get().summary == "My version"


def test_a_person_is_told_what_the_guard_objects_to_and_nothing_is_saved(browser, remember):
    remember()
    answer = save(browser, edit_form(browser) | {"summary": ATTACK})
    assert answer.status_code == 422
    assert "The guard objects to this text" in text(answer)
    assert ATTACK in text(answer)
    assert Episode.objects.get().summary == sent()["summary"]


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("extra", "{broken", "This is not JSON."),
        ("extra", "[1]", "must be a JSON object"),
        ("extra", '{"a": ' + "[" * 40 + "]" * 40 + "}", "nests deeper"),
        ("summary", "é" * 40_000, "at most 65,536"),
        ("agent_id", "", "This field is required."),
        ("outcome", "done", "Select a valid choice"),
        ("summary", "a\0b", "Null characters are not allowed."),
    ],
    ids=lambda value: value[:12],
)
def test_a_mistake_is_told_beside_its_field(browser, remember, field: str, value: str, told: str):
    remember()
    answer = browser.post("/episodes/one/edit/", edit_form(browser) | {field: value})
    assert answer.status_code == 422
    assert told in text(answer)


def test_deleting_asks_first_then_deletes_and_offers_an_undo(browser, remember):
    for id in ("one", "two", "three"):
        remember(id, vector=[1.0])
    ticked = {"id": ["one", "two"], "back": "q=locks"}
    asked = browser.post("/episodes/delete/", ticked)
    assert "Delete 2 episodes?" in text(asked)
    assert Episode.objects.count() == 3
    done = browser.post("/episodes/delete/", ticked | {"confirm": "1"}, follow=True)
    assert "Deleted 2 episodes and 2 vectors" in text(done)
    assert done.redirect_chain[0][0] == "/episodes/?q=locks"
    assert set(Episode.objects.values_list("pk", flat=True)) == {"three"}
    [undo] = re.findall(r'action="(/episodes/undo/[^"]*)"', text(done))
    back = browser.post(undo, follow=True)
    assert "2 episodes restored." in text(back)
    assert Episode.objects.count() == 3


def test_whoever_may_write_sees_what_was_deleted_lately_and_brings_it_back(
    browser, onlooker, signed_in, administrator, curator, remember
):
    for id in ("one", "two", "three"):
        remember(id)
    browser.post("/episodes/delete/", {"id": ["one", "two"], "confirm": "1"})
    browser.post("/episodes/delete/", {"id": "three", "confirm": "1"})
    colleague = signed_in(administrator)
    page = text(colleague.get("/episodes/"))
    lately = re.sub(r"<[^>]*>", "", page[page.index("Deleted lately") :])
    assert re.search(r"\b1 episode, .*\b2 episodes, ", lately, re.DOTALL)
    assert f"by {curator.username}" in lately
    assert "Deleted lately" not in text(onlooker.get("/episodes/"))
    for undo in re.findall(r'action="(/episodes/undo/[^"]*)"', page):
        colleague.post(undo)
    assert Episode.objects.count() == 3
    assert "Deleted lately" not in text(colleague.get("/episodes/"))


def test_an_edit_of_an_episode_that_was_deleted_meanwhile_keeps_what_was_typed(browser, remember):
    remember("one")
    browser.post("/episodes/delete/", {"id": "one", "confirm": "1"})
    typed = {"summary": "Fixed <the> deadlock in the worker", "etag": "x" * 64, "step": "save"}
    answer = browser.post("/episodes/one/edit/", typed)
    assert answer.status_code == 404
    assert "What you sent was not saved." in text(answer)
    assert "Summary, as you sent it" in text(answer)
    assert "Fixed &lt;the&gt; deadlock in the worker</textarea>" in answer.content.decode()
    assert "x" * 64 not in text(answer)


def test_the_address_of_a_deleted_episode_offers_to_bring_it_back(browser, onlooker, remember):
    remember()
    browser.post("/episodes/delete/", {"id": "one", "confirm": "1"})
    gone = browser.get("/episodes/one/")
    assert gone.status_code == 404
    assert "This episode was deleted" in text(gone)
    unseen = onlooker.get("/episodes/one/")
    assert unseen.status_code == 404
    assert "/episodes/undo/" not in text(unseen)
    [undo] = re.findall(r'action="(/episodes/undo/[^"]*)"', text(gone))
    assert browser.post(undo).headers["Location"] == "/episodes/one/"
    assert browser.get("/episodes/one/").status_code == 200


def test_nothing_is_offered_once_the_time_is_over(browser, remember, settings):
    remember()
    browser.post("/episodes/delete/", {"id": "one", "confirm": "1"})
    settings.MEMORYWEB_TRASH_MINUTES = 0
    assert "Deleted lately" not in text(browser.get("/episodes/"))
    assert "was deleted" not in text(browser.get("/episodes/one/"))


def test_an_undo_after_the_id_was_used_again_is_a_conflict(browser, remember):
    remember()
    browser.post("/episodes/delete/", {"id": "one", "confirm": "1"})
    remember(summary="Another")
    batch = DeletedEpisode.objects.get().batch
    assert browser.post(f"/episodes/undo/{batch}/").status_code == 409
    assert Episode.objects.get().summary == "Another"


def test_a_deletion_of_nothing_says_so(browser, remember):
    remember()
    assert "No episode was selected" in text(browser.post("/episodes/delete/", {}))
    assert "No episode was selected" in text(browser.post("/episodes/delete/", {"id": "none"}))


def test_the_way_back_never_leads_out_of_the_list(browser, remember):
    remember()
    evil = {"id": "one", "confirm": "1", "back": "https://evil.example/?x=1"}
    target = browser.post("/episodes/delete/", evil).headers["Location"]
    assert urlparse(target).netloc == ""
    assert target.startswith("/episodes/?")


def test_a_viewer_sees_everything_and_no_button_that_writes(onlooker, remember):
    remember()
    for path in ("/episodes/", "/episodes/one/"):
        page = text(onlooker.get(path))
        assert "Sorted the locks" in page
        main = page[page.index("<main") :]
        assert "Delete" not in main
        assert "/edit/" not in main
        assert 'type="checkbox" name="id"' not in main


def test_a_viewer_writes_nothing(onlooker, remember):
    remember()
    form = {"id": "one", "confirm": "1"}
    assert onlooker.post("/episodes/delete/", form).status_code == 403
    assert onlooker.get("/episodes/one/delete/").status_code == 403
    assert onlooker.get("/episodes/one/edit/").status_code == 403
    assert onlooker.post("/episodes/one/edit/", {"summary": "x"}).status_code == 403
    assert onlooker.post("/episodes/undo/x/").status_code == 403
    assert Episode.objects.get().summary == sent()["summary"]


def test_a_form_from_elsewhere_is_refused(curator, remember):
    remember()
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(curator, "django.contrib.auth.backends.ModelBackend")
    assert browser.post("/episodes/delete/", {"id": "one", "confirm": "1"}).status_code == 403
    assert Episode.objects.exists()


def test_a_look_at_an_address_that_only_takes_forms_is_refused(browser):
    assert browser.get("/episodes/delete/").status_code == 405
    assert browser.get("/episodes/undo/x/").status_code == 405

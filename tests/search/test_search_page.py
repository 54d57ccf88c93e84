"""The search page by its address: one view, two templates, and nothing dropped in silence."""

import html
import json
import re
import shlex
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from django.test import Client

from bank import services as bank
from bank.models import Kind
from episodes import vectors
from memoryweb.core.actor import system
from memoryweb.core.vectors import encode_blob
from search import defaults, live
from search.defaults import Defaults
from search.engine import Answer, Weights
from search.live import View
from search.models import SuggestedQuery
from search.sources import title_of


@pytest.fixture
def shop(remember) -> None:
    """Three episodes: one the words find best, one the vector, one between."""
    remember("Deadlock, deadlock and deadlock in the worker", "words", [0.1, 1.0])
    remember(
        "A deadlock in the payment worker", "both", [0.8, 0.6],
        working_dir="/srv/pay/api", agent_id="heron", created_at="2026-03-01T12:00:00Z",
    )  # fmt: skip
    remember(
        "Two transactions waited for each other", "vector", [1.0, 0.0], outcome="failure",
        source="conversation",
    )  # fmt: skip
    blob = encode_blob(vectors.received([1.0, 0.0], None))
    SuggestedQuery.objects.create(text="deadlock", model="toy", dimension=2, vector=blob)


@pytest.fixture
def page(signed_in, viewer):
    client = signed_in(viewer)

    def get(part: bool = False, **query):
        headers = {"HX-Request": "true"} if part else {}
        return client.get(f"/search/?{urlencode(query, doseq=True)}", headers=headers)

    return get


def text_of(response) -> str:
    """The words of a page, its marks and tags aside."""
    bare = re.sub(r"<[^>]+>", " ", re.sub(r"</?mark>", "", response.content.decode()))
    return re.sub(r"\s+", " ", html.unescape(bare))


def found(response) -> list[str]:
    return [row.result.hit.id for row in response.context["rows"]]


# --- what is found and how it is shown ------------------------------------------------------------


def test_a_result_shows_what_it_is_where_and_how_it_came_to_its_place(page, shop):
    shown = text_of(page(q="deadlock"))
    assert "A deadlock in the payment worker" in shown
    for fact in ("success", "/srv/pay/api", "heron", "hybrid", "3 results", "cosine 0.8000"):
        assert fact in shown
    assert 'datetime="2026-03-01T20:00:00+08:00"' in page(q="deadlock").content.decode()


def test_each_result_links_to_its_document(page, shop):
    body = page(q="payment").content.decode()
    assert 'href="/episodes/both/"' in body


def test_the_words_of_the_query_are_marked(page, shop):
    assert "<mark>Deadlock</mark>, <mark>deadlock</mark>" in page(q="DEADLOCK").content.decode()


def test_text_of_an_agent_cannot_become_markup(page, remember):
    remember("<img src=x onerror=alert(1)> & <b>deadlock</b>", "bad", agent_id='"><script>')
    body = page(q="deadlock <script>").content.decode()
    assert "&lt;img src=x onerror=alert(1)&gt; &amp; &lt;b&gt;<mark>deadlock</mark>" in body
    assert "<img" not in body
    assert not re.search(r"<script(?! src)", body)


def test_both_legs_of_the_score_and_the_bar_are_shown(page, shop):
    response = page(q="deadlock")
    both = next(row for row in response.context["rows"] if row.result.hit.id == "both")
    assert both.vector + both.bm25 == round(100 * float(both.score))
    shown = text_of(response)
    assert "vector 0.80" in shown
    assert "vector 1.00 text –" in shown


def test_htmx_gets_the_part_and_everybody_else_the_page(page, shop):
    whole, part = page(q="deadlock"), page(q="deadlock", part=True)
    assert "<!doctype html>" in whole.content.decode()
    assert "<!doctype" not in part.content.decode()
    assert found(part) == found(whole)
    assert "HX-Request" in part.headers["Vary"]
    assert "HX-Request" in whole.headers["Vary"]


def test_the_part_names_the_shortest_address_of_the_same_search(page, shop):
    part = page(q="deadlock", vector="0.70", bm25="0.5", fusion="linear", limit="10", outcome="",
                min_score="0", part=True)  # fmt: skip
    assert part.headers["HX-Replace-Url"] == "/search/?bm25=0.5&q=deadlock"


def test_an_address_says_what_no_saved_setting_says(page, shop):
    asked = {
        "q": "deadlock", "vector": "0.123456789", "fusion": "rrf", "recency_half_life_days": "30",
        "limit": "5", "working_dir_prefix": "/srv", "since": "2020-01-01",
    }  # fmt: skip
    part = page(**asked, part=True)
    again = page(**dict(parse_qsl(urlsplit(part.headers["HX-Replace-Url"]).query)), part=True)
    assert again.headers["HX-Replace-Url"] == part.headers["HX-Replace-Url"]
    assert "vector=0.123456789" in part.headers["HX-Replace-Url"]
    assert found(again) == found(part)


def test_a_page_without_a_query_suggests_some(page, shop):
    response = page()
    assert response.status_code == 200
    assert 'href="?q=deadlock"' in response.content.decode()
    assert "rows" not in response.context


def test_a_suggested_query_brings_its_vector_and_another_says_that_it_has_none(page, shop):
    assert page(q="deadlock").context["found"].answer.mode == "hybrid"
    other = page(q="deadlocks worker")
    assert other.context["found"].answer.mode == "bm25"
    assert "Only words were compared." in text_of(other)
    assert "Suggested queries" in text_of(other)


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        ({"outcome": "failure"}, {"vector"}),
        ({"source": "conversation"}, {"vector"}),
        ({"agent_id": "heron"}, {"both"}),
        ({"working_dir": "/srv/shop"}, {"words", "vector"}),
        ({"working_dir_prefix": "/srv/pay"}, {"both"}),
        ({"since": "2026-03-02"}, {"words", "vector"}),
        ({"since": "2026-03-01", "until": "2026-03-01"}, {"both"}),
        ({"kind": ["episodes"]}, {"words", "both", "vector"}),
        ({"min_score": "0.85"}, {"words", "vector"}),
    ],
)
def test_a_filter_holds_for_all_that_is_found(page, shop, filters, ids):
    assert set(found(page(q="deadlock", **filters))) == ids


def test_pages_are_found_beside_episodes_and_can_be_asked_for_alone(page, remember, home):
    remember("A deadlock in the worker", "episode")
    bank.save(system(), Kind.ENTITY, "deadlocks", "# Deadlocks\n\nEvery deadlock so far.\n")
    response = page(q="deadlock")
    assert {row.kind for row in response.context["rows"]} == {"episode", "page"}
    response = page(q="deadlock", kind="pages")
    [row] = response.context["rows"]
    assert row.result.shown.title == "Deadlocks"
    assert "".join(part.text for part in row.text) == "Every deadlock so far."
    assert "no_vectors" not in response.context["found"].reasons
    assert 'href="/bank/deadlocks/"' in response.content.decode()


def test_each_filter_is_a_chip_that_takes_itself_off(page, shop):
    response = page(q="deadlock", outcome="success", agent_id="heron", limit="20")
    body = html.unescape(response.content.decode())
    assert 'href="/search/?q=deadlock&limit=20&agent_id=heron"' in body
    assert 'href="/search/?q=deadlock&limit=20&outcome=success"' in body
    assert 'href="/search/?q=deadlock&limit=20"' in body


def test_arrows_compare_with_the_ranking_by_the_saved_settings(page, shop):
    moved = {row.result.hit.id: row.move for row in page(q="deadlock", vector="0").context["rows"]}
    assert (moved["words"].to, moved["words"].places) == ("up", 2)
    assert (moved["both"].to, moved["both"].places) == ("down", 1)
    assert all(row.move is None for row in page(q="deadlock").context["rows"])


def test_a_result_the_saved_settings_do_not_show_is_new(page, shop):
    [row] = page(q="deadlock", vector="0", limit="1").context["rows"]
    assert (row.result.hit.id, row.move.to) == ("words", "new")


def test_fusion_auto_says_what_it_took_the_query_for(page, shop):
    shown = text_of(page(q="why was there a deadlock?", fusion="auto"))
    assert "The query was taken for a question" in shown
    assert "vector 0.70, text 0.30" in shown


def test_more_results_are_a_link_as_long_as_there_are_more(page, shop):
    assert page(q="deadlock", limit="1").context["more"] == "/search/?q=deadlock&limit=2"
    assert page(q="deadlock").context["more"] == ""


# --- the same through the API ---------------------------------------------------------------------


def test_the_command_asks_the_api_for_the_same(page, shop, api):
    asked = {
        "q": "deadlock worker's", "vector": "0.4", "fusion": "rrf", "since": "2026-01-01",
        "until": "2026-12-31", "recency_half_life_days": "90", "prefer_working_dir": "/srv/pay",
    }  # fmt: skip
    response = page(**asked)
    words = shlex.split(response.context["curl"].replace("\\\n", ""))
    body = json.loads(words[words.index("-d") + 1])
    assert words[2] == "http://testserver/api/v1/search"
    answer = api("read").post("/search", body).json()
    assert [result["id"] for result in answer["results"]] == found(response)
    scores = [row.result.hit.score for row in response.context["rows"]]
    assert [result["score"] for result in answer["results"]] == pytest.approx(scores, rel=1e-6)


# --- what cannot be asked for ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "field", "message"),
    [
        ({"vector": "abc"}, "vector", "Enter a number."),
        ({"vector": "nan"}, "vector", "Enter a number."),
        ({"bm25": "1e999"}, "bm25", "Enter a number."),
        ({"bm25": "-1"}, "bm25", "Ensure this value is greater than or equal to 0."),
        ({"vector": "0", "bm25": "0"}, "bm25", "Vector and BM25 must not both be 0."),
        ({"fusion": "magic"}, "fusion", "not one of the available choices"),
        ({"limit": "1000000"}, "limit", "Ensure this value is less than or equal to 200."),
        ({"limit": "1.5"}, "limit", "Enter a whole number."),
        ({"min_score": "x"}, "min_score", "Enter a number."),
        ({"since": "yesterday"}, "since", "Enter a date such as 2026-03-31."),
        ({"until": "9999-12-31"}, "until", "less than or equal to"),
        ({"since": "2026-03-02", "until": "2026-03-01"}, "until", "before the first day"),
        ({"outcome": "lost"}, "outcome", "not one of the available choices"),
        ({"kind": "memes"}, "kind", "not one of the available choices"),
        ({"q": "a\0b"}, "q", "Null characters are not allowed."),
        ({"q": "x" * 20_001}, "q", "at most 20000 characters"),
        ({"working_dir": "/" + "x" * 5000}, "working_dir", "at most 4096 characters"),
        ({"outcom": "failure"}, "__all__", "nothing called “outcom”"),
    ],
)
def test_what_makes_no_sense_is_named_at_its_field_and_nothing_is_searched(
    page, query, field, message
):
    for part in (False, True):
        response = page(**{"q": "deadlock", **query}, part=part)
        assert response.status_code == 422
        assert message in " ".join(response.context["form"].errors[field])
        assert message in text_of(response)
        assert "rows" not in response.context
        assert "HX-Replace-Url" not in response.headers


@pytest.mark.parametrize(
    "query",
    [
        {"vector": "1e-300", "bm25": "1e-300"},
        {"recency_half_life_days": "1e-300"},
        {"min_score": "1e308"},
        {"q": "deadlock " * 2000},
        {"q": "[" * 10_000},
        {"since": "1900-01-01", "until": "9000-01-01"},
        {"working_dir_prefix": "/"},
        {"prefer_working_dir": " "},
        {"agent_id": "鹭'\"<>&"},
    ],
)
def test_what_is_odd_but_has_a_meaning_is_searched_for(page, shop, query):
    response = page(**{"q": "deadlock", **query})
    assert response.status_code == 200
    assert "rows" in response.context


def test_the_rest_of_the_form_keeps_what_was_asked_for(page):
    body = page(q="deadlock", limit="1000000", agent_id="heron").content.decode()
    assert 'value="deadlock"' in body
    assert 'value="heron"' in body


# --- nothing found, and why -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ({"q": "xyzzy"}, "Nothing matched"),
        ({"q": "payment", "outcome": "failure"}, "Everything was filtered out"),
        ({"q": "payment", "min_score": "1.5"}, "Nothing reaches the floor"),
        ({"q": "!!!"}, "There is no word in this query."),
    ],
)
def test_nothing_found_says_what_left_nothing(page, shop, query, title):
    response = page(**query)
    assert response.status_code == 200
    assert title in text_of(response)
    assert found(response) == []


def test_an_empty_memory_says_that_there_is_nothing_to_search(page, transactional_db):
    assert "There is nothing to search yet" in text_of(page(q="deadlock"))


# --- degraded -------------------------------------------------------------------------------------


def test_an_index_that_is_not_there_is_said_and_documents_are_read_instead(page, shop, monkeypatch):
    def nothing(*_):
        return View(None, 7, 0, Defaults(), None, ("index_failed",))

    monkeypatch.setattr(live.LiveIndex, "view", nothing)
    response = page(q="deadlock worker")
    assert found(response) == ["words", "both"] or found(response) == ["both", "words"]
    shown = text_of(response)
    for words in ("scan", "The index could not be built.", "2 of 2 words", "See the index"):
        assert words in shown


def test_an_index_that_is_behind_is_said_with_how_far(page, shop, monkeypatch):
    view = live.LiveIndex.view

    def behind(self, *args):
        return replace(view(self, *args), lag=1234, reasons=("index_behind",))

    monkeypatch.setattr(live.LiveIndex, "view", behind)
    assert "1,234 changes behind" in text_of(page(q="deadlock"))


@pytest.mark.parametrize(
    "reason", ["wrong_width", "no_vectors", "unknown_model", "index_building", "something_new"]
)
def test_every_reason_has_a_banner(page, shop, monkeypatch, reason):
    answer = Answer("bm25", (reason,), (), 0, Weights())
    monkeypatch.setattr("search.services.ranked", lambda *_: answer)
    [notice] = page(q="deadlock").context["notices"]
    assert notice.reason == reason
    assert notice.title
    assert notice.text


# --- saving ---------------------------------------------------------------------------------------

RANKING = {"vector": "0", "bm25": "1", "fusion": "rrf", "recency_half_life_days": "30"}


def test_a_curator_saves_the_ranking_of_the_page(signed_in, curator, shop):
    client: Client = signed_in(curator)
    back = "/search/?q=deadlock&limit=20"
    response = client.post("/search/save/", {**RANKING, "back": back})
    assert response.status_code == 302
    assert response.headers["Location"] == back
    _, saved = defaults.current()
    assert (saved.vector, saved.bm25, saved.fusion) == (0, 1, "rrf")
    assert saved.recency_half_life_days == 30
    assert "Every search now ranks like this." in text_of(client.get(back))


def test_saving_leads_back_to_the_search_page_and_nowhere_else(signed_in, curator, shop):
    back = "https://evil.example/?q=x"
    response = signed_in(curator).post("/search/save/", {**RANKING, "back": back})
    assert response.headers["Location"] == "/search/?q=x"


def test_a_viewer_cannot_save_and_is_not_offered_to(signed_in, viewer, page, shop):
    assert "Save as default" not in text_of(page(q="deadlock", vector="0"))
    assert signed_in(viewer).post("/search/save/", RANKING).status_code == 403
    assert defaults.current()[0] == 0


@pytest.mark.parametrize("wrong", [{"vector": "abc"}, {"bm25": "0"}, {"fusion": ""}])
def test_settings_that_make_no_sense_are_not_saved(signed_in, curator, shop, wrong):
    assert signed_in(curator).post("/search/save/", {**RANKING, **wrong}).status_code == 422
    assert defaults.current()[0] == 0


# --- cost -----------------------------------------------------------------------------------------


def test_the_number_of_queries_does_not_grow_with_the_results(
    page, remember, django_assert_max_num_queries
):
    for n in range(40):
        remember(f"Deadlock number {n}", f"e{n}", working_dir=f"/srv/{n}", agent_id=f"a{n}")
    page(q="deadlock")
    with django_assert_max_num_queries(24):
        assert len(found(page(q="deadlock", limit="1", vector="0.1"))) == 1
    with django_assert_max_num_queries(24):
        assert len(found(page(q="deadlock", limit="40", vector="0.1"))) == 40


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Fixed it.", "Fixed it."),
        ("One line\nand another", "One line"),
        ("  \n Fixed it \n", "Fixed it"),
        ("A first sentence of it. " + "And more of it. " * 9, "A first sentence of it."),
        ("v1.2 of kelp.py is out " * 7, ("v1.2 of kelp.py is out " * 7).strip()),
        ("word " * 60, "word " * 23 + "word…"),
        ("部署之后必须立刻重建所有的索引。" * 20, "部署之后必须立刻重建所有的索引。"),
        ("x" * 500, "x" * 120 + "…"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_title_is_the_first_line_or_sentence_and_breaks_off_only_where_it_must(text, title):
    assert title_of(text) == title

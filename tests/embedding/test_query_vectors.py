"""Words get their vector from the provider quickly, or the search goes on without and says why."""

import threading
from typing import Any

import pytest

from episodes import store, vectors
from memoryweb.core.actor import system
from search.embedding import querying
from search.embedding.asking import Line
from search.embedding.problems import (
    Failed,
    RateLimited,
    Resting,
    TextRejected,
    TimedOut,
    WrongWidth,
)
from search.embedding.providers import OpenAICompatible
from search.embedding.querying import QueryVectors
from search.wording import NOTICES
from tests.embedding import double as doubles
from tests.embedding.double import vector_of
from tests.embedding.test_providers import OPERATOR


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def toy(double):
    return OpenAICompatible(Line(f"{double.url}/v1", OPERATOR), "toy")


def test_a_query_is_asked_for_once(double, toy):
    queries = QueryVectors()
    first = queries.vector(toy, "port", 8, 5)
    assert queries.vector(toy, "port", 8, 5) is first
    assert double.texts == ["port"]


def test_another_model_has_vectors_of_its_own(double, toy):
    queries = QueryVectors()
    queries.vector(toy, "port", 8, 5)
    queries.vector(toy.of("older"), "port", 8, 5)
    assert [body["model"] for body in double.asked] == ["toy", "older"]


def test_only_so_many_queries_are_remembered_the_last_ones(double, toy):
    queries = QueryVectors(size=2)
    for text in ["port", "ship", "port", "crane", "port", "ship"]:
        queries.vector(toy, text, 8, 5)
    assert double.texts == ["port", "ship", "crane", "ship"]


def test_a_vector_of_another_width_is_never_given(toy):
    with pytest.raises(WrongWidth, match="have 8 numbers, the stored ones 384"):
        QueryVectors().vector(toy, "port", 384, 5)


def test_a_provider_that_failed_rests_longer_each_time_and_comes_back_by_itself(double, toy):
    clock = Clock()
    queries = QueryVectors(clock=clock)
    double.behave = doubles.sends({}, 500)
    for pause in (1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0):
        with pytest.raises(Failed):
            queries.vector(toy, "port", 8, 5)
        clock.now += pause - 0.01
        with pytest.raises(Resting):
            queries.vector(toy, "port", 8, 5)
        clock.now += 0.02
    assert len(double.asked) == 7
    double.behave = lambda handler, body: False
    assert queries.vector(toy, "port", 8, 5).size == 8
    assert queries.vector(toy, "ship", 8, 5).size == 8


def test_a_provider_that_asked_to_be_left_alone_is(double, toy):
    clock = Clock()
    queries = QueryVectors(clock=clock)
    double.behave = doubles.sends({}, 429, Retry_After="20")
    with pytest.raises(RateLimited):
        queries.vector(toy, "port", 8, 5)
    clock.now = 19.9
    with pytest.raises(Resting):
        queries.vector(toy, "port", 8, 5)
    clock.now = 20.1
    double.behave = lambda handler, body: False
    assert queries.vector(toy, "port", 8, 5).size == 8


def test_while_one_search_tries_again_no_other_waits(double, toy):
    clock = Clock()
    queries = QueryVectors(clock=clock)
    double.behave = doubles.sends({}, 500)
    with pytest.raises(Failed):
        queries.vector(toy, "port", 8, 5)
    clock.now = 10
    asked = threading.Event()

    def waits(handler, body):
        asked.set()
        handler.server.stopping.wait(30)
        return True

    double.behave = waits

    def search() -> None:
        with pytest.raises(TimedOut):
            queries.vector(toy, "port", 8, 2)

    one = threading.Thread(target=search)
    one.start()
    assert asked.wait(5)
    with pytest.raises(Resting):
        queries.vector(toy, "ship", 8, 5)
    one.join()


def test_a_text_that_is_not_taken_does_not_close_the_provider_to_others(double, toy):
    queries = QueryVectors()
    double.behave = doubles.sends({}, 400)
    with pytest.raises(TextRejected):
        queries.vector(toy, "port " * 10_000, 8, 5)
    double.behave = lambda handler, body: False
    assert queries.vector(toy, "port", 8, 5).size == 8


@pytest.fixture
def harbor(transactional_db):
    """Two episodes with vectors of the double's model `toy`, one without."""
    for name, text in {
        "quay": "the crane at the quay",
        "bread": "bake bread",
        "bare": "crane",
    }.items():
        row = {"id": name, "agent_id": "otter", "working_dir": "/srv", "outcome": "success"}
        store.store(system(), store.parse({**row, "summary": text}))
        if name != "bare":
            vectors.set_vector(system(), vectors.Sent(name, vector_of(text), None, "toy"))


def searched(api, **body):
    answer = api("read").post("/search", {"query": "quay crane", **body})
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_words_are_searched_by_meaning_too_when_a_provider_is_configured(api, harbor, provider):
    answer = searched(api)
    assert (answer["mode"], answer["reasons"]) == ("hybrid", [])
    best = answer["results"][0]
    assert best["id"] == "quay"
    assert best["vector"] is not None
    assert provider.texts == ["quay crane"]


def test_the_query_is_of_the_active_model_though_another_is_configured(
    api, harbor, provider, settings
):
    settings.MEMORYWEB_EMBEDDING_MODEL = "newer"
    assert searched(api)["mode"] == "hybrid"
    assert provider.asked[-1]["model"] == "toy"
    provider.behave = doubles.changes(lambda good: {**good, "model": "newer"})
    answer = searched(api, query="another crane")
    assert (answer["mode"], answer["reasons"]) == ("bm25", ["provider_other_model"])


def test_a_provider_without_the_active_model_is_said_to_lack_it_while_it_rests_too(
    api, harbor, provider, settings
):
    provider.behave = doubles.sends({}, 404)
    settings.MEMORYWEB_EMBEDDING_MODEL = "newer"
    assert searched(api)["reasons"] == ["provider_other_model"]
    assert searched(api)["reasons"] == ["provider_other_model"]
    settings.MEMORYWEB_EMBEDDING_MODEL = "toy"
    assert searched(api)["reasons"] == ["provider_resting"]


def test_a_key_that_is_not_taken_is_said_whatever_model_is_configured(
    api, harbor, provider, settings
):
    provider.behave = doubles.sends({}, 401)
    settings.MEMORYWEB_EMBEDDING_MODEL = "newer"
    assert searched(api)["reasons"] == ["provider_rejected"]


def test_a_provider_of_another_width_that_is_set_to_another_model_lacks_the_active_one(
    api, harbor, provider, settings
):
    settings.MEMORYWEB_EMBEDDING_MODEL = "newer"
    provider.width = 16
    assert searched(api)["reasons"] == ["provider_other_model"]


@pytest.mark.parametrize(
    ("behave", "reason"),
    [
        (doubles.sends({}, 500), "provider_failed"),
        (doubles.sends({}, 429, Retry_After="9"), "provider_rate_limited"),
        (doubles.sends({}, 401), "provider_rejected"),
        (doubles.sends(b"<html>"), "provider_bad_answer"),
        (doubles.changes(lambda good: {"data": []}), "provider_bad_answer"),
        (doubles.is_silent, "provider_timeout"),
        (doubles.drips_body, "provider_timeout"),
        (doubles.hangs_up, "provider_unreachable"),
    ],
)
def test_whatever_the_provider_does_the_text_answers_with_the_reason(
    api, harbor, provider, settings, behave, reason
):
    settings.MEMORYWEB_EMBEDDING_TIMEOUT = 0.3
    provider.behave = behave
    answer = searched(api)
    assert (answer["mode"], answer["reasons"]) == ("bm25", [reason])
    assert answer["results"][0]["id"] in ("quay", "bare")
    assert searched(api)["reasons"] == ["provider_resting"]


def test_vectors_of_another_width_are_never_compared(api, harbor, provider):
    provider.width = 16
    answer = searched(api)
    assert (answer["mode"], answer["reasons"]) == ("bm25", ["provider_wrong_width"])


def test_an_unknown_model_is_said_and_the_provider_is_not_asked(api, harbor, provider):
    answer = searched(api, embedding_model="nobody's")
    assert (answer["mode"], answer["reasons"]) == ("bm25", ["unknown_model"])
    assert provider.asked == []


def test_a_vector_that_was_sent_is_used_and_the_provider_is_not_asked(api, harbor, provider):
    assert searched(api, query_embedding=vector_of("bread"))["mode"] == "hybrid"
    assert provider.asked == []


def test_a_search_without_weight_on_vectors_does_not_ask_the_provider(api, harbor, provider):
    searched(api, weights={"vector": 0, "bm25": 1})
    assert provider.asked == []


def test_before_the_first_vector_there_is_nothing_to_ask_for(api, transactional_db, provider):
    assert "no_vectors" in searched(api)["reasons"]
    assert provider.asked == []


def test_without_a_provider_nothing_changes(api, harbor, settings):
    assert searched(api)["reasons"] == ["no_query_vector"]


def test_the_page_shows_a_banner_with_the_way_to_mend_it_to_whoever_may(
    signed_in, viewer, administrator, harbor, provider, settings
):
    provider.behave = doubles.sends({}, 500)
    page = signed_in(viewer).get("/search/?q=quay+crane").content.decode()
    assert NOTICES["provider_failed"].text in page
    assert "/settings/provider/" not in page
    page = signed_in(administrator).get("/search/?q=quay+crane").content.decode()
    assert NOTICES["provider_resting"].text in page
    assert "/settings/provider/" in page


def test_code_is_searched_by_words_with_a_provider(api, transactional_db, provider):
    for name in ("quay", "bread"):
        symbol = {"symbol_name": name, "embedding": vector_of(name), "embedding_model": "toy"}
        assert api("write").post("/vectors/shop", symbol).status_code == 200
    answer = api("read").post("/vectors/shop/search", {"query_text": "quay"})
    assert answer.status_code == 200, answer.content
    first = answer.json()["symbols"][0]
    assert (first["name"], round(first["similarity_score"], 5)) == ("quay", 1.0)
    provider.behave = doubles.sends({}, 500)
    refused = api("read").post("/vectors/shop/search", {"query_text": "another"})
    assert refused.status_code == 503
    assert "the provider failed (500)" in refused.json()["detail"]


def test_the_local_model_is_loaded_before_the_first_search_asks_for_it(
    settings: Any, monkeypatch: pytest.MonkeyPatch
):
    loaded = threading.Event()

    class Encoder:
        def encode(self, texts: list[str]) -> list[list[float]]:
            loaded.set()
            return [[1.0] for _ in texts]

    monkeypatch.setattr("search.embedding.providers._encoder", Encoder)
    settings.MEMORYWEB_EMBEDDING_URL = "http://127.0.0.1:9/v1"
    querying.prepare(None)
    assert not loaded.is_set()
    settings.MEMORYWEB_EMBEDDING_URL = "local"
    querying.prepare(None)
    assert loaded.wait(10)

"""Two stored models compared by the same queries, before a switch: on the page and by the API."""

import html
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memoryweb.core import active_model
from memoryweb.core.actor import system
from memoryweb.core.models import AuditEntry
from search import judging, runs
from search.models import Judgement
from search.other_index import other
from tests.embedding.double import vector_of

TEXTS = {"quay": "quay", "crane": "quay crane", "bread": "bread"}


@pytest.fixture(autouse=True)
def _nothing_beside():
    other.forget()
    yield
    other.forget()


@pytest.fixture
def both(episode, memory, provider, work):
    """`toy` is compared; `upside` lies beside it and holds the vectors of other texts."""
    for id, text in TEXTS.items():
        episode(id, text, vector_of(text))
    memory("m1", "quay master")

    def swapped(handler, body):
        if body["model"] != "upside":
            return False
        swap = {"quay": "bread", "bread": "quay"}
        texts = [swap.get(text, text) for text in body["input"]]
        rows = [{"index": n, "embedding": vector_of(text)} for n, text in enumerate(texts)]
        handler.answer({"data": rows, "model": "upside"})
        return True

    runs.start_reindex(system(), runs.Request(model="toy"))
    work()
    provider.behave = swapped
    runs.start_reindex(system(), runs.Request(model="upside"))
    work()
    provider.behave = lambda handler, body: False  # Queries mean what they say.


def compare(api, status=200, **body):
    answer = api("read").post("/search/compare", body)
    assert answer.status_code == status, answer.content
    return answer.json()


def ranks(side):
    return {one["id"]: (one["rank"], one["rank_other"]) for one in side["results"]}


def test_each_side_answers_by_its_own_vectors_and_tells_the_rank_on_the_other(api, both):
    found = compare(api, model="upside", queries=["quay"], by_vectors=True)
    assert (found["active"], found["other"]) == (
        {"model": "toy", "dimension": 8},
        {"model": "upside", "dimension": 8},
    )
    [pair] = found["pairs"]
    assert pair["active"]["results"][0]["id"] == "quay"
    assert pair["other"]["results"][0]["id"] == "bread"
    for one, (here, there) in ranks(pair["active"]).items():
        assert ranks(pair["other"]).get(one, (None,))[0] == there
        assert ranks(pair["active"])[one][0] == here
    both_have = ranks(pair["active"]).keys() & ranks(pair["other"]).keys()
    longer = max(len(pair[side]["results"]) for side in ("active", "other"))
    assert pair["shared"] == len(both_have)
    assert found["overlap"] == pytest.approx(len(both_have) / longer)
    assert active_model.active().model == "toy"


def test_what_is_written_meanwhile_is_on_both_sides(api, both, episode):
    compare(api, model="upside", queries=["quay"])
    episode("new", "a quay of late")
    [pair] = compare(api, model="upside", queries=["late"])["pairs"]
    assert all("new" in ranks(pair[side]) for side in ("active", "other"))


def test_judged_queries_give_marks_to_both_and_are_compared_by_default(api, both):
    judged = {"query": "quay", "document": {"collection": "episodes", "id": "bread"}, "grade": 3}
    assert api("write").put("/search/judgements", judged).status_code == 200
    found = compare(api, model="upside", by_vectors=True)
    assert [pair["query"] for pair in found["pairs"]] == ["quay"]
    assert found["judged"] == 1
    assert found["measures_other"] == {"ndcg": 1.0, "recall": 1.0, "reciprocal_rank": 1.0}
    place = ranks(found["pairs"][0]["active"])["bread"][0]
    assert found["measures_active"]["reciprocal_rank"] == pytest.approx(1 / place)
    assert found["pairs"][0]["other"]["results"][0]["grade"] == 3
    assert AuditEntry.objects.filter(action="judgement.set").count() == 1
    api("write").put("/search/judgements", {**judged, "grade": None})
    assert not Judgement.objects.exists()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"model": "toy", "queries": ["quay"]}, 422),
        ({"model": "nobody's", "queries": ["quay"]}, 404),
        ({"model": "upside", "queries": []}, 422),
        ({"model": "upside", "queries": ["q"] * 21}, 422),
        ({"model": "upside", "queries": ["x" * 501]}, 422),
    ],
)
def test_what_cannot_be_compared_is_refused(api, both, body, status):
    compare(api, status, **body)


def test_who_only_reads_judges_nothing(api, signed_in, viewer, both):
    body = {"query": "quay", "document": {"collection": "episodes", "id": "quay"}, "grade": 1}
    assert api("read").put("/search/judgements", body).status_code == 403
    desk = signed_in(viewer)
    form = {"query": "quay", "collection": "episodes", "document": "quay", "grade": "1"}
    assert desk.post("/coverage/compare/judge/", form).status_code == 403
    text = desk.get("/coverage/compare/", {"queries": "quay"}).content.decode()
    assert 'name="grade"' not in text
    assert "Switch to" not in text


def test_the_page_compares_typed_queries_and_takes_judgements(signed_in, curator, both):
    desk = signed_in(curator)
    asked = {"queries": "quay\n\n quay \nbread", "by": "vectors"}
    text = html.unescape(desk.get("/coverage/compare/", asked).content.decode())
    assert text.count('class="compared"') == 4  # Two queries, each once, on two sides.
    assert re.search(r'name="queries".*?>(.*?)</textarea>', text, re.DOTALL)[1].split("\n") == [
        "quay",
        "bread",
        "",
    ]
    assert "Of the best ten, on both sides" in text
    assert text.count('<td class="num">100 %</td>') == 2  # Both models cover all.
    assert "No query here is judged yet." in text
    form = {"query": "quay", "collection": "episodes", "document": "quay", "grade": "2"}
    back = {"back": "/coverage/compare/?queries=quay", "anchor": "q1"}
    answer = desk.post("/coverage/compare/judge/", form | back)
    assert answer["Location"] == "/coverage/compare/?queries=quay#q1"
    assert judging.grades("quay") == {("episodes", "quay"): 2}
    text = desk.get("/coverage/compare/", asked).content.decode()
    assert "1 of them judged" in text
    assert "nDCG at 10" in text


def test_while_the_provider_is_down_both_sides_say_that_words_were_compared(
    signed_in, viewer, both, provider
):
    from search.embedding.querying import query_vectors

    query_vectors.forget()
    provider.behave = lambda handler, body: handler.answer({}, 500) or True
    text = html.unescape(
        signed_in(viewer).get("/coverage/compare/", {"queries": "harbour"}).content.decode()
    )
    assert text.count("No effect on this query:") == 2


def test_with_one_model_the_page_says_how_to_fill_another(signed_in, viewer, episode):
    empty = signed_in(viewer).get("/coverage/compare/").content.decode()
    assert "There is no model yet" in empty
    assert empty.count("<footer") == 1
    episode("quay", "quay", vector_of("quay"))
    assert "There is one model only" in signed_in(viewer).get("/coverage/compare/").content.decode()


def test_a_model_is_filled_beside_from_the_coverage_page(signed_in, curator, episode, provider):
    episode("quay", "quay", vector_of("quay"))
    desk = signed_in(curator)
    assert "Fill another model beside it" in desk.get("/coverage/").content.decode()
    desk.post("/runs/start/", {"model": " newer "})
    assert runs.all_runs().get().model == "newer"
    assert active_model.active().model == "toy"


def test_a_search_that_names_a_stored_model_compares_that_ones_vectors(api, both):
    asked = {"query_embedding": vector_of("quay"), "collections": ["episodes"], "limit": 1}
    for model, best in {"toy": "quay", "upside": "bread", None: "quay"}.items():
        body = asked | ({"embedding_model": model} if model else {})
        found = api("read").post("/search", body).json()
        assert (found["mode"], found["reasons"]) == ("vector", [])
        assert [one["id"] for one in found["results"]] == [best]
    # Of words, the provider makes the vector by the model that is named.
    words = {"query": "quay", "embedding_model": "upside", "collections": ["episodes"]}
    assert api("read").post("/search", words).json()["mode"] == "hybrid"
    assert active_model.active().model == "toy"


def test_the_vectors_of_another_model_are_counted_once_for_a_state_of_the_memory(
    api, both, episode
):
    asked, reader = {"query_embedding": vector_of("quay"), "embedding_model": "upside"}, api("read")

    def counts() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert reader.post("/search", asked).status_code == 200
        return sum("COUNT(" in one["sql"] and "GROUP BY" in one["sql"] for one in captured)

    assert (counts(), counts()) == (3, 0)
    episode("new", "new")
    assert counts() == 3

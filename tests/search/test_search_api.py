"""POST /api/v1/search, as an agent sees it."""

import math
from base64 import b64encode

import numpy as np
import pytest

from search.models import SuggestedQuery


@pytest.fixture
def shop(remember):
    remember("Fixed the deadlock in the order worker", "deadlock", [1, 0], working_dir="/srv/shop")
    remember(
        "Deadlock again, in the payment worker",
        "payment",
        [0.8, 0.6],
        working_dir="/srv/pay",
        outcome="failure",
    )
    remember(
        "修复 docker 部署超时", "docker", [0, 1], working_dir="/srv/shop/deploy", agent_id="heron"
    )


def test_an_answer_has_every_field_of_the_contract(api, shop):
    answer = api("read").post("/search", {"query": "deadlock worker", "explain": True}).json()
    assert answer["mode"] == "bm25"
    assert answer["reasons"] == ["no_query_vector"]
    assert answer["total_candidates"] == 2
    assert answer["seq"] > 0
    first = answer["results"][0]
    assert set(first) == {
        "collection", "id", "title", "summary", "created_at", "url", "score", "vector", "bm25",
        "rank_vector", "rank_bm25", "explain",
    }  # fmt: skip
    assert first["vector"] is None
    assert first["score"] == first["bm25"] == 1.0


def test_the_parts_of_an_explanation_add_up_to_the_score(api, shop):
    body = {
        "query": "deadlock payment worker",
        "query_embedding": [0.6, 0.8],
        "prefer_working_dir": "/srv/shop",
        "recency_half_life_days": 30,
        "explain": True,
    }
    answer = api("read").post("/search", body).json()
    assert answer["mode"] == "hybrid"
    for result in answer["results"]:
        why = result["explain"]
        assert math.isclose(sum(why["contributions"].values()), result["score"], abs_tol=1e-9)
        terms = sum(term["contribution"] for term in why["terms"])
        assert math.isclose(terms, why["contributions"].get("bm25", 0.0), abs_tol=1e-9)


def test_both_forms_of_a_vector_give_the_same_answer(api, shop):
    plain = api("read").post("/search", {"query_embedding": [0.6, 0.8]}).json()
    blob = b64encode(np.array([0.6, 0.8], "<f4").tobytes()).decode()
    packed = api("read").post("/search", {"query_embedding_b64": blob}).json()
    assert plain["mode"] == "vector"
    assert [r["score"] for r in plain["results"]] == [r["score"] for r in packed["results"]]
    assert [r["id"] for r in plain["results"]] == ["payment", "docker", "deadlock"]


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        ({"working_dir": "/srv/shop"}, ["deadlock"]),
        ({"working_dir_prefix": "/srv/shop"}, ["deadlock", "docker"]),
        ({"working_dir_prefix": "/srv/sh"}, []),
        ({"outcome": "failure"}, ["payment"]),
        ({"agent_id": "heron"}, ["docker"]),
        ({"kind": "pages"}, []),
        ({"since": "2999-01-01T00:00:00Z"}, []),
        ({"until": "2000-01-01T00:00:00+08:00"}, []),
    ],
)
def test_filters_leave_out_what_does_not_match(api, shop, filters, ids):
    body = {"query": "deadlock worker docker", "filters": filters}
    answer = api("read").post("/search", body).json()
    assert sorted(r["id"] for r in answer["results"]) == ids


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({}, "query"),
        ({"query": "  "}, "query"),
        ({"query": "x", "limit": 0}, "limit"),
        ({"query": "x", "limit": 1_000_000}, "limit"),
        ({"query": "x", "limit": "5"}, "limit"),
        ({"query": "x", "weights": {"vector": -1}}, "vector"),
        ({"query": "x", "weights": {"vector": 0, "bm25": 0}}, "weights"),
        ({"query": "x", "weights": {"vector": "1"}}, "vector"),
        ({"query": "x", "fusion": "magic"}, "fusion"),
        ({"query": "x", "filters": {"outcom": "success"}}, "outcom"),
        ({"query": "x", "filters": {"since": "2026-01-01T00:00:00"}}, "since"),
        ({"query": "x", "collections": []}, "collections"),
        ({"query": "x", "collections": ["wikis"]}, "collections"),
        ({"query": "x", "min_score": -0.1}, "min_score"),
        ({"query": "x", "surprise": 1}, "surprise"),
        ({"query": "x\0y"}, "query"),
        ({"query": "x" * 20_001}, "query"),
        ({"query_embedding": []}, "query_embedding"),
        ({"query_embedding": [0, 0]}, "query_embedding"),
        ({"query_embedding": ["1", "2"]}, "query_embedding"),
        ({"query_embedding": [True, False]}, "query_embedding"),
        ({"query_embedding": [1] * 9000}, "query_embedding"),
        ({"query_embedding_b64": "AAA"}, "query_embedding"),
        ({"query": "x", "min_seq": -1}, "min_seq"),
        ({"query": "x", "recency_half_life_days": -1}, "recency_half_life_days"),
    ],
)
def test_a_request_without_meaning_is_422_and_names_the_place(api, shop, body, place):
    answer = api("read").post("/search", body)
    assert answer.status_code == 422, answer.content
    assert any(place in map(str, error["loc"]) for error in answer.json()["errors"])


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "-Infinity"])
def test_a_number_that_is_not_finite_is_422(api, shop, number):
    text = f'{{"query": "x", "weights": {{"vector": {number}, "bm25": 1}}}}'
    assert api("read").post("/search", text).status_code == 422
    assert api("read").post("/search", f'{{"query_embedding": [{number}]}}').status_code == 422


@pytest.mark.parametrize("body", ["", "{", "[" * 100_000, b"\xff\xfe", "nul"])
def test_a_body_that_is_no_json_is_a_4xx_problem_document(api, shop, body):
    answer = api("read").post("/search", body)
    assert 400 <= answer.status_code < 500
    assert answer.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    "query",
    ["C++", "foo-bar", "TODO: fix", "AND", "NEAR(", '"unclosed', "*", "()", "-", "_", "'", "//",
     "0190f3b2-7c5e-7c3a-9a51-0a4f6c1f2e3d", "a" * 3000, "word " * 3000, "🦦", "हिन्दी", "‮"],
)  # fmt: skip
def test_no_query_text_is_an_error(api, shop, query):
    answer = api("read").post("/search", {"query": query})
    assert answer.status_code == 200
    assert answer.json()["mode"] == "bm25"


def test_a_vector_of_another_width_is_said_and_text_answers(api, shop):
    body = {"query": "deadlock", "query_embedding": [1.0, 2.0, 3.0]}
    answer = api("read").post("/search", body).json()
    assert answer["mode"] == "bm25"
    assert answer["reasons"] == ["wrong_width"]
    assert len(answer["results"]) == 2


def test_an_unknown_model_is_said_and_text_answers(api, shop):
    body = {"query": "deadlock", "query_embedding": [1.0, 2.0], "embedding_model": "other"}
    answer = api("read").post("/search", body).json()
    assert (answer["mode"], answer["reasons"]) == ("bm25", ["unknown_model"])


def test_a_suggested_query_brings_its_own_vector(api, shop):
    vector = np.array([0, 1], "<f4").tobytes()
    SuggestedQuery.objects.create(text="container rollout", model="toy", dimension=2, vector=vector)
    answer = api("read").post("/search", {"query": "container rollout"}).json()
    assert answer["mode"] == "hybrid"
    assert answer["results"][0]["id"] == "docker"


def test_similar_episodes_are_found_by_vector_and_else_by_text(api, shop, remember):
    near = api("read").get("/episodes/payment/similar?limit=2").json()
    assert [r["id"] for r in near["results"]] == ["deadlock", "docker"]
    remember("A deadlock of the worker without a vector", "plain")
    by_text = api("read").get("/episodes/plain/similar").json()
    assert by_text["mode"] == "bm25"
    assert "plain" not in [r["id"] for r in by_text["results"]]
    assert api("read").get("/episodes/nothing/similar").status_code == 404


def test_settings_are_versions_that_can_be_taken_back(api, shop):
    agent = api("admin")
    assert agent.get("/search/settings").json()["weights"] == {"vector": 0.7, "bm25": 0.3}
    changed = agent.put("/search/settings", {"weights": {"vector": 0.2, "bm25": 0.8}})
    assert changed.json()["weights"] == {"vector": 0.2, "bm25": 0.8}
    assert agent.put("/search/settings", {"revert_to": 0}).json()["weights"]["vector"] == 0.7
    assert agent.put("/search/settings", {"k1": -1}).status_code == 422
    assert agent.put("/search/settings", {}).status_code == 422
    assert api("write").put("/search/settings", {"k1": 1.5}).status_code == 403


def test_coverage_counts_each_state_once(api, shop, remember):
    remember("No vector at all", "bare")
    remember("Changed since", "stale", [1, 1])
    remember("Changed since, indeed", "stale")
    figures = api("read").get("/search/coverage").json()["collections"]["episodes"]
    assert figures["total"] == 5
    assert figures["vectorized"] == 3
    assert figures["bm25_only"] == 2
    assert (figures["missing"], figures["stale"], figures["zero"]) == (1, 1, 0)
    assert figures["ratio"] == pytest.approx(3 / 5)
    assert (figures["dimension"], figures["model"]) == (2, "toy")
    assert figures["recall_at_10"] == 1.0


def test_the_coverage_has_every_field_of_the_contract(api, shop):
    report = api("read").get("/search/coverage").json()
    assert set(report["collections"]) == {"episodes", "memories", "pages"}
    assert set(report["index"]) >= {"seq", "lag", "deletions", "snapshot_age_s"}
    for figures in report["collections"].values():
        assert set(figures) >= {
            "total", "vectorized", "bm25_only", "missing", "dimension_mismatches", "zero", "stale",
            "other_model", "dimension", "model", "ratio", "has_dimension_mismatch", "capacity",
            "capacity_used", "recall_at_10",
        }  # fmt: skip


@pytest.mark.parametrize("fusion", ["linear", "rrf", "auto"])
@pytest.mark.parametrize("vector", [None, [0.6, 0.8], [-1.0, 0.1]])
@pytest.mark.parametrize("boosts", [{}, {"recency_half_life_days": 30},
    {"prefer_working_dir": "/srv/shop"},
    {"recency_half_life_days": 0.5, "prefer_working_dir": "/srv"}])  # fmt: skip
def test_the_parts_add_up_to_the_score_in_every_way_of_ranking(api, shop, fusion, vector, boosts):
    body = {"query": "deadlock payment worker", "fusion": fusion, "explain": True, **boosts}
    answer = api("read").post("/search", body | ({"query_embedding": vector} if vector else {}))
    results = answer.json()["results"]
    assert len(results) >= 2
    for result in results:
        parts = result["explain"]["contributions"]
        assert math.isclose(sum(parts.values()), result["score"], abs_tol=1e-9)
        assert ("recency" in parts) == ("recency_half_life_days" in boosts)
        assert ("prefer_working_dir" in parts) == ("prefer_working_dir" in boosts)
    scores = [result["score"] for result in results]
    assert scores == sorted(scores, reverse=True)


def test_coverage_of_nothing_is_whole(api, transactional_db):
    report = api("read").get("/search/coverage").json()
    assert report["collections"]["episodes"]["total"] == 0
    assert report["collections"]["episodes"]["ratio"] == 1.0

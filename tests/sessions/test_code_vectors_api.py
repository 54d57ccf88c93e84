"""/api/v1/vectors/{collection}: code symbols, stored, listed, searched and deleted."""

from typing import Any

import pytest

from episodes.models import CodeVector
from memoryweb.core import clock


def store(api: Any, name: str, vector: list[float], **fields: Any) -> Any:
    body = {"symbol_name": name, "embedding": vector, "file_path": "src/a.py", **fields}
    return api("write").post("/vectors/shop", body)


def search(api: Any, **body: Any) -> Any:
    return api("read").post("/vectors/shop/search", body)


def names(answer: Any) -> list[str]:
    return [symbol["name"] for symbol in answer.json()["symbols"]]


def test_a_symbol_is_stored_once_and_replaced_by_the_next(api, db):
    answer = store(api, "lock", [1, 0], line_start=12)
    assert answer.status_code == 200
    assert answer.json()["dimension"] == 2
    assert answer.headers["X-Change-Seq"] == str(clock.current_seq())
    store(api, "lock", [0, 1], line_start=40)
    row = CodeVector.objects.get()
    assert (row.collection, row.file_path, row.symbol_name) == ("shop", "src/a.py", "lock")
    assert (row.line_start, row.model) == (40, "unnamed")


def test_the_nearest_symbols_come_first(api, db):
    store(api, "east", [1, 0], line_start=1)
    store(api, "north", [0, 1])
    answer = search(api, query_embedding=[1, 0.2])
    assert names(answer) == ["east", "north"]
    first = answer.json()["symbols"][0]
    assert first["similarity_score"] == pytest.approx(0.9805807, abs=1e-6)
    assert (first["file_path"], first["line_start"]) == ("src/a.py", 1)


def test_a_search_sees_what_was_stored_and_deleted_before_it(api, db):
    store(api, "east", [1, 0])
    assert names(search(api, query_embedding=[1, 0])) == ["east"]
    store(api, "north", [0, 1])
    assert names(search(api, query_embedding=[0, 1])) == ["north", "east"]
    assert api("write").delete("/vectors/shop?symbol_name=north").json()["deleted"] == 1
    assert names(search(api, query_embedding=[0, 1])) == ["east"]


def test_symbols_of_other_widths_and_models_are_counted_and_left_out(api, db):
    store(api, "old", [1, 0], embedding_model="old")
    store(api, "wide", [1, 0, 0], embedding_model="m")
    store(api, "east", [1, 0], embedding_model="m")
    answer = search(api, query_embedding=[1, 0])
    assert names(answer) == ["east"]
    assert answer.json()["skipped"] == {"no_vector": 0, "dimension": 1, "model": 1}
    assert names(search(api, query_embedding=[1, 0], embedding_model="old")) == ["old"]


def test_a_text_without_a_provider_names_both_ways_out(api, db):
    answer = search(api, query_text="where are locks sorted")
    assert answer.status_code == 503
    detail = answer.json()["detail"]
    assert "provider" in detail
    assert "MEMORYWEB_EMBEDDING_URL" in detail
    assert "query_embedding" in detail


@pytest.mark.parametrize(("limit", "status"), [(0, 422), (1, 200), (50, 200), (51, 422)])
def test_the_limit_is_1_to_50(api, db, limit: int, status: int):
    assert search(api, query_embedding=[1, 0], limit=limit).status_code == status


def test_ten_symbols_are_given_where_no_limit_is(api, db):
    items = [{"symbol_name": f"s{n}", "embedding": [1, n]} for n in range(12)]
    api("write").post("/vectors/shop/embeddings", {"items": items, "embedding_model": "m"})
    assert len(names(search(api, query_embedding=[1, 0]))) == 10
    assert len(names(search(api, query_embedding=[1, 0], limit=12))) == 12


@pytest.mark.parametrize("body", [{}, {"query_text": " "}, {"query_embedding": []}, {"q": "x"}])
def test_a_search_without_a_query_is_refused(api, db, body: dict[str, Any]):
    assert search(api, **body).status_code == 422


@pytest.mark.parametrize(
    "fields",
    [
        {"symbol_name": ""}, {"symbol_name": "x" * 1001}, {"file_path": "x" * 4097},
        {"line_start": -1}, {"line_start": 1.5}, {"line_start": 2**31}, {"embedding": []},
        {"embedding": [0]}, {"embedding": None}, {"embedding_model": ""}, {"kind": "function"},
    ],
)  # fmt: skip
def test_a_vector_that_breaks_a_rule_is_refused(api, db, fields: dict[str, Any]):
    body = {"symbol_name": "lock", "embedding": [1.0], **fields}
    assert api("write").post("/vectors/shop", body).status_code == 422
    assert not CodeVector.objects.exists()


@pytest.mark.parametrize(("count", "status"), [(0, 422), (1, 200), (1000, 200), (1001, 422)])
def test_one_call_takes_1_to_1000_symbols(api, db, count: int, status: int):
    items = [{"symbol_name": f"s{n}", "embedding": [1.0]} for n in range(count)]
    assert api("write").post("/vectors/shop/embeddings", items).status_code == status


def test_good_symbols_land_and_bad_ones_are_named(api, db):
    items = [{"symbol_name": "a", "embedding": [1]}, {"symbol_name": "b", "embedding": [0]}, 5]
    told = api("write").post("/vectors/shop/embeddings", items).json()
    assert (told["stored"], [f["index"] for f in told["failed"]]) == (1, [1, 2])


def test_a_collection_is_listed_and_deleted_whole(api, db):
    store(api, "a", [1, 0])
    store(api, "b", [1, 0])
    reader = api("read")
    [collection] = reader.get("/vectors").json()["items"]
    assert (collection["collection"], collection["count"]) == ("shop", 2)
    listed = reader.get("/vectors/shop?limit=1").json()
    assert ([s["symbol_name"] for s in listed["items"]], listed["total"]) == (["a"], 2)
    told = api("write").delete("/vectors/shop").json()
    assert (told["deleted"], told["receipt"]["verified"]) == (2, True)
    assert api("write").delete("/vectors/shop").status_code == 404


def test_a_repository_may_have_a_slash_in_its_name(api, db):
    body = {"symbol_name": "lock", "embedding": [1.0]}
    assert api("write").post("/vectors/acme/shop", body).status_code == 200
    found = api("read").post("/vectors/acme/shop/search", {"query_embedding": [1.0]})
    assert names(found) == ["lock"]

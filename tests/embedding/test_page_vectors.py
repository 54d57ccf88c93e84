"""Pages of the bank have vectors too: made by runs, compared in searches, counted by coverage."""

import pytest

from bank import page_vectors, services
from bank.models import Kind, Page, PageVector
from memoryweb.core import clock
from memoryweb.core.actor import system
from memoryweb.core.vectors import decode_blob
from search import runs
from tests.embedding.double import vector_of


@pytest.fixture
def bank(home, transactional_db):
    services.save(system(), Kind.ENTITY, "canal", "# Canal\n\nWhere the locks are.\n")
    services.save(system(), Kind.NOTE, "2026-03-01", "Spoke of bread.\n")
    services.save(system(), Kind.MEMORY, "MEMORY", "# Memory\n\nAlways knock.\n")


def coverage(api):
    return api("read").get("/search/coverage").json()["collections"]["pages"]


def test_a_run_embeds_pages_notes_and_the_long_term_memory(bank, api, provider, work):
    run = runs.start_reindex(system(), runs.Request(["pages"]))
    work()
    run.refresh_from_db()
    assert (run.state, run.done, run.failed) == ("done", 3, 0)
    assert PageVector.objects.count() == 3
    canal = PageVector.objects.get(page__name="canal")
    assert canal.text_sha == Page.objects.get(name="canal").sha256
    assert "Canal\n# Canal\n\nWhere the locks are.\n" in provider.texts
    assert (coverage(api)["total"], coverage(api)["vectorized"], coverage(api)["ratio"]) == (
        3,
        3,
        1,
    )


def test_a_page_is_found_by_meaning_as_soon_as_it_has_its_vector(bank, api, provider, work):
    search = {"query": "zebra", "query_embedding": vector_of("zebra"), "collections": ["pages"]}
    assert api("read").post("/search", search).json()["results"] == []
    runs.start_reindex(system(), runs.Request(["pages"]))
    work()
    page = Page.objects.get(name="canal")
    stored = decode_blob(bytes(page.vectors.get().vector)).tolist()
    answer = api("read").post("/search", {**search, "query_embedding": stored}).json()
    assert answer["mode"] == "hybrid"
    best = answer["results"][0]
    assert (best["id"], round(best["vector"], 4)) == ("entity/canal", 1.0)


def test_a_page_that_is_edited_is_stale_and_its_old_vector_is_not_compared(
    bank, api, provider, work
):
    runs.start_reindex(system(), runs.Request(["pages"]))
    work()
    services.save(system(), Kind.ENTITY, "canal", "# Canal\n\nAnother text.\n")
    assert (coverage(api)["stale"], coverage(api)["vectorized"]) == (1, 2)
    search = {"query": "Another", "query_embedding": vector_of("x"), "collections": ["pages"]}
    answer = api("read").post("/search", search).json()
    found = {one["id"]: one["vector"] for one in answer["results"]}
    assert not found["entity/canal"]
    again = runs.start_reindex(system(), runs.Request(["pages"], states=["stale"]))
    work()
    again.refresh_from_db()
    assert again.done == 1
    assert coverage(api)["vectorized"] == 3


def test_an_archived_page_needs_no_vector_and_one_that_changed_meanwhile_gets_none(bank):
    page = Page.objects.get(name="canal")
    with clock.writing(system()) as tx:
        made = [(page.pk, "another hash", decode_blob(b"\0\0\x80?"))]
        assert page_vectors.put(tx, made, "toy") == {page.pk: page.sha256}
    assert not PageVector.objects.exists()
    services.archive(system(), Kind.ENTITY, "canal")
    assert page_vectors.embeddable().count() == 2


def test_new_and_changed_pages_are_embedded_by_themselves(bank, provider, settings, work):
    settings.MEMORYWEB_EMBEDDING_AUTO = True
    work()
    assert PageVector.objects.count() == 3
    services.save(system(), Kind.ENTITY, "canal", "# Canal\n\nAnother text.\n")
    work()
    assert provider.texts[-1] == "Canal\n# Canal\n\nAnother text.\n"
    assert (
        PageVector.objects.get(page__name="canal").text_sha == Page.objects.get(name="canal").sha256
    )

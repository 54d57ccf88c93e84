"""The sample as it is loaded into a new home."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.db.models import Count
from django.utils import timezone

from bank import lint, queries, wiki_pages
from bank.models import Kind, Link, Page
from episodes import session_queries
from episodes.models import Context, Episode
from memoryweb.core import active_model
from memoryweb.core.actor import system
from memoryweb.core.models import QuarantineItem
from memoryweb.demo import sample
from memoryweb.demo.load import load
from search.embedding import configured
from search.embedding.querying import query_vector, query_vectors


@pytest.fixture(autouse=True)
def local_model(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Not installed, whether or not it is, until a test says that it is."""
    monkeypatch.setattr("memoryweb.demo.load.local_is_installed", lambda: False)
    yield monkeypatch
    query_vectors.forget()


@pytest.fixture
def loaded(home: Path, db: None) -> Path:
    load()
    return home / "memory"


def test_every_page_note_and_the_long_term_memory_are_there_and_on_disk(loaded: Path):
    for name, content in sample.entities():
        assert queries.find(Kind.ENTITY, name).content == content
        assert (loaded / f"bank/entities/{name}.md").read_text() == content
    assert (loaded / "MEMORY.md").read_text() == sample.long_term()
    for note in sample.notes():
        day = (timezone.localdate() - timedelta(days=note.days_ago)).isoformat()
        text = (loaded / f"{day}.md").read_text()
        assert text == f"## {day}\n\n{note.text.strip()}\n"
    assert not Page.objects.filter(quarantined=True).exists()


def test_links_lead_somewhere_and_one_is_broken(loaded: Path):
    links = Link.objects.filter(source__wiki=None)
    assert links.exclude(to=None).count() > 20
    assert links.filter(to=None).count() == 1


def test_the_handbook_is_a_wiki_with_pages_in_both_languages_and_one_link_is_broken(loaded: Path):
    pages = wiki_pages.pages_of(sample.WIKI)
    assert pages.count() == 12
    assert not pages.filter(quarantined=True).exists()
    assert sum(any(ord(one) > 0x2E7F for one in page.title) for page in pages) == 6
    assert all(page.tags for page in pages)
    assert [page.aliases for page in pages if page.aliases] == [["style guide"]]
    links = Link.objects.filter(source__wiki=sample.WIKI)
    assert links.get(target="style guide").to == wiki_pages.find(sample.WIKI, "guide/writing")
    assert links.exclude(to=None).count() > 30
    assert lint.counts(system("import"), sample.WIKI) == {
        "broken": 1,
        "ambiguous": 0,
        "orphans": 0,
        "duplicate_titles": 0,
        "untitled": 0,
        "stubs": 0,
    }


def test_the_poisoned_proposal_waits_and_is_no_page(loaded: Path):
    proposal = sample.page_proposal()
    [item] = QuarantineItem.objects.filter(collection="pages")
    assert (item.document, item.text) == (f"entity/{proposal.name}", proposal.content)
    assert item.actor == "token otter (sample)"
    assert not Page.objects.filter(name=proposal.name).exists()


def test_some_pages_have_a_history(loaded: Path):
    page = queries.find(Kind.ENTITY, "harbor-api")
    first, second = page.revisions.order_by("number")
    assert second.content.startswith(first.content.rstrip())
    assert (first.author, first.via, second.via) == ("otter", "api", "import")


def test_sessions_are_there_with_vectors_in_every_state(loaded: Path):
    counts = session_queries.vector_states()
    assert counts == {"current": 14, "missing": 1, "stale": 1, "wrong_width": 1}
    assert dict(Context.objects.values_list("status").annotate(Count("pk"))) == {
        "active": 3,
        "archived": 1,
    }
    for context in Context.objects.all():
        times = context.memories.values_list("created_at", flat=True)
        assert context.created_at == min(times)
        assert context.updated_at == max(times) < timezone.now()


def test_a_home_with_episodes_is_left_alone(loaded: Path):
    before = Episode.objects.count(), Page.objects.count()
    assert "not loaded" in load()
    assert (Episode.objects.count(), Page.objects.count()) == before


def test_a_memory_folder_that_agents_use_already_is_left_alone(home: Path, db: None):
    (home / "memory" / "MEMORY.md").write_text("# Mine\n\nWhat my agents know.\n")
    assert "not loaded" in load()
    assert [path.name for path in (home / "memory").rglob("*.md")] == ["MEMORY.md"]
    assert (home / "memory" / "MEMORY.md").read_text() == "# Mine\n\nWhat my agents know.\n"
    assert not Episode.objects.exists()


class Encoder:
    """What the local model's package offers."""

    def encode(self, texts: list[str]) -> list[np.ndarray]:
        return [np.full(sample.DIMENSION, len(text), np.float32) for text in texts]


def test_with_the_local_model_any_query_has_a_vector_of_the_samples_width(
    home: Path, db: None, local_model: pytest.MonkeyPatch
):
    local_model.setattr("memoryweb.demo.load.local_is_installed", lambda: True)
    local_model.setattr("search.embedding.providers._encoder", Encoder)
    assert load().endswith("Its model is installed: any query finds by meaning.")
    asked = "words that nobody suggested"
    vector, reasons = query_vector(asked, active_model.active(), configured.named_on_page())
    assert (vector.tolist(), reasons) == ([len(asked)] * sample.DIMENSION, ())


def test_without_the_local_model_and_beside_a_named_provider_none_is_chosen(
    home: Path, db: None, local_model: pytest.MonkeyPatch, settings: Any
):
    settings.MEMORYWEB_EMBEDDING_URL = "http://127.0.0.1:9/v1"
    local_model.setattr("memoryweb.demo.load.local_is_installed", lambda: True)
    load()
    assert configured.named_on_page() is None

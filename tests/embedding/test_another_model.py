"""The provider is set to another model: searches go on, nothing mixes, one click fills it."""

import html
import re

import pytest

from bank import services
from bank.models import Kind
from episodes.models import EpisodeVector
from memoryweb.core import active_model
from memoryweb.core.actor import system
from search import runs, switching
from search.models import EmbeddingFailure, Run
from tests.embedding import double as doubles
from tests.embedding.double import refuse_long_texts, vector_of


@pytest.fixture
def desk(signed_in, administrator):
    return signed_in(administrator)


@pytest.fixture
def moved_on(home, episode, memory, provider, settings):
    """Three texts, one of them with a vector of `toy`, and a provider that is set to `newer`."""
    episode("has", "has", vector_of("has"))
    memory("m1", "a memory")
    services.save(system(), Kind.ENTITY, "canal", "# Canal\n\nWhere the locks are.\n")
    settings.MEMORYWEB_EMBEDDING_MODEL = "newer"
    settings.MEMORYWEB_EMBEDDING_AUTO = True
    return provider


def read(client, path):
    text = html.unescape(client.get(path).content.decode())
    return " ".join(text[text.index("<h1") : text.index("</main>")].split())


def banner(text):
    """The one banner of the page, up to the section after it, as its words."""
    _, found = text.split('<div class="banner ')
    return " ".join(re.sub(r"<[^>]*>", "", found).split()).partition(">")[2].strip()


def models_of(id):
    return sorted(EpisodeVector.objects.filter(episode=id).values_list("model", flat=True))


def test_the_worker_goes_on_with_what_searches_compare_and_begins_no_other_model(
    moved_on, episode, work
):
    episode("new", "new")
    work()
    assert (models_of("has"), models_of("new")) == (["toy"], ["toy"])
    assert {body["model"] for body in moved_on.asked} == {"toy"}


@pytest.mark.parametrize("path", ["/coverage/", "/settings/provider/"])
def test_both_pages_say_what_happens_and_begin_it_with_one_click(moved_on, desk, work, path):
    work()
    text = read(desk, path)
    assert text.count('class="banner ') == 1
    said = banner(text)
    assert said.startswith("The provider is set to newer, and searches compare toy. They go on")
    assert "No text has a vector of newer" in said
    assert (
        "New and changed text gets vectors of the model in use; once newer is filled, of both."
        in said
    )
    assert "Fill 3 texts" in said
    assert desk.post("/runs/start/", {"model": "newer"}).status_code == 302
    run = Run.objects.get()
    said = banner(read(desk, path))
    assert said.startswith("A run fills newer beside toy. 0 of 3 texts have its vectors.")
    assert "See how far it is" in said
    assert text.count('name="model" value="newer"') == 1
    work()
    run.refresh_from_db()
    assert (run.state, run.done, run.model) == ("done", 3, "newer")
    said = banner(read(desk, path))
    assert "newer is filled beside toy. 3 of 3 texts have its vectors." in said
    assert "New and changed text gets vectors of both." in said
    assert "Switch to newer" in said
    assert active_model.active().model == "toy"


def test_once_filled_both_models_are_kept_until_one_is_removed(moved_on, episode, desk, work):
    runs.start_reindex(system(), runs.Request(model="newer"))
    work()
    episode("new", "new")
    work()
    assert models_of("new") == ["newer", "toy"]
    desk.post("/runs/model/", {"do": "use", "model": "newer"})
    assert 'id="beside"' not in read(desk, "/coverage/")
    desk.post("/runs/model/", {"do": "use", "model": "toy"})
    switching.remove(system(), "newer")
    episode("newest", "newest")
    work()
    assert models_of("newest") == ["toy"]
    assert "No text has a vector of newer" in banner(read(desk, "/coverage/"))


def test_what_the_other_model_could_not_embed_is_listed_and_repaired_by_it(
    moved_on, episode, desk, api, work
):
    work()
    episode("long", "x" * 2000, vector_of("long"))
    moved_on.behave = refuse_long_texts
    runs.start_reindex(system(), runs.Request(model="newer"))
    work()
    said = read(desk, "/coverage/")
    failed = "/coverage/episodes/?vector=failed&by=newer"
    assert f'1 could not be embedded by it: <a href="{failed}">1 episode</a>.' in said
    assert "Switch to newer" in said
    listed = read(desk, failed)
    assert "(413)" in listed
    assert '<input type="hidden" name="model" value="newer">' in listed
    [one] = api("read").get("/search" + failed.replace("episodes/?", "episodes?")).json()["items"]
    assert (one["id"], one["state"]) == ("long", "current")
    assert "(413)" in one["cause"]
    moved_on.behave = lambda handler, body: False
    repair = {"collection": "episodes", "state": "failed", "model": "newer"}
    desk.post("/runs/start/", repair)
    work()
    assert models_of("long") == ["newer", "toy"]
    assert not EmbeddingFailure.objects.exists()


def test_a_provider_without_the_old_model_is_told_and_keeps_nobody_from_filling_the_new(
    moved_on, episode, desk, work
):
    moved_on.behave = lambda handler, body: (
        body["model"] == "toy" and doubles.sends({}, 404)(handler, body)
    )
    work()
    assert EmbeddingFailure.objects.filter(model="toy", of_provider=True).count() == 1
    assert "The last try for the model in use failed:" in banner(read(desk, "/coverage/"))
    desk.post("/runs/start/", {"model": "newer"})
    work()
    assert models_of("has") == ["newer", "toy"]
    episode("new", "new")
    work()
    assert models_of("new") == ["newer"]


def test_models_of_two_widths_make_one_banner(moved_on, episode, provider, desk, work):
    episode("wide", "wide", vector_of("wide", 16), "toy")
    provider.width = 16
    runs.start_reindex(system(), runs.Request(model="newer"))
    work()
    said = banner(read(desk, "/coverage/"))
    assert "newer is filled beside toy." in said
    assert re.search(r"Found by words alone: 1 episode, 1 session memory, 1 page, until", said)

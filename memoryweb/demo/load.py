"""Fills a new home with the sample, through the same writers that agents and people use."""

from contextlib import suppress
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from bank import layout, places, services, uploads, wiki_pages, wikis
from bank.models import Kind, Page, Wiki
from episodes import memory_vectors, sessions, store, vectors
from episodes.models import Context, Episode
from episodes.session_schemas import MemoryIn
from episodes.texts import text_sha
from memoryweb.core.actor import Actor, Role, system
from memoryweb.core.errors import Refused
from memoryweb.core.vectors import encode_blob
from memoryweb.demo import sample
from search.embedding import configured
from search.embedding.addresses import LOCAL
from search.embedding.providers import local_is_installed
from search.models import SuggestedQuery

ACTOR = system("import")
REVISED = ("harbor-api", "runbook-postgres-failover")  # Pages that have a history to look at.


def load() -> str:
    """Load the sample into a home that holds nothing yet; a sentence that says what was done."""
    if any(model.objects.exists() for model in (Episode, Page, Context, Wiki)) or _has_files():
        return "This home holds memories already; the sample was not loaded."
    _load_episodes()
    _load_vectors()
    _load_sessions()
    _load_queries()
    _load_pages()
    _load_notes()
    _load_wiki()
    _propose_poison()
    by_meaning = _choose_local_model()
    episodes, pages = Episode.objects.count(), wiki_pages.pages_of(wikis.BANK).count()
    contexts = Context.objects.count()
    return (
        f"The sample is loaded: {episodes} episodes, {contexts} sessions, {pages} pages and notes, "
        f"and a wiki of {wiki_pages.pages_of(sample.WIKI).count()} pages."
        + (" Its model is installed: any query finds by meaning." if by_meaning else "")
    )


def _choose_local_model() -> bool:
    """Have the sample's own model make the vectors of queries, where it is installed and nobody
    named another; without it only the suggested queries have one."""
    if settings.MEMORYWEB_EMBEDDING_URL or not local_is_installed():
        return False
    configured.choose(ACTOR, configured.checked(LOCAL, sample.MODEL))
    return True


def _has_files() -> bool:
    """Whether the memory folder is in use already, by agents that memoryweb is new to."""
    return bool(layout.look(places.memory_folder()).files)


def _load_episodes() -> None:
    rows = [store.parse(row) for row in sample.episodes(timezone.now())]
    for outcome in store.store_many(ACTOR, rows):
        if outcome.error is not None:
            raise outcome.error


def _load_vectors() -> None:
    """The shipped vectors, the one of another width last: the first fixes the active width."""
    texts, shipped = sample.embedded_texts(), sample.vectors()
    in_order = sorted(shipped, key=lambda episode: episode == sample.WRONG_WIDTH_EPISODE)
    stored = vectors.set_vectors(
        ACTOR,
        [
            vectors.Sent(
                episode,
                shipped[episode],
                model=sample.MODEL,
                text_sha=text_sha(texts[episode]),
            )
            for episode in in_order
        ],
    )
    for error in stored.failed.values():
        raise error


def _load_sessions() -> None:
    """Each some days older than the one before; their vectors as the sample says."""
    now = timezone.now()
    vectors_of: list[memory_vectors.Sent] = []
    for days, session in enumerate(sample.sessions(), start=1):
        began = now - timedelta(days=3 * days)
        times = [began + timedelta(hours=5 * n) for n in range(len(session.memories))]
        saved = sessions.save(
            ACTOR,
            context_id=session.context_id,
            name=session.name,
            intent=session.intent,
            status=session.status,
            memories=[
                MemoryIn(content=one.content, type=one.type, created_at=at)  # type: ignore[arg-type]
                for one, at in zip(session.memories, times, strict=True)
            ],
            created_at=began,
            updated_at=times[-1],
        )
        pairs = zip(saved.ids, session.memories, strict=True)
        vectors_of += [_vector(pk, one) for pk, one in pairs if one.vector is not None]
    for error in memory_vectors.index_many(ACTOR, vectors_of).failed.values():
        raise error


def _vector(memory_id: str, memory: sample.SessionMemory) -> memory_vectors.Sent:
    return memory_vectors.Sent(
        memory_id,
        memory.vector,
        model=sample.MODEL,
        text_sha=sessions.content_sha(memory.embedded_text),
    )


def _load_queries() -> None:
    SuggestedQuery.objects.bulk_create(
        SuggestedQuery(
            text=query.text,
            model=sample.MODEL,
            dimension=sample.DIMENSION,
            vector=encode_blob(query.vector),
        )
        for query in sample.queries()
    )


def _load_pages() -> None:
    for name, content in sample.entities():
        if name in REVISED:
            services.save(_agent("otter"), Kind.ENTITY, name, _shorter(content))
        services.save(ACTOR, Kind.ENTITY, name, content)
    services.save(ACTOR, Kind.MEMORY, "", sample.long_term())


def _shorter(content: str) -> str:
    """A first version: the page without its last paragraph."""
    return content.rstrip().rpartition("\n\n")[0] + "\n"


def _load_notes() -> None:
    for note in sample.notes():
        day = timezone.localdate() - timedelta(days=note.days_ago)
        services.append_note(ACTOR, note.text, day)


def _load_wiki() -> None:
    said = "How the teams behind the terminals work together, in English and Chinese."
    wikis.create(ACTOR, team_id="", name="Handbook", id=sample.WIKI, description=said)
    for _ in uploads.carry_out(ACTOR, uploads.from_folder(sample.WIKI, sample.wiki_folder())):
        pass


def _propose_poison() -> None:
    """An agent proposes a page that the guard holds back."""
    proposal = sample.page_proposal()
    with suppress(Refused):
        services.save(_agent(proposal.agent_id), Kind.ENTITY, proposal.name, proposal.content)


def _agent(name: str) -> Actor:
    return Actor("token", f"{name} (sample)", "api", Role.CURATOR, agent_id=name)

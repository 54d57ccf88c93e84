"""A client of the API for Python programs: one file, nothing but the standard library.

    memory = Client("http://127.0.0.1:8765", os.environ["MEMORYWEB_TOKEN"])
    print(memory.context(query="order worker")["text"])

Answers are the JSON objects of the API, typed as far as programs need it. What the API refuses
is raised as a Problem that holds the whole problem document. A request that was lost on its way
is sent once more, unless it deletes; a POST carries an Idempotency-Key, so that it is done once
all the same.
"""

import base64
import http.client
import json
import re
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict, cast
from urllib.parse import quote, urlencode

Json = dict[str, Any]
Outcome = Literal["success", "failure", "blocked", "cancelled"]
MemoryType = Literal["decision", "constraint", "note", "discovery", "error", "action"]
PER_REQUEST = 500  # rows of a list that are asked for at once


class Episode(TypedDict):
    id: str
    task_id: str
    agent_id: str
    working_dir: str
    summary: str
    outcome: Outcome
    source: str
    key_decisions: list[str]
    files_modified: list[str]
    created_at: str
    updated_at: str
    quarantined: bool
    extra: Json
    vector: Json
    change_seq: NotRequired[int]


class Result(TypedDict):
    """One result of a search; `score` is 0 to 1, `vector` and `bm25` are its parts."""

    collection: str
    id: str
    title: str
    summary: str
    created_at: str
    url: str
    score: float
    vector: float | None
    bm25: float | None


class Found(TypedDict):
    """`mode` and `reasons` say how the search was answered, and what it lacked."""

    mode: Literal["hybrid", "bm25", "vector", "scan"]
    reasons: list[str]
    total_candidates: int
    results: list[Result]


class Page(TypedDict):
    name: str
    title: str
    abstract: str
    content: NotRequired[str]
    revision: int
    tags: list[str]
    backlinks: list[str]
    held_back: bool
    created_at: str
    updated_at: str


class Previous(TypedDict):
    content: str
    revision: int


class Saved(TypedDict):
    """`previous` is the text that was replaced: merge from it what must not be lost."""

    entity: Page
    previous: Previous | None
    created: bool
    changed: bool
    change_seq: int


class Note(TypedDict):
    date: str
    content: str
    revision: int
    updated_at: str


class Context(TypedDict):
    """What to put before an agent; `sections` say what was left out."""

    text: str
    tokens: int
    sections: list[Json]
    skipped_by_guard: int


class Session(TypedDict):
    id: str
    name: str
    intent: str
    status: Literal["active", "archived"]
    memory_count: int
    created_at: str
    updated_at: str


class Memory(TypedDict):
    """A memory to save needs its content; the server adds the rest."""

    content: str
    type: NotRequired[MemoryType]
    id: NotRequired[str]
    importance: NotRequired[float]
    source: NotRequired[str]


class Problem(Exception):
    """The API refused; `document` is its RFC 9457 problem document."""

    def __init__(self, status: int, document: Mapping[str, Any]) -> None:
        super().__init__(str(document.get("detail") or document.get("title") or status))
        self.status = status
        self.document = dict(document)

    @property
    def errors(self) -> list[Json]:
        """What is wrong with which field: [{loc, msg}]."""
        return cast(list[Json], self.document.get("errors", []))


class NotAllowed(Problem):
    """401 or 403: no live token, or one whose scope is too small."""


class NotFound(Problem):
    """404."""


class Stale(Problem):
    """409: somebody else was first."""

    @property
    def current(self) -> Previous | None:
        """The text as it is now, of a page that was saved with an old `base`."""
        return cast(Previous | None, self.document.get("current"))

    @property
    def merged(self) -> str | None:
        """Both changes in one text, where they fit together."""
        return cast(str | None, self.document.get("merged"))


class NotValid(Problem):
    """422: the input breaks a rule."""


class Refused(NotValid):
    """422: the guard objects to the text."""

    @property
    def quarantine_id(self) -> int | None:
        """Under which the text waits for a person's decision."""
        return cast(int | None, self.document.get("quarantine_id"))


class Busy(Problem):
    """429 or 503: it may be tried again, after `retry_after` seconds where that is known."""

    retry_after: float | None = None


class Client:
    """One token at one server. It keeps no connection and may be shared by threads."""

    def __init__(self, url: str, token: str, *, timeout: float = 30.0) -> None:
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"the address must begin with http:// or https://, not {url[:20]!r}")
        self._base = f"{url.rstrip('/')}/api/v1"
        self._token, self._timeout = token, timeout

    # Episodes

    def save_episode(
        self,
        summary: str,
        *,
        agent_id: str,
        working_dir: str,
        outcome: Outcome = "success",
        replace: bool = False,
        **fields: Any,
    ) -> Episode:
        """Store what an agent did. `fields` are further ones of an episode, such as id,
        key_decisions, files_modified, extra, embedding and embedding_model."""
        body = {
            "summary": summary,
            "agent_id": agent_id,
            "working_dir": working_dir,
            "outcome": outcome,
            **fields,
        }
        query = {"replace": "true"} if replace else {}
        return cast(Episode, self.request("POST", "/episodes", body, query))

    def edit_episode(self, episode_id: str, **fields: Any) -> Episode:
        return cast(Episode, self.request("PATCH", f"/episodes/{_id(episode_id)}", fields))

    def episode(self, episode_id: str) -> Episode:
        return cast(Episode, self.request("GET", f"/episodes/{_id(episode_id)}"))

    def episodes(self, **filters: Any) -> Iterator[Episode]:
        """All that match, newest first unless `order` says otherwise; see GET /episodes."""
        return cast(Iterator[Episode], self._listed("/episodes", filters))

    def delete_episode(self, episode_id: str) -> None:
        self.request("DELETE", f"/episodes/{_id(episode_id)}")

    # Search

    def search(self, query: str = "", *, limit: int = 10, **options: Any) -> Found:
        """Search by words, by `query_embedding`, or by both; `options` as POST /search."""
        body = {"query": query, "limit": limit, **options}
        return cast(Found, self.request("POST", "/search", body))

    # Pages

    def page(self, name: str) -> Page:
        return cast(Page, self.request("GET", f"/bank/entities/{_part(name)}"))

    def pages(self, q: str = "", *, tag: str = "") -> Iterator[Page]:
        """The pages by name, without their texts."""
        given = {"q": q, "tag": tag}
        filters = {name: value for name, value in given.items() if value}
        return cast(Iterator[Page], self._listed("/bank/entities", filters))

    def save_page(
        self, name: str, content: str, *, base: int | None = None, message: str = ""
    ) -> Saved:
        """Make `content` the page's text. With `base`, the revision it was made from, a save
        that would overwrite somebody else's is refused as Stale."""
        body = {"content": content, "message": message, "base": base}
        return cast(Saved, self.request("PUT", f"/bank/entities/{_part(name)}", body))

    def archive_page(self, name: str) -> None:
        self.request("DELETE", f"/bank/entities/{_part(name)}")

    # Notes and context

    def add_note(self, text: str, date: str | None = None) -> Note:
        """Add a paragraph to a day's note, by default today's in the server's zone."""
        return cast(Note, self.request("POST", "/bank/notes/append", {"text": text, "date": date}))

    def note(self, date: str) -> Note:
        return cast(Note, self.request("GET", f"/bank/notes/{_part(date)}"))

    def context(self, query: str = "", *, max_tokens: int = 2500, **options: Any) -> Context:
        body = {"query": query, "max_tokens": max_tokens, **options}
        return cast(Context, self.request("POST", "/bank/context", body))

    # Sessions

    def save_session(
        self,
        context_id: str,
        *,
        name: str | None = None,
        intent: str | None = None,
        memories: Sequence[Memory] = (),
    ) -> Session:
        """Save a context and add memories to it; what is left out stays as it is."""
        body: Json = {"context_id": context_id, "memories": list(memories)}
        body |= {k: v for k, v in (("name", name), ("intent", intent)) if v is not None}
        return cast(Session, self.request("POST", "/sessions", body))

    def sessions(self, **filters: Any) -> Iterator[Session]:
        return cast(Iterator[Session], self._listed("/sessions", filters))

    def resume(self, context_id: str) -> Json:
        """The context, and its memories newest first: {context, memories, next_cursor, total}."""
        return cast(Json, self.request("GET", f"/sessions/{_id(context_id)}"))

    def recall(self, context_id: str, query: str = "", **options: Any) -> list[Json]:
        """The memories of a context that fit, each with its score; `options` may bring a
        query_embedding and its embedding_model."""
        body = {"query": query, **options}
        answer = self.request("POST", f"/sessions/{_id(context_id)}/recall", body)
        return cast(list[Json], answer["memories"])

    # The one way to ask

    def request(
        self, method: str, path: str, body: Any = None, query: Mapping[str, Any] | None = None
    ) -> Any:
        """Any operation; `path` is below /api/v1. None for an answer without a body."""
        url = f"{self._base}{path}" + (f"?{urlencode(query)}" if query else "")
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        if method == "POST":
            headers["Idempotency-Key"] = str(uuid.uuid4())
        made = urllib.request.Request(url, data, headers, method=method)  # noqa: S310 - http(s)
        text = self._sent(made)
        return json.loads(text) if text else None

    def _sent(self, made: urllib.request.Request) -> bytes:
        try:
            return self._once(made)
        except (http.client.HTTPException, urllib.error.URLError, ConnectionError):
            if made.get_method() == "DELETE":  # Done already, it would be answered 404.
                raise
        return self._once(made)  # It was lost on its way.

    def _once(self, made: urllib.request.Request) -> bytes:
        try:
            with urllib.request.urlopen(made, timeout=self._timeout) as response:  # noqa: S310
                return cast(bytes, response.read())
        except urllib.error.HTTPError as error:
            raise _problem(error) from None

    def _listed(self, path: str, filters: Mapping[str, Any]) -> Iterator[Json]:
        query = {"limit": PER_REQUEST, **filters}
        while True:
            page = self.request("GET", path, query=query)
            yield from page["items"]
            if not page["next_cursor"]:
                return
            query["cursor"] = page["next_cursor"]


def _part(text: str) -> str:
    """One segment of an address, whatever it holds."""
    return quote(text, safe="")


def _id(text: str) -> str:
    """An id in an address: as it is where it looks like those that are made, else as `~` and its
    base64url, which reads like no word of the routes and leads nowhere else."""
    if re.fullmatch("[0-9a-f-]+", text):
        return text
    return "~" + base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


_BY_STATUS: dict[int, type[Problem]] = {
    401: NotAllowed,
    403: NotAllowed,
    404: NotFound,
    409: Stale,
    422: NotValid,
    429: Busy,
    503: Busy,
}


def _problem(error: urllib.error.HTTPError) -> Problem:
    text = error.read()
    try:
        document = json.loads(text)
    except ValueError:
        document = {"title": error.reason, "detail": text.decode(errors="replace")[:500]}
    kind = _BY_STATUS.get(error.code, Problem)
    if kind is NotValid and "findings" in document:
        kind = Refused
    problem = kind(error.code, document)
    if isinstance(problem, Busy) and (seconds := error.headers.get("Retry-After", "")).isdigit():
        problem.retry_after = float(seconds)
    return problem

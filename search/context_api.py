"""The context that agents are given, over HTTP. The paths lie below the bank's."""

from typing import Annotated

from django.http import HttpRequest
from ninja import Query, Router
from pydantic import BaseModel, Field, FiniteFloat

from episodes.schemas import Base64, Floats, Name, Path
from memoryweb.core.api_auth import read
from memoryweb.core.schemas import Strict
from search.context import DEFAULT_TOKENS, MOST_TOKENS, Context, context, recalling
from search.engine import Mode
from search.schemas import QueryText

router = Router()

Budget = Annotated[int, Field(ge=1, le=MOST_TOKENS, description="the text never has more tokens")]
Words = Annotated[QueryText, Field(description="adds past experiences that match")]


class ContextQuery(BaseModel):
    """The budget, and perhaps what the agent is about to do."""

    max_tokens: Budget = DEFAULT_TOKENS
    query: Words = ""
    query_embedding: list[FiniteFloat] | None = None
    query_embedding_b64: str | None = None
    embedding_model: Name | None = None
    prefer_working_dir: Path | None = None


class ContextIn(Strict):
    """As the query of GET, in JSON."""

    max_tokens: Budget = DEFAULT_TOKENS
    query: Words = ""
    query_embedding: Floats = None
    query_embedding_b64: Base64 = None
    embedding_model: Name | None = None
    prefer_working_dir: Path | None = None


class SectionOut(BaseModel):
    """`included` paragraphs, pages or episodes are in the text; of `omitted` ones something is
    missing. A paragraph that is cut counts in both."""

    name: str
    tokens: int
    included: int
    omitted: int


class SearchedOut(BaseModel):
    """How the past experiences were found, as a search answers it."""

    mode: Mode
    reasons: list[str]


class ContextOut(BaseModel):
    """`tokens` are those of the sections, rounded down, and of the last line."""

    text: str
    tokens: int
    sections: list[SectionOut]
    skipped_by_guard: int
    search: SearchedOut | None = None


@router.get("/context", response=ContextOut, auth=read, exclude_none=True)
def get_context(request: HttpRequest, wanted: Query[ContextQuery]) -> ContextOut:
    """What an agent is given to begin with; it never has more tokens than `max_tokens`.

    Long-term memory, the notes of today and of seven days before, a row for each page of the
    bank, the latest edited first, and with a query the past episodes that fit it. A token is four
    ASCII characters or one other. The sections share the budget 8 : 2 : 4 : 3 : 3 in the order of
    the text; what one does not need goes to the others. The last line names what was left out.
    """
    return _answer(wanted)


@router.post("/context", response=ContextOut, auth=read, exclude_none=True)
def post_context(request: HttpRequest, wanted: ContextIn) -> ContextOut:
    """The same for a query that is too long for an address, or that brings its vector."""
    return _answer(wanted)


def _answer(wanted: ContextQuery | ContextIn) -> ContextOut:
    asked = wanted.model_dump()
    return _out(context(asked.pop("max_tokens"), recalling(**asked)))


def _out(built: Context) -> ContextOut:
    fitted, found = built.fitted, built.found
    return ContextOut(
        text=fitted.text,
        tokens=fitted.tokens,
        sections=[
            SectionOut(
                name=section.name,
                tokens=section.tokens,
                included=section.included,
                omitted=section.omitted,
            )
            for section in fitted.sections
        ],
        skipped_by_guard=built.skipped,
        search=SearchedOut(mode=found.answer.mode, reasons=list(found.reasons)) if found else None,
    )

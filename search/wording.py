"""What a person is told about a search: how it was answered, what was missing, what mends it."""

from collections.abc import Mapping
from typing import NamedTuple

from search.engine import Trace
from search.services import Missed

MODES = {
    "hybrid": "by vectors and by words",
    "bm25": "by words alone",
    "vector": "by vectors alone",
    "scan": "by reading every document, without an index",
}


class Notice(NamedTuple):
    """One banner; `url` and `action` lead to what mends it."""

    reason: str
    kind: str
    title: str
    text: str
    url: str = ""
    action: str = ""


PROVIDER_PAGE = ("/settings/provider/", "See the provider")
MODELS = ("/coverage/#models", "See the models")
PROVIDER = {
    "provider_address": "The embedding provider's address is one that is not asked.",
    "provider_unreachable": "The embedding provider cannot be reached. It is tried again by "
    "itself.",
    "provider_timeout": "The embedding provider did not answer in time. It is tried again by "
    "itself.",
    "provider_rate_limited": "The embedding provider was asked too often, and is left alone for "
    "as long as it asked for.",
    "provider_failed": "The embedding provider answered that it failed. It is tried again by "
    "itself.",
    "provider_rejected": "The embedding provider does not take the request: the key, the model, "
    "or this text.",
    "provider_bad_answer": "The embedding provider's answer was not a vector that can be used.",
    "provider_wrong_width": "The embedding provider's vectors have another width than the stored "
    "ones, and two widths cannot be compared.",
    "provider_other_model": "The embedding provider does not have the model that the stored "
    "vectors are of.",
    "provider_not_installed": "The local embedding model is not installed.",
    "provider_resting": "The embedding provider failed a moment ago. It is tried again by itself.",
}
NOTICES = {
    notice.reason: notice
    for notice in (
        Notice(
            "no_query_vector",
            "info",
            "Only words were compared.",
            "No embedding provider is configured, so typed words have no vector. Agents can "
            "send one of their own as query_embedding.",
        ),
        Notice(
            "wrong_width",
            "warn",
            "Only words were compared.",
            "The query's vector has another width than the stored ones, and two widths cannot be "
            "compared. Search with a vector of the active model.",
            "/coverage/",
            "See the active model",
        ),
        Notice(
            "no_vectors",
            "warn",
            "Only words were compared.",
            "None of the documents searched has a vector that could be compared: pages have none "
            "yet, and an episode lacks one until its agent sends it.",
            "/coverage/",
            "See which lack one",
        ),
        Notice(
            "unknown_model",
            "warn",
            "Only words were compared.",
            "The query's vector is of a model that is not the active one.",
            "/coverage/",
            "See the active model",
        ),
        *(
            Notice(
                reason,
                "warn",
                "Only words were compared.",
                text,
                *(MODELS if reason == "provider_other_model" else PROVIDER_PAGE),
            )
            for reason, text in PROVIDER.items()
        ),
        Notice(
            "no_terms",
            "warn",
            "There is no word in this query.",
            "It holds only signs that are not searched for. Add a word or a name.",
        ),
        Notice(
            "index_building",
            "warn",
            "The index is being built.",
            "Until it is ready every document is read instead, and the score is the number of the "
            "query's words in it. Nothing is lost; search again in a moment.",
        ),
        Notice(
            "index_failed",
            "danger",
            "The index could not be built.",
            "Every document is read instead, and the score is the number of the query's words in "
            "it. Nothing is lost. The server's log names the cause; it tries again by itself.",
            "/coverage/",
            "See the index",
        ),
        Notice(
            "index_behind",
            "warn",
            "The newest changes may be missing.",
            "The index is catching up.",
            "/coverage/",
            "See the index",
        ),
    )
}


def notices(reasons: tuple[str, ...], lag: int, has_suggestions: bool) -> list[Notice]:
    """A banner for each reason; one that this program does not know is shown as it is."""
    found = {r: NOTICES.get(r) or Notice(r, "warn", "The search was limited.", r) for r in reasons}
    if has_suggestions and "no_query_vector" in found:
        found["no_query_vector"] = SUGGESTING
    if behind := found.get("index_behind"):
        text = f"The index is {lag:,} changes behind and catching up. Search again in a moment."
        found["index_behind"] = behind._replace(text=text)
    return list(found.values())


SUGGESTING = NOTICES["no_query_vector"]._replace(
    text="No embedding provider is configured, so typed words have no vector. Suggested queries "
    "bring theirs; agents can send query_embedding.",
    url="/search/",
    action="Suggested queries",
)
QUERY_KINDS = {
    "identifier": "an identifier or a quotation, so words weigh more",
    "question": "a question, so vectors weigh more",
    "ordinary": "neither an identifier nor a question, so the given weights hold",
}

NO_VECTOR = {
    **{reason: text[0].lower() + text[1:] for reason, text in PROVIDER.items()},
    "no_query_vector": "no embedding provider is configured, so typed words have no vector.",
    "unknown_model": "the query's vector is of another model than the stored ones.",
    "wrong_width": "the query's vector has another width than the stored ones.",
    "no_vectors": "none of the documents searched has a vector.",
}


def vector_note(mode: str, reasons: tuple[str, ...]) -> str:
    """Why the weight of vectors changes nothing in this search; empty where it does."""
    if mode == "scan":
        return "No effect now: without an index every document is read by its words."
    cause = next((NO_VECTOR[one] for one in reasons if one in NO_VECTOR), None)
    return f"No effect on this query: {cause}" if cause and mode == "bm25" else ""


FILTERS = {
    "working_dir": "exactly in directory",
    "working_dir_prefix": "in or below directory",
    "agent_id": "agent",
    "outcome": "outcome",
    "source": "source",
    "kind": "kind",
    "context_id": "context",
    "since": "since",
    "until": "until",
}


class Reason(NamedTuple):
    """Why a document is not among the results, in a line and in a sentence."""

    title: str
    text: str


def why_not(missed: Missed, limit: int, floor: float | None) -> Reason:
    """What the stage means for this document."""
    title, text = WHY_NOT[missed.stage]
    found = missed.trace or Trace("found")
    legs = {"vector": found.vector, "text": found.bm25}
    scores = [f"{name} score {score:.4f}" for name, score in legs.items() if score is not None]
    facts = {
        "rank": found.rank,
        "limit": limit,
        "pool": found.pool,
        "scores": " and ".join(scores),
        "floor": floor,
        "filters": ", ".join(FILTERS.get(name, name) for name in found.filters),
        "missing": f": {', '.join(found.missing)}" if found.missing else "",
    }
    return Reason(title, text.format(**facts))


WHY_NOT: Mapping[str, Reason] = {
    "found": Reason("It is there.", "It is result {rank}."),
    "beyond_limit": Reason(
        "It comes after the last result shown.",
        "It is number {rank}, and {limit} results were asked for.",
    ),
    "weightless": Reason(
        "Only a leg without weight finds it.",
        "It has the {scores}, but that leg's weight is 0, so it brings no results.",
    ),
    "outside_pool": Reason(
        "Too many others match better.",
        "It has the {scores}, which is not among the best {pool} of its leg: four for every "
        "result asked for. Ask for more results.",
    ),
    "below_floor": Reason(
        "It does not reach the floor.",
        "It has the {scores}; the better one has to be {floor} at least.",
    ),
    "not_matched": Reason(
        "Nothing in it matches.",
        "Its text holds none of the query's words{missing}, and there are no two vectors to "
        "compare: the query has none, or the document lacks one of the same width.",
    ),
    "filtered": Reason("A filter leaves it out.", "It does not pass: {filters}."),
    "not_searched": Reason(
        "Its kind is not searched.", "This search asks other collections than the one it is in."
    ),
    "not_in_index": Reason(
        "It is not in the index yet.",
        "It is stored, and the index of this process has not caught up with it. Search again in "
        "a moment.",
    ),
    "quarantined": Reason("It is in quarantine.", "It is in no search until it is decided."),
    "no_index": Reason(
        "There is no index now.",
        "Every document is read instead, by its words alone. Ask again once the index is built.",
    ),
}

"""What a person is told about a search: how it was answered, what was missing, what mends it."""

from typing import NamedTuple

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

"""The tool for what agents did."""

from django.http import HttpResponse
from ninja import Status
from pydantic import ConfigDict, StrictBool

from episodes import api
from episodes.schemas import EpisodeIn, EpisodeWritten
from memoryweb.core.api_auth import ApiRequest
from memoryweb.mcp.tool import tool


class EpisodeSave(EpisodeIn):
    """An episode. Here a field that nobody knows is a mistake: `extra` takes what is beside."""

    model_config = ConfigDict(strict=True, extra="forbid")

    replace: StrictBool = False


@tool(
    "Save an episode",
    EpisodeSave,
    EpisodeWritten,
    writes=True,
    idempotent=False,
    fields={
        "schema_version": "Leave it out.",
        "id": "Leave it out for a new episode. With one, saving the same again changes nothing.",
        "task_id": "The task that it belongs to.",
        "agent_id": "Who did it.",
        "working_dir": "The absolute path of the directory it was done in.",
        "summary": "What was tried, what came of it and why, so that it helps another time. This "
        "text is what is searched.",
        "outcome": "How it ended.",
        "source": "task for work, conversation for a talk.",
        "key_decisions": "What was decided, one sentence each.",
        "files_modified": "Paths of the files that were changed.",
        "created_at": "When it ended; now when it is left out.",
        "extra": "Anything else worth keeping with it.",
        "embedding": "A vector of the summary, made elsewhere.",
        "embedding_b64": "The same as base64 of little-endian float32.",
        "embedding_model": "The model that made the vector.",
        "replace": "Replace an episode that has this id and other content.",
    },
)
def episode_save(request: ApiRequest, wanted: EpisodeSave) -> Status[EpisodeWritten]:
    """Store what you did and how it ended, once a task is done, has failed or was given up. It is
    found at once by its words.
    """
    return api.store_episode(request, HttpResponse(), wanted, replace=wanted.replace)

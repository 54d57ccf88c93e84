"""What lists filter by `q`: words in any case of any script, and literally."""

import pytest

from bank import wikis
from memoryweb.core.actor import system
from tests.episodes.builders import sent

TEXT = "Починил Дедлок в Straße 50 %"
PAGE = f"# Queue\n\n{TEXT}\n"


@pytest.fixture
def lists(api, home):
    """The ids that each list gives for a `q`."""
    agent = api("write")
    agent.post("/episodes", sent(id="one", summary=TEXT))
    agent.post(
        "/sessions",
        {"context_id": "one", "name": TEXT, "memories": [{"id": "one", "content": TEXT}]},
    )
    agent.put("/bank/entities/one", {"content": PAGE})
    wikis.create(system(), id="one", name=TEXT, team_id="team")

    def found(q: str) -> list[list[str]]:
        paths = ("/episodes", "/sessions", "/sessions/memories", "/bank/entities")
        answers = [agent.get(f"{path}?q={q}").json()["items"] for path in paths]
        told = [[item.get("id") or item["name"] for item in items] for items in answers]
        return [*told, [wiki.pk for wiki in wikis.listed(q=q)]]

    return found


@pytest.mark.parametrize("q", ["Дедлок", "дедлок", "ДЕДЛОК", "STRAße", "straße", "В s"])
def test_words_are_found_in_any_case(lists, q: str):
    assert lists(q) == [["one"]] * 5


@pytest.mark.parametrize("q", ["Д.длок", "дедлок$", "Дедлок%25", "_едлок", "дедлокк"])
def test_signs_of_patterns_are_only_signs(lists, q: str):
    assert lists(q) == [[]] * 5

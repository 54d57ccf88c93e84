"""A page is opened by whatever a wikilink finds it by, where that is it alone."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from bank import importing, queries, services, vault
from bank.models import Kind
from memoryweb.core.actor import Actor, system
from memoryweb.core.errors import Moved, NotFound

pytestmark = pytest.mark.django_db

GRACE = "---\naliases: [Hopper, Both]\n---\n# Amazing Grace\n\nWrote the first compiler.\n"


@pytest.mark.parametrize("name", ["Hopper", "hopper", "Amazing Grace", "amazing grace"])
def test_an_alias_and_a_title_lead_to_the_page_in_the_browser_and_over_the_api(
    desk: Client, written, api: Callable[..., Any], name: str
):
    written("grace", GRACE)
    assert desk.get(f"/bank/{name}/").headers["Location"] == "/bank/grace/"
    answer = api("read").get(f"/bank/entities/{name}")
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/api/v1/bank/entities/grace"


def test_the_name_of_an_imported_file_leads_to_its_page(desk: Client, tmp_path: Path):
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault/∑ Cities.md").write_text("---\ntitle: Towns\n---\nSome.\n")
    list(importing.carry_out(system("import"), vault.plan(tmp_path / "vault")))
    assert desk.get("/bank/∑ Cities/").headers["Location"] == "/bank/cities/"


def test_what_several_pages_are_called_and_what_none_is_leads_nowhere(
    desk: Client, written, api: Callable[..., Any]
):
    written("grace", GRACE)
    written("two", "---\naliases: [Both]\n---\n# Two\n\nAnother.\n")
    for name in ("Both", "nobody"):
        assert desk.get(f"/bank/{name}/").status_code == 404
        assert api("read").get(f"/bank/entities/{name}").status_code == 404


def test_who_writes_to_an_alias_makes_a_page_of_that_name(written, ada: Actor):
    page = written("grace", GRACE)
    with pytest.raises(NotFound) as missing:
        queries.find(Kind.ENTITY, "hopper")
    assert not isinstance(missing.value, Moved)
    made = services.save(ada, Kind.ENTITY, "hopper", "# Hopper\n\nA bar.\n").page
    assert made.pk != page.pk
    assert queries.read(Kind.ENTITY, "hopper") == made

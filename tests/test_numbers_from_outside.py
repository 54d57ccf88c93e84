"""Numbers from outside that are larger than any that is stored: a clear refusal, never a 500."""

from typing import Any

import pytest
from django.db import DataError

from memoryweb.core.models import Change

HUGE = ("9" * 19, "9" * 25, "9" * 5000)


@pytest.fixture
def desk(home, signed_in, administrator) -> Any:
    client = signed_in(administrator)
    client.raise_request_exception = False
    return client


PAGES = (
    "/review/{n}/",
    "/review/?cursor={n}",
    "/bank/entities/x/history/{n}/",
    "/activity/?page={n}",
    "/episodes/?cursor={n}",
    "/admin/core/quarantineitem/{n}/change/",
    "/admin/core/quarantineitem/?id__in={n}",
    "/admin/core/auditentry/?seq={n}",
    "/admin/core/quarantineitem/?p={n}",
)
FORMS = (
    ("/review/{n}/", {"reason": "x", "decision": "reject"}),
    ("/review/{n}/check/", {"text": "x"}),
    ("/review/decide/", {"id": "{n}", "reason": "x", "decision": "reject"}),
    ("/bank/archived/{n}/restore/", {}),
    ("/settings/search/{n}/", {}),
    ("/admin/core/apitoken/", {"action": "revoke", "_selected_action": "{n}"}),
    ("/admin/bank/entity/", {"action": "archive", "_selected_action": "{n}"}),
    ("/admin/episodes/episode/", {"action": "reindex", "_selected_action": "{n}"}),
)
OPERATIONS = (
    ("POST", "/guard/quarantine/{n}/approve", '{{"reason": "x"}}'),
    ("POST", "/guard/quarantine/{n}/edit", '{{"reason": "x", "text": "y"}}'),
    ("POST", "/guard/quarantine/{n}/reject", '{{"reason": "x"}}'),
    ("POST", "/guard/quarantine/1/approve", '{{"reason": "x", "base": {n}}}'),
    ("GET", "/changes?since={n}", None),
    ("GET", "/bank/entities/x/revisions/{n}", None),
    ("PUT", "/bank/entities/x", '{{"content": "# x\\n\\ny\\n", "base": {n}}}'),
)


@pytest.mark.parametrize("number", HUGE, ids=["19", "25", "5000"])
@pytest.mark.parametrize("path", PAGES)
def test_no_page_falls_over_a_huge_number(desk: Any, path: str, number: str):
    assert desk.get(path.format(n=number)).status_code < 500


@pytest.mark.parametrize("number", [*HUGE, "one"], ids=["19", "25", "5000", "no number"])
@pytest.mark.parametrize(("path", "fields"), FORMS)
def test_no_form_falls_over_a_huge_number(desk: Any, path: str, fields: Any, number: str):
    sent = {name: value.format(n=number) for name, value in fields.items()}
    assert desk.post(path.format(n=number), sent).status_code < 500


@pytest.mark.parametrize("number", HUGE, ids=["19", "25", "5000"])
@pytest.mark.parametrize(("method", "path", "body"), OPERATIONS)
def test_no_operation_falls_over_a_huge_number(api, home, method, path, body, number: str):
    agent = api("admin")
    agent.client.raise_request_exception = False
    answer = agent(method, path.format(n=number), body and body.format(n=number))
    assert answer.status_code in (400, 404, 409, 422)


@pytest.mark.django_db
def test_the_database_says_of_a_number_out_of_range_that_it_is_bad_data():
    with pytest.raises(DataError):
        list(Change.objects.filter(seq__in=[2**63]))

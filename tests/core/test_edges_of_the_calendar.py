"""Values at the ends of what can be written: refused on the way in, never a broken page."""

import numpy as np
import pytest

from memoryweb.core.vectors import unit_vector

ENDS = ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "1899-12-30T23:59:59Z"]


@pytest.mark.django_db
@pytest.mark.parametrize("moment", ENDS)
def test_an_episode_beyond_the_years_that_pages_can_show_is_refused(api, moment):
    row = {"agent_id": "x", "working_dir": "/x", "outcome": "success", "summary": "edge"}
    assert api("write").post("/episodes", {**row, "created_at": moment}).status_code == 422
    assert api("read").get(f"/episodes?since={moment}").status_code == 422


@pytest.mark.django_db
@pytest.mark.parametrize("query", ["since=0001-01-01", "until=9999-12-31"])
def test_a_list_filtered_by_such_a_day_says_so(signed_in, viewer, query):
    assert signed_in(viewer).get(f"/episodes/?{query}").status_code < 500


@pytest.mark.django_db
def test_a_note_of_such_a_day_is_refused(api, home):
    body = {"content": "# Note\n\nText.\n"}
    assert api("write").put("/bank/notes/0001-01-01", body).status_code == 422


@pytest.mark.django_db
def test_half_a_character_in_an_id_is_named_without_it(api):
    good = {"agent_id": "x", "working_dir": "/x", "outcome": "success", "summary": "good"}
    answer = api("write").post("/episodes/batch", [good, {"id": "\ud800"}])
    assert answer.status_code == 200
    assert answer.json()["created"] == 1
    assert answer.json()["failed"][0]["id"] == "?"


@pytest.mark.django_db
def test_a_number_of_a_thousand_digits_is_out_of_range(api):
    body = '{"capacity": 1' + "0" * 1000 + "}"
    assert api("admin").put("/search/settings", body).status_code == 422


def test_very_large_values_have_a_direction():
    unit = unit_vector([1e38] * 512)
    assert np.linalg.norm(unit) == pytest.approx(1.0, abs=1e-5)

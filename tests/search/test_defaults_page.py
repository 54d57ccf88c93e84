"""The saved settings of search: seen by everybody, changed by curators, each save a version."""

import re

import pytest

from search import defaults

PAGE = "/settings/search/"
ALL = {
    "vector": "0.5", "bm25": "0.5", "fusion": "auto", "recency_half_life_days": "0",
    "analyzer": "cjk", "k1": "1.2", "b": "0.75", "capacity": "10000", "exact_threshold": "10000",
}  # fmt: skip

pytestmark = pytest.mark.django_db


def test_a_change_is_a_new_version_in_force(signed_in, curator):
    response = signed_in(curator).post(PAGE, ALL, follow=True)
    version, saved = defaults.current()
    assert (saved.vector, saved.bm25, saved.fusion) == (0.5, 0.5, "auto")
    assert f"Version {version} is in force." in response.content.decode()
    assert "person curator" in response.content.decode()


def test_saving_what_is_in_force_makes_no_version(signed_in, curator):
    signed_in(curator).post(PAGE, {**ALL, "vector": "0.70", "bm25": "0.3", "fusion": "linear"})
    assert defaults.current()[0] == 0


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"vector": "0", "bm25": "0"}, "bm25"),
        ({"b": "1.5"}, "b"),
        ({"k1": "much"}, "k1"),
        ({"capacity": "0"}, "capacity"),
        ({"analyzer": "porter"}, "analyzer"),
    ],
)
def test_what_is_out_of_range_is_named_and_not_saved(signed_in, curator, wrong, field):
    response = signed_in(curator).post(PAGE, {**ALL, **wrong})
    assert response.status_code == 422
    assert field in response.context["form"].errors
    assert defaults.current()[0] == 0


def test_an_earlier_version_comes_back_as_a_new_one(signed_in, curator):
    client = signed_in(curator)
    client.post(PAGE, ALL)
    first = defaults.current()[0]
    client.post(PAGE, {**ALL, "k1": "2"})
    client.post(f"{PAGE}{first}/")
    version, saved = defaults.current()
    assert version > first + 1
    assert (saved.k1, saved.vector) == (1.2, 0.5)
    client.post(f"{PAGE}0/")
    assert defaults.current()[1] == defaults.Defaults()


def test_a_version_that_never_was_is_not_found(signed_in, curator):
    assert signed_in(curator).post(f"{PAGE}999/").status_code == 404


def test_a_viewer_sees_the_settings_and_cannot_change_them(signed_in, viewer):
    client = signed_in(viewer)
    body = client.get(PAGE).content.decode()
    assert "<dt>BM25 k1</dt><dd>1.2</dd>" in body
    assert not re.search(r'<form[^>]+action="/settings/search', body)
    assert client.post(PAGE, ALL).status_code == 403
    assert client.post(f"{PAGE}0/").status_code == 403

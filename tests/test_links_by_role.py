"""Nobody is led by a banner or an empty page to what refuses them: they read the words alone."""

import re

import pytest
from django.utils import timezone

from memoryweb.core.access import may_open
from memoryweb.core.models import ActiveModel


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/runs/", "No embedding provider is configured."),
        ("/episodes/", "No episodes yet"),
        ("/coverage/", "Nothing to cover yet"),
        ("/context/", ""),
    ],
)
@pytest.mark.parametrize("role", ["viewer", "curator", "administrator"])
def test_each_person_may_open_every_link_in_what_a_page_says(
    home, transactional_db, person, signed_in, role, path, words
):
    reader = signed_in(person(role))
    text = reader.get(path).content.decode()
    assert words in text
    links = re.findall(r'<(?:a|form)[^>]*(?:href|action)="(/[^"#]*)"', text.partition("<main")[2])
    refused = [link for link in links if reader.get(link).status_code == 403]
    assert refused == []


def test_the_provider_is_offered_to_those_alone_who_may_name_it(
    transactional_db, person, signed_in, settings
):
    settings.MEMORYWEB_EMBEDDING_URL = "http://127.0.0.1:9/v1"  # Nothing listens there.
    settings.MEMORYWEB_EMBEDDING_MODEL = "toy"
    ActiveModel.objects.create(model="toy", dimension=2, chosen_at=timezone.now(), chosen_by="x")
    for role, offered in (("viewer", False), ("curator", False), ("administrator", True)):
        text = signed_in(person(role)).get("/search/", {"q": "harbor"}).content.decode()
        main = text.partition("<main")[2]
        assert "Only words were compared." in main
        assert ('href="/settings/provider/"' in main) is offered


def test_whether_a_page_may_be_opened_is_what_its_view_asks_for(person):
    viewer, curator = person("viewer"), person("curator")
    assert may_open(viewer, "/coverage/?a=b#c")
    assert not may_open(viewer, "/settings/provider/")
    assert not may_open(curator, "/settings/provider/")
    assert may_open(person("administrator"), "/settings/provider/")
    assert may_open(viewer, "https://elsewhere.example/settings/provider/x")

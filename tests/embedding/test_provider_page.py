"""Settings, Provider: administrators see, try and name who makes vectors; nobody sees the key."""

import json

import pytest

from memoryweb.core.models import AuditEntry
from search.embedding import configured
from search.embedding.configured import Configured
from search.embedding.problems import AddressRefused
from search.models import ProviderChoice
from tests.embedding import double as doubles
from tests.embedding.test_provider_addresses import resolving_to


@pytest.fixture
def desk(signed_in, administrator):
    return signed_in(administrator)


def page(client, **posted):
    answer = (
        client.post("/settings/provider/", posted) if posted else client.get("/settings/provider/")
    )
    return answer, answer.content.decode()


@pytest.mark.parametrize("role", ["viewer", "curator"])
def test_it_is_for_administrators(signed_in, person, role):
    client = signed_in(person(role))
    assert client.get("/settings/provider/").status_code == 403
    assert client.post("/settings/provider/", {"do": "none"}).status_code == 403


def test_without_a_provider_it_says_how_to_name_one(desk):
    _, text = page(desk)
    assert "No provider yet" in text
    assert "MEMORYWEB_EMBEDDING_URL" in text


def test_the_environment_is_shown_and_cannot_be_changed_here(desk, provider, settings):
    settings.MEMORYWEB_EMBEDDING_API_KEY = "sk-never-shown"
    answer, text = page(desk)
    assert provider.url in text
    assert "sk-never-shown" not in text
    assert 'name="address"' not in text
    answer, _ = page(desk, do="save", address="https://api.example/v1", model="m")
    assert answer.status_code == 409
    assert configured.configured() == Configured(f"{provider.url}/v1", "toy", False)


def test_the_test_shows_time_width_length_and_two_pairs(desk, provider):
    _, text = page(desk, do="test")
    assert "It answers, and its vectors mean something." in text
    assert "8 numbers" in text
    assert "1.000" in text
    assert len(provider.asked) == 1


def test_vectors_that_are_all_alike_are_told(desk, provider):
    def alike(good):
        same = good["data"][0]["embedding"]
        return {**good, "data": [{**item, "embedding": same} for item in good["data"]]}

    provider.behave = doubles.changes(alike)
    assert "The vectors seem to mean nothing." in page(desk, do="test")[1]


def test_a_failed_test_says_why(desk, provider):
    provider.behave = doubles.sends(b"<html>", 200)
    assert "answered a web page where JSON was expected" in page(desk, do="test")[1]


def test_a_named_provider_is_used_at_once_and_audited(desk, administrator):
    answer, _ = page(desk, do="save", address=" https://api.example/v1/ ", model=" small ")
    assert answer.status_code == 302
    assert configured.configured() == Configured("https://api.example/v1", "small", True)
    entry = AuditEntry.objects.get(action="provider.choose")
    assert entry.facts == {"address": "https://api.example/v1", "model": "small"}
    assert ProviderChoice.objects.get().chosen_by == "person administrator"
    page(desk, do="none")
    assert configured.configured() is None


def test_what_is_no_address_is_refused_and_stays_in_the_form(desk):
    answer, text = page(desk, do="save", address="ftp://api.example", model="")
    assert answer.status_code == 422
    assert "must be an address like" in text
    assert 'value="ftp://api.example"' in text
    assert configured.configured() is None


@pytest.mark.parametrize("inner", ["127.0.0.1", "10.0.0.7", "169.254.169.254", "100.64.0.1"])
def test_a_page_cannot_have_the_inside_asked(desk, monkeypatch, inner):
    answer, text = page(desk, do="try", address=f"http://{inner}/v1", model="m")
    assert answer.status_code == 200
    assert f"failed.</strong> {inner} is not asked: it is" in text


def test_the_operator_can_let_a_page_name_this_machine_but_not_metadata(desk, double, settings):
    settings.MEMORYWEB_EMBEDDING_ALLOW_PRIVATE = True
    _, text = page(desk, do="try", address=f"{double.url}/v1", model="toy")
    assert "It answers" in text
    _, text = page(desk, do="try", address="http://169.254.169.254/v1", model="toy")
    assert "is told its secrets" in text


def test_the_key_is_not_sent_over_a_plain_address_of_a_page(double, settings, db):
    settings.MEMORYWEB_EMBEDDING_API_KEY = "sk-never-shown"
    settings.MEMORYWEB_EMBEDDING_ALLOW_PRIVATE = True
    configured.provider_of(Configured(f"{double.url}/v1", "toy", True)).embed(["port"], 5)
    assert "Authorization" not in double.headers[0]
    configured.provider_of(Configured(f"{double.url}/v1", "toy", False)).embed(["port"], 5)
    assert double.headers[1]["Authorization"] == "Bearer sk-never-shown"
    assert "sk-never-shown" not in json.dumps(double.asked)


def test_a_name_that_leads_inside_later_is_refused_then(desk, monkeypatch, db):
    """It is the look-up of each request that counts, not the one when it was saved."""
    import socket

    page(desk, do="save", address="https://api.example/v1", model="m")
    monkeypatch.setattr(socket, "getaddrinfo", resolving_to("10.0.0.7"))
    with pytest.raises(AddressRefused):
        configured.required().embed(["port"], 5)

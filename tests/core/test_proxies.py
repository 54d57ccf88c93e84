"""What a proxy says of its client is believed of named proxies, and of nobody else."""

from ipaddress import ip_network

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponse

from memoryweb import environment as env
from memoryweb.core import proxies

PROXY, ATTACKER, PERSON = "10.0.0.5", "203.0.113.9", "198.51.100.7"


@pytest.fixture
def seen(settings):
    """What Django sees of a request from `address` with these headers."""
    settings.MEMORYWEB_TRUSTED_PROXIES = [ip_network("10.0.0.0/24"), ip_network("::1")]
    settings.ALLOWED_HOSTS = ["memory.example", "inner"]

    def ask(address: str, **headers: str) -> tuple[str, str, str]:
        request = HttpRequest()
        request._get_scheme = lambda: request.META["wsgi.url_scheme"]  # As a WSGIRequest does.
        request.META = {
            "REMOTE_ADDR": address,
            "HTTP_HOST": "inner",
            "wsgi.url_scheme": "http",
            **{f"HTTP_X_FORWARDED_{name}": value for name, value in headers.items()},
        }
        proxies.behind_proxies(lambda _: HttpResponse())(request)
        assert not any(name.startswith("HTTP_X_FORWARDED") for name in request.META)
        return request.META["REMOTE_ADDR"], request.scheme, request.get_host()

    return ask


def test_a_trusted_proxy_is_believed(seen):
    said = seen(PROXY, FOR=PERSON, PROTO="https", HOST="memory.example")
    assert said == (PERSON, "https", "memory.example")


def test_a_stranger_is_not_believed(seen):
    said = seen(ATTACKER, FOR=PERSON, PROTO="https", HOST="memory.example")
    assert said == (ATTACKER, "http", "inner")


@pytest.mark.parametrize(
    ("said", "client"),
    [
        (f"{PERSON}, {ATTACKER}", ATTACKER),  # The left one is what the attacker wrote.
        (f"{ATTACKER}, 10.0.0.9", ATTACKER),  # A proxy behind a proxy.
        ("10.0.0.9", "10.0.0.9"),
        (f"{PERSON}:4711", PERSON),
        ("[2001:db8::1]:443", "2001:db8::1"),
        (f"::ffff:{PERSON}", PERSON),
        ("unknown", PROXY),
        ("<script>", PROXY),
        ("", PROXY),
    ],
)
def test_the_client_is_the_nearest_that_is_no_proxy(seen, said, client):
    assert seen(PROXY, FOR=said)[0] == client


def test_a_scheme_that_is_none_changes_nothing(seen):
    assert seen("::1", FOR=PERSON, PROTO="javascript")[1] == "http"


@pytest.mark.parametrize("value", ["everything", "10.0.0.1/8", "10.0.0.0/33", "proxy.example"])
def test_a_network_that_is_none_names_its_variable(value):
    with pytest.raises(ImproperlyConfigured, match="MEMORYWEB_TRUSTED_PROXIES"):
        env.networks("MEMORYWEB_TRUSTED_PROXIES", {"MEMORYWEB_TRUSTED_PROXIES": value})

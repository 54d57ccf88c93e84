"""Which addresses a provider may be asked at, and that no name leads around that."""

import socket
from ipaddress import ip_address

import pytest

from search.embedding.addresses import Rules, model_problem, problem, refusal
from search.embedding.asking import Line
from search.embedding.problems import AddressRefused
from search.embedding.providers import OpenAICompatible

PAGE = Rules(from_page=True)
ALLOWED_PAGE = Rules(from_page=True, allow_private=True)
OPERATOR = Rules(from_page=False)

PUBLIC = ["93.184.216.34", "2606:2800:220:1::1", "64:ff9b::5db8:d822", "2002:5db8:d822::"]
PRIVATE = [
    "127.0.0.1",
    "127.8.8.8",
    "10.0.0.7",
    "172.16.0.1",
    "192.168.1.1",
    "::1",
    "fd12::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.7",
    "64:ff9b::7f00:1",
    "64:ff9b::a00:7",
    "64:ff9b:1::a00:7",
    "2002:7f00:1::",
    "2002:c0a8:101::1",
    "::7f00:1",
    "2001:0:4136:e378:8000:63bf:f5ff:fff8",  # Teredo of 10.0.0.7
    "240.0.0.1",
]
NEVER_FROM_A_PAGE = ["100.64.0.1", "::ffff:100.64.0.1", "64:ff9b::6440:1"]
NEVER = [
    "169.254.169.254",
    "169.254.1.1",
    "fe80::1",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "2002:a9fe:a9fe::",
    "fd00:ec2::254",
    "168.63.129.16",
    "100.100.100.200",
    "192.0.0.192",
    "0.0.0.0",
    "::",
    "224.0.0.1",
    "ff02::1",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_a_page_may_name_a_public_address(address):
    assert refusal(ip_address(address), PAGE) == ""


@pytest.mark.parametrize("address", PRIVATE)
def test_only_the_operator_may_name_this_machine_or_a_private_network(address):
    assert "MEMORYWEB_EMBEDDING_ALLOW_PRIVATE" in refusal(ip_address(address), PAGE)
    assert refusal(ip_address(address), ALLOWED_PAGE) == ""
    assert refusal(ip_address(address), OPERATOR) == ""


@pytest.mark.parametrize("address", NEVER_FROM_A_PAGE)
def test_a_page_never_names_an_address_inside_a_carriers_network(address):
    assert refusal(ip_address(address), PAGE)
    assert refusal(ip_address(address), ALLOWED_PAGE)
    assert refusal(ip_address(address), OPERATOR) == ""


@pytest.mark.parametrize("address", NEVER)
def test_nobody_names_a_link_local_or_metadata_address(address):
    for rules in (PAGE, ALLOWED_PAGE, OPERATOR):
        assert refusal(ip_address(address), rules)


def resolving_to(*addresses: str):
    """Every name stands for these addresses."""

    def look_up(host, port, *arguments, **options):
        families = [socket.AF_INET6 if ":" in one else socket.AF_INET for one in addresses]
        return [
            (family, socket.SOCK_STREAM, 6, "", (one, port))
            for family, one in zip(families, addresses, strict=True)
        ]

    return look_up


@pytest.mark.parametrize("inner", ["127.0.0.1", "::ffff:127.0.0.1", "169.254.169.254"])
def test_a_name_that_also_leads_inside_is_not_asked_at_all(double, monkeypatch, inner):
    monkeypatch.setattr(socket, "getaddrinfo", resolving_to("93.184.216.34", inner))
    line = Line(f"http://models.example:{double.server_address[1]}/v1", PAGE)
    with pytest.raises(AddressRefused, match=r"models\.example leads to"):
        OpenAICompatible(line, "toy").embed(["port"], 5)
    assert double.asked == []


def test_the_address_that_was_judged_is_the_one_connected_to(double, monkeypatch):
    """A name that changes between the two look-ups of a careless client is looked up once."""
    looked_up = []
    port = double.server_address[1]

    def look_up(host, *arguments, **options):
        looked_up.append(host)
        return real(host, *arguments, **options)

    real = resolving_to("127.0.0.1")
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    line = Line(f"http://models.example:{port}/v1", ALLOWED_PAGE)
    assert OpenAICompatible(line, "toy").embed(["port"], 5).shape == (1, 8)
    assert [host for host in looked_up if host == "models.example"] == ["models.example"]
    assert double.headers[0]["Host"] == f"models.example:{port}"


def test_when_one_address_of_a_name_is_closed_the_next_is_asked(double, monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", resolving_to("::1", "127.0.0.1"))
    line = Line(f"http://localhost:{double.server_address[1]}/v1", OPERATOR)
    assert OpenAICompatible(line, "toy").embed(["port"], 5).shape == (1, 8)


@pytest.mark.parametrize("spelled", ["2130706433", "0x7f.1", "127.1"])
def test_an_odd_spelling_of_this_machine_is_still_this_machine(spelled):
    line = Line(f"http://{spelled}/v1", PAGE)
    with pytest.raises(AddressRefused, match=r"127\.0\.0\.1"):
        OpenAICompatible(line, "toy").embed(["port"], 5)


def test_a_spelling_that_could_be_read_in_two_ways_is_not_asked():
    with pytest.raises(AddressRefused, match="none that can be asked"):
        OpenAICompatible(Line("http://0177.0.0.1/v1", PAGE), "toy").embed(["port"], 5)


@pytest.mark.parametrize(
    ("address", "wrong"),
    [
        ("local", ""),
        ("http://127.0.0.1:11434", ""),
        ("https://api.example/v1", ""),
        ("http://[::1]:8080/v1", ""),
        ("ftp://api.example/v1", "must be an address"),
        ("api.example/v1", "must be an address"),
        ("http://", "must be an address"),
        ("http://[::1", "is no address"),
        ("http://host:port/v1", "is no address"),
        ("https://me:secret@api.example/v1", "no password"),
        ("https://api.example/v1?key=1", "no query"),
        ("https://api.example/v 1", "no space"),
        ("https://api.example/" + "v" * 600, "must be an address"),
    ],
)
def test_an_address_is_taken_or_told_what_is_wrong_with_it(address, wrong):
    assert wrong in problem(address)
    assert bool(wrong) == bool(problem(address))


def test_no_model_is_guessed():
    assert "must name the model" in model_problem("http://127.0.0.1:11434", "")
    assert "can only be" in model_problem("local", "toy")
    assert model_problem("local", "") == model_problem("http://h/v1", "toy") == ""

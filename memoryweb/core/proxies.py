"""Who really asks: what a proxy says of its client is believed only of proxies that are named.

Everybody else could write these headers too, and would with them escape the throttled login, or
have links in pages lead elsewhere.
"""

from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address

from django.conf import settings
from django.http import HttpRequest, HttpResponse

Handler = Callable[[HttpRequest], HttpResponse]
HEADERS = ("FOR", "PROTO", "HOST", "PORT", "BY", "SERVER")


def behind_proxies(get_response: Handler) -> Handler:
    """Put the client's address, scheme and host where Django looks for them."""

    def middleware(request: HttpRequest) -> HttpResponse:
        said = {name: request.META.pop(f"HTTP_X_FORWARDED_{name}", "") for name in HEADERS}
        request.META.pop("HTTP_FORWARDED", None)
        if _trusted(request.META.get("REMOTE_ADDR", "")):
            believe(request, said["FOR"], said["PROTO"], said["HOST"])
        return get_response(request)

    return middleware


def believe(request: HttpRequest, addresses: str, scheme: str, host: str) -> None:
    """Take over what the trusted proxy says. Of a list its own word is the last."""
    request.META["REMOTE_ADDR"] = client(addresses) or request.META["REMOTE_ADDR"]
    if (last := _last(scheme).lower()) in ("http", "https"):
        request.META["wsgi.url_scheme"] = last
    if last := _last(host):
        request.META["HTTP_HOST"] = last


def client(addresses: str) -> str:
    """The nearest address that is no trusted proxy; "" when none can be told.

    Each proxy adds whom it heard from at the end, so what stands further left is hearsay.
    """
    nearest = ""
    for text in reversed(addresses.split(",")):
        address = _address(text.strip())
        if address is None:
            break
        nearest = str(address)
        if not _trusted(nearest):
            break
    return nearest


def _trusted(text: str) -> bool:
    address = _address(text)
    return address is not None and any(
        address in network for network in settings.MEMORYWEB_TRUSTED_PROXIES
    )


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """The address in `10.0.0.1:80`, `::1` or `[::1]:80`; one of IPv4 within IPv6 as IPv4."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _last(values: str) -> str:
    return values.rpartition(",")[2].strip()

"""One question to a provider over HTTP: bounded in time and size, and only where it may go.

The name is looked up, every address it has is judged, and the one that was judged is connected
to, so a name cannot lead elsewhere between the two. No redirect is followed, no proxy of the
environment is used.
"""

import socket
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import Any

import httpx

from search.embedding.addresses import Address, Rules, refusal
from search.embedding.answers import read_json
from search.embedding.problems import (
    AddressRefused,
    BadAnswer,
    Failed,
    NoSuchModel,
    ProviderError,
    RateLimited,
    Rejected,
    TextRejected,
    TimedOut,
    Unreachable,
)

CONNECT_SECONDS = 3.0
LONGEST_WAIT = 3600.0  # seconds of a Retry-After that are believed
# Refusals of the text: too large, not understood, too long for the model.
OF_TEXT = (400, 413, 422)


@dataclass(frozen=True)
class Line:
    """The way to one provider: its base address, who named it, and the key that opens it."""

    base: str
    rules: Rules
    key: str = field(default="", repr=False)
    _idle: list[httpx.Client] = field(default_factory=list, repr=False, compare=False)

    def post(self, path: str, body: Mapping[str, Any], *, seconds: float, most: int) -> Any:
        """The JSON that the provider answers, within `seconds` and `most` bytes.

        Raises a ProviderError. A lookup has no time limit of its own, so a thread does the work
        and is left behind when the time is up; it ends soon after, when its connection closes.
        """
        client = self._idle.pop() if self._idle else _client()
        asked = _Question(self, client, path, body, time.monotonic() + seconds, most)
        thread = threading.Thread(target=asked.run, name="provider", daemon=True)
        thread.start()
        thread.join(seconds)
        if thread.is_alive() or isinstance(asked.error, TimedOut):
            client.close()
            raise TimedOut(f"the provider gave no whole answer within {seconds:g} seconds")
        if asked.error is not None:
            client.close()
            raise asked.error
        self._idle.append(client)
        return read_json(asked.answer)


def _client() -> httpx.Client:
    """Certificates may be named by SSL_CERT_FILE; proxies and netrc are not looked at."""
    try:
        transport = httpx.HTTPTransport(trust_env=True)
    except OSError:
        raise Unreachable("the certificates that SSL_CERT_FILE names cannot be read") from None
    return httpx.Client(transport=transport, trust_env=False, follow_redirects=False)


@dataclass
class _Question:
    line: Line
    client: httpx.Client
    path: str
    body: Mapping[str, Any]
    deadline: float
    most: int
    answer: bytes = b""
    error: BaseException | None = None

    def run(self) -> None:
        try:
            self.answer = self._asked()
        except httpx.InvalidURL:
            self.error = AddressRefused("the provider's address is none that can be asked")
        except httpx.TimeoutException:
            self.error = TimedOut("the provider does not answer in time")
        except httpx.HTTPError as error:
            self.error = Unreachable(f"the provider cannot be reached: {_cause(error)}")
        except BaseException as error:
            self.error = error

    def _asked(self) -> bytes:
        """The body of the first address that a connection can be made to."""
        refused: httpx.ConnectError | None = None
        for request in self._requests():
            try:
                response = self.client.send(request, stream=True)
            except httpx.ConnectError as error:
                refused = error
                continue
            try:
                _judge(response)
                return self._read(response)
            finally:
                response.close()
        raise refused or Unreachable("the provider's name has no address")

    def _requests(self) -> Iterator[httpx.Request]:
        base = httpx.URL(self.line.base)
        headers = {b"Host": base.netloc, b"Accept-Encoding": b"identity"}
        if self.line.key:
            headers[b"Authorization"] = f"Bearer {self.line.key}".encode()
        for address in allowed_addresses(base, self.line.rules):
            yield self.client.build_request(
                "POST",
                base.copy_with(host=str(address), path=base.path.rstrip("/") + self.path),
                json=self.body,
                headers=headers,
                timeout=httpx.Timeout(self._left(), connect=min(CONNECT_SECONDS, self._left())),
                extensions={"sni_hostname": base.raw_host.decode()},
            )

    def _read(self, response: httpx.Response) -> bytes:
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise BadAnswer("the provider sent a packed answer though none was asked for")
        read = bytearray()
        for some in response.iter_raw():
            read += some
            if len(read) > self.most:
                raise BadAnswer(f"the provider's answer is larger than {self.most:,} bytes")
            self._left()
        return bytes(read)

    def _left(self) -> float:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimedOut("the provider's answer comes too slowly")
        return left


def allowed_addresses(base: httpx.URL, rules: Rules) -> list[Address]:
    """What the host's name stands for now. Raises AddressRefused when any of it may not be asked:
    a name with an inner and an outer address is not to be trusted with either."""
    port = base.port or (443 if base.scheme == "https" else 80)
    host = base.raw_host.decode()  # As it is sent; not every one has a form for people.
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise Unreachable(f"the name {host} cannot be looked up") from None
    addresses = [ip_address(str(place[0]).partition("%")[0]) for *_, place in found]
    for address in addresses:
        if why := refusal(address, rules):
            named = str(address) == host
            asked = f"{address} is" if named else f"{host} leads to {address}, which is"
            raise AddressRefused(f"{asked} not asked: {why}")
    return list(dict.fromkeys(addresses))


def _judge(response: httpx.Response) -> None:
    """Raise what a status other than 200 means."""
    status = response.status_code
    if status == 200:
        return
    wait = retry_after(response.headers.get("Retry-After"))
    if status == 429:
        raise RateLimited("the provider was asked too often (429)", wait)
    if status >= 500:
        raise Failed(f"the provider failed ({status})", wait)
    raise _rejected(status)


def _rejected(status: int) -> ProviderError:
    if status in (401, 403):
        return Rejected(f"the provider does not accept the key ({status})")
    if status == 404:
        return NoSuchModel(
            "the provider knows no such address or model (404); the base of an OpenAI-compatible "
            "one ends in /v1, Ollama's is its bare address"
        )
    if 300 <= status < 400:
        return Rejected(f"the provider sends elsewhere ({status}), which is not followed")
    if status in OF_TEXT:
        return TextRejected(f"the provider does not take the text or the request ({status})")
    return Rejected(f"the provider does not take the request ({status})")


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """The seconds that a Retry-After asks for, as a number or as a date (RFC 9110, 10.2.3)."""
    if not value:
        return None
    if value.strip().isascii() and value.strip().isdigit():
        seconds = float(value)
    else:
        try:
            moment = parsedate_to_datetime(value)
        except (TypeError, ValueError):
            return None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        seconds = (moment - (now or datetime.now(UTC))).total_seconds()
    return min(max(seconds, 0.0), LONGEST_WAIT)


def _cause(error: httpx.HTTPError) -> str:
    """What is wrong in a few words of ours; a library's may quote what was sent."""
    text = str(error).lower()
    if "certificate" in text or "ssl" in text:
        return "its certificate is not accepted, or it does not speak TLS"
    if isinstance(error, httpx.ConnectError):
        return "nobody answers at that address"
    return "the connection broke"

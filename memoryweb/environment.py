"""Settings read from the environment, strictly: a value that is not understood stops the start.

Every reader names the variable in its error, so the operator knows which line to mend.
"""

import math
import os
import secrets
from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from zoneinfo import ZoneInfo

from django.core.exceptions import ImproperlyConfigured

from search.embedding import addresses

IPNetwork = IPv4Network | IPv6Network
TRUE, FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}


def text(name: str, default: str, environ: Mapping[str, str] = os.environ) -> str:
    return environ.get(name, "").strip() or default


def flag(name: str, default: bool, environ: Mapping[str, str] = os.environ) -> bool:
    value = text(name, "1" if default else "0", environ).lower()
    if value not in TRUE | FALSE:
        raise ImproperlyConfigured(f"{name} must be 0 or 1, not {value!r}")
    return value in TRUE


def whole(
    name: str, default: int, *, least: int = 0, environ: Mapping[str, str] = os.environ
) -> int:
    value = text(name, str(default), environ)
    if not value.isascii() or not value.isdigit() or int(value) < least:
        raise ImproperlyConfigured(f"{name} must be a whole number from {least}, not {value!r}")
    return int(value)


def choice(
    name: str, default: str, allowed: set[str], environ: Mapping[str, str] = os.environ
) -> str:
    value = text(name, default, environ).lower()
    if value not in allowed:
        raise ImproperlyConfigured(f"{name} must be one of {sorted(allowed)}, not {value!r}")
    return value


def listed(name: str, default: list[str], environ: Mapping[str, str] = os.environ) -> list[str]:
    """Comma-separated values, blanks dropped."""
    return [v.strip() for v in environ.get(name, "").split(",") if v.strip()] or default


def networks(name: str, environ: Mapping[str, str] = os.environ) -> list[IPNetwork]:
    """Comma-separated addresses and networks, such as `127.0.0.1, 10.0.0.0/8`."""
    found = []
    for value in listed(name, [], environ):
        try:
            found.append(ip_network(value))
        except ValueError as error:
            raise ImproperlyConfigured(f"{name}: {error}") from error
    return found


def origins(name: str, environ: Mapping[str, str] = os.environ) -> list[str]:
    """Comma-separated origins; Django takes one with a wildcard host as well."""
    found = listed(name, [], environ)
    for value in found:
        if not value.startswith(("https://", "http://")):
            raise ImproperlyConfigured(
                f"{name} must be origins, such as https://memory.example, not {value!r}"
            )
    return found


def folder(name: str, default: Path, environ: Mapping[str, str] = os.environ) -> Path:
    value = environ.get(name, "").strip()
    return Path(value).expanduser().absolute() if value else default.absolute()


def zone(name: str, environ: Mapping[str, str] = os.environ) -> str:
    """An IANA time zone, the system's own by default: notes are named after the local day."""
    value = text(name, system_zone(), environ)
    try:
        ZoneInfo(value)
    except (KeyError, OSError, ValueError) as error:
        raise ImproperlyConfigured(f"{name} must be an IANA time zone, not {value!r}") from error
    return value


def system_zone(localtime: Path = Path("/etc/localtime")) -> str:
    _, found, name = str(localtime.resolve()).partition("zoneinfo/")
    return name if found else "UTC"


def secret_key(name: str, file: Path, environ: Mapping[str, str] = os.environ) -> str:
    """The signing key: from the environment, else `file`, made once with mode 0600.

    Two first starts may race: the key is written aside and linked into place, so the
    loser reads the winner's whole key.
    """
    if value := environ.get(name, "").strip():
        if len(value) < 32:
            raise ImproperlyConfigured(f"{name} must have at least 32 characters")
        return value
    try:
        if not file.exists():
            _make_key(file)
        key = file.read_text().strip()
    except OSError as error:
        raise ImproperlyConfigured(f"the key {file} cannot be made or read: {error}") from error
    if len(key) < 32:
        raise ImproperlyConfigured(f"{file} holds no key; remove it to have a new one made")
    return key


def _make_key(file: Path) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    draft.touch(mode=0o600, exist_ok=False)
    draft.write_text(secrets.token_urlsafe(50))
    try:
        file.hardlink_to(draft)
    except FileExistsError:
        pass  # Another process was first; its key counts.
    finally:
        draft.unlink()


def seconds(
    name: str,
    default: float,
    *,
    least: float,
    most: float,
    environ: Mapping[str, str] = os.environ,
) -> float:
    value = text(name, str(default), environ)
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not least <= number <= most:  # NaN is in no range.
        raise ImproperlyConfigured(
            f"{name} must be seconds from {least:g} to {most:g}, not {value!r}"
        )
    return number


def provider(name: str, environ: Mapping[str, str] = os.environ) -> str:
    """The address of an embedding provider, `local` for the one in the process, "" for none."""
    value = text(name, "", environ)
    if value and (wrong := addresses.problem(value)):
        raise ImproperlyConfigured(f"{name} {wrong}")
    return addresses.plain(value)


def provider_model(name: str, address: str, environ: Mapping[str, str] = os.environ) -> str:
    """The model to ask the provider at `address` for: one over HTTP has many, none is guessed."""
    value = text(name, "", environ)
    if address and (wrong := addresses.model_problem(address, value)):
        raise ImproperlyConfigured(f"{name} {wrong}")
    return value

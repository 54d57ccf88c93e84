"""API tokens and one-time links: made, shown once, found again by their hash, revoked."""

import hashlib
import hmac
import re
import secrets
from datetime import datetime, timedelta

from django.db import DatabaseError
from django.db.models import QuerySet
from django.utils import timezone

from memoryweb.core import clock, people
from memoryweb.core.actor import SCOPES, Actor, Role
from memoryweb.core.errors import Invalid, NotFound
from memoryweb.core.models import ApiToken, SetupLink, User
from memoryweb.core.sqlite.base import writing_at_once

FORM = re.compile(r"mw_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
SETUP_LINK_LIFE = timedelta(hours=24)
LAST_USED_GRAIN = timedelta(minutes=1)


def issue(
    actor: Actor, name: str, scope: str, agent_id: str = "", expires_at: datetime | None = None
) -> tuple[ApiToken, str]:
    """A new token and its text, which cannot be had again. Raises Invalid, Forbidden."""
    actor.require(Role.ADMINISTRATOR)
    if not name.strip() or len(name) > 100:
        raise Invalid.field("name", "give the token a name of 1 to 100 characters")
    for field, value in (("name", name), ("agent_id", agent_id)):
        if not value.isprintable():
            raise Invalid.field(field, "has a character that nobody sees")
    if scope not in SCOPES:
        raise Invalid.field("scope", "must be read, write or admin")
    if len(agent_id) > 200:
        raise Invalid.field("agent_id", "must have at most 200 characters")
    if expires_at is not None and expires_at <= timezone.now():
        raise Invalid.field("expires_at", "must lie in the future")
    key, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    with clock.writing(actor) as tx:
        token = ApiToken.objects.create(
            key=key,
            secret_hash=_hash(secret),
            name=name.strip(),
            scope=scope,
            agent_id=agent_id.strip(),
            created_by=str(actor),
            expires_at=expires_at,
        )
        tx.audited("token.create", f"tokens/{key}", scope=scope, agent_id=agent_id)
    return token, f"mw_{key}_{secret}"


def find(text: str) -> ApiToken | None:
    """The live token with this text, or None; its last use is noted to the minute."""
    match = FORM.fullmatch(text)
    if match is None:
        return None
    key, secret = match.groups()
    token = ApiToken.objects.filter(key=key, revoked_at=None).first()
    if token is None or not hmac.compare_digest(token.secret_hash, _hash(secret)):
        return None
    now = timezone.now()
    if token.expires_at is not None and token.expires_at <= now:
        return None
    if token.last_used_at is None or now - token.last_used_at > LAST_USED_GRAIN:
        _note_use(token, now)
    return token


def _note_use(token: ApiToken, now: datetime) -> None:
    """Note it if nobody writes just now; a later request tries again. It never fails."""
    try:
        with writing_at_once() as may_write:
            if may_write:
                ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    except DatabaseError:
        pass  # A full disk or a read-only one keeps nobody from reading.


def revoke(actor: Actor, key: str) -> None:
    """End a token; every worker refuses it from its next request. Raises NotFound."""
    actor.require(Role.ADMINISTRATOR)
    with clock.writing(actor) as tx:
        live = ApiToken.objects.filter(key=key, revoked_at=None)
        if not live.update(revoked_at=timezone.now()):
            raise NotFound("there is no such live token")
        tx.audited("token.revoke", f"tokens/{key}")


def make_setup_link(actor: Actor) -> str:
    """The secret of a one-time link that makes an administrator, good for a day."""
    secret = secrets.token_urlsafe(32)
    with clock.writing(actor) as tx:
        SetupLink.objects.create(
            secret_hash=_hash(secret), expires_at=timezone.now() + SETUP_LINK_LIFE
        )
        tx.audited("setup_link.create", "people")
    return secret


def setup_link_is_open(secret: str) -> bool:
    return _open_links(secret).exists()


def use_setup_link(actor: Actor, secret: str, user: User) -> User:
    """Make `user` an administrator by the link. Raises NotFound when used up, Invalid."""
    user.role = User.RoleName.ADMINISTRATOR
    with clock.writing(actor) as tx:
        if not _open_links(secret).update(used_at=timezone.now()):
            raise NotFound("this link was used already, or it has expired")
        people.refuse_taken(user.username)
        user.save()
        tx.audited("person.create", f"people/{user.username}", role=user.role, by="setup link")
    return user


def _open_links(secret: str) -> QuerySet[SetupLink]:
    return SetupLink.objects.filter(
        secret_hash=_hash(secret), used_at=None, expires_at__gt=timezone.now()
    )


def _hash(secret: str) -> str:
    # The secrets have 256 random bits: a plain hash is as hard to invert as a slow one.
    return hashlib.sha256(secret.encode()).hexdigest()

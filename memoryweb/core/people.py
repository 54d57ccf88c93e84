"""People and their roles."""

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from memoryweb.core import clock
from memoryweb.core.actor import Actor, Role
from memoryweb.core.errors import Invalid, NotFound
from memoryweb.core.models import User

# Letters to Unicode, so a name may have them, but blank; names are in NFKC, which knows two.
_UNSEEN = frozenset("\u115f\u1160")


def add(actor: Actor, username: str, password: str, role: str) -> User:
    """A new person. Raises Forbidden, Invalid."""
    actor.require(Role.ADMINISTRATOR)
    user = prepared(username, password)
    user.role = _known(role)
    with clock.writing(actor) as tx:
        refuse_taken(user.username)
        user.save()
        tx.audited("person.create", f"people/{user.username}", role=role)
    return user


def prepared(username: str, password: str) -> User:
    """An unsaved person whose name and password pass every rule. Raises Invalid."""
    user = User(username=User.normalize_username(username.strip()))
    try:
        user.clean_fields(exclude=["password"])
    except ValidationError as error:
        raise Invalid.field("username", " ".join(error.messages)) from error
    if user.username in (".", ".."):
        raise Invalid.field("username", "means another place in an address; take another name")
    if _UNSEEN & set(user.username):
        raise Invalid.field("username", "has a letter that nobody sees")
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise Invalid.field("password", " ".join(error.messages)) from error
    user.set_password(password)
    return user


def refuse_taken(username: str) -> None:
    """Raise Invalid when somebody has this name, in whatever case; inside `clock.writing`."""
    wanted = username.casefold()
    for taken in User.objects.values_list("username", flat=True).iterator():
        if taken == username:
            raise Invalid.field("username", "this name is taken")
        if taken.casefold() == wanted:
            raise Invalid.field("username", f"is too much like the name {taken}")


def change(
    actor: Actor, username: str, *, role: str | None = None, active: bool | None = None
) -> None:
    """Give a person another role, or close or open the account. Raises NotFound, Invalid."""
    actor.require(Role.ADMINISTRATOR)
    with clock.writing(actor) as tx:
        user = User.objects.filter(username=username).first()
        if user is None:
            raise NotFound("there is no such person")
        user.role = user.role if role is None else _known(role)
        user.is_active = user.is_active if active is None else active
        user.save()
        if not User.objects.filter(role=User.RoleName.ADMINISTRATOR, is_active=True).exists():
            raise Invalid.field("role", "this is the last administrator; make another one first")
        tx.audited("person.change", f"people/{username}", role=user.role, active=user.is_active)


def set_password(actor: Actor, user: User, password: str) -> None:
    """Give a person another password, which has passed the rules, and change nothing else."""
    user.set_password(password)
    with clock.writing(actor) as tx:
        user.save(update_fields=["password"])
        tx.audited("person.password", f"people/{user.username}")


def _known(role: str) -> str:
    if role not in User.RoleName.values:
        raise Invalid.field("role", f"must be one of {', '.join(User.RoleName.values)}")
    return role

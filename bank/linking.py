"""What pages are found by, and which page a wikilink leads to: the rows of labels and links.

A target is looked up among the labels of all pages: by the path of an imported file, by name, by
a former name, by title, by alias; the first that fits. Case does not matter, and in names spaces
and hyphens are one, because `Alice Chen` is filed as `alice-chen`. Of several that fit one rule
an entity comes first, then the shortest name.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from django.db.models import Q

from bank import names
from bank.links import name_key, tails
from bank.models import Kind, Label, Link, Page

KEY_LENGTH = 400
_CHUNK = 500  # Values in one query.
_FOUND_BY = (
    Label.Role.NAME,
    Label.Role.FILE,
    Label.Role.FORMER,
    Label.Role.TITLE,
    Label.Role.ALIAS,
)
T = TypeVar("T")
Labelled = tuple[str, str, str]  # role, key, text


@dataclass(frozen=True, slots=True, order=True)
class Candidate:
    """A page that a target may mean; the least of several is taken."""

    rank: tuple[bool, bool, int]
    name: str
    kind: str
    page: int


# Keys


def base_key(target: str) -> str:
    """What a target and the name of the page have in common, folders left out."""
    return name_key(target).rpartition("/")[2][:KEY_LENGTH]


def words_key(target: str) -> str:
    """What a target has in common with the title or alias that it quotes."""
    return names.key(target.strip())[:KEY_LENGTH]


def file_keys(path: str) -> set[str]:
    """By which a page is found that was imported from this path: each end of it."""
    return {tail[:KEY_LENGTH] for tail in tails(name_key(path))}


def _path_key(target: str) -> str:
    """The key of a target that names folders; empty for one that does not."""
    path = name_key(target)
    return path[:KEY_LENGTH] if "/" in path else ""


# Where targets lead


def candidates(targets: Iterable[str]) -> dict[str, list[Candidate]]:
    """For each target that leads anywhere every page that it fits equally well, the best first."""
    tried = {target: _tried(target) for target in targets}
    keys = {key for rules in tried.values() for _, key in rules if key}
    labelled = _labelled(keys)
    found = {}
    for target, rules in tried.items():
        for roles, key in rules:
            fitting = {one.page: one for role in roles[::-1] for one in labelled[role, key]}
            if fitting:
                found[target] = sorted(fitting.values())
                break
    return found


def _tried(target: str) -> list[tuple[tuple[Label.Role, ...], str]]:
    """The labels that a target is looked up among, and by which key, in order."""
    name, words = base_key(target), words_key(target)
    return [
        ((Label.Role.FILE,), _path_key(target)),
        ((Label.Role.NAME, Label.Role.FILE), name),
        ((Label.Role.FORMER,), name),
        ((Label.Role.TITLE,), words),
        ((Label.Role.ALIAS,), words),
    ]


def _labelled(keys: Collection[str]) -> dict[tuple[str, str], list[Candidate]]:
    """The pages that have a label of this role and key."""
    found: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
    columns = ("role", "key", "page__kind", "page__name", "page_id")
    for some in _chunks(sorted(keys)):
        rows = Label.objects.filter(key__in=some, role__in=_FOUND_BY)
        for role, key, kind, name, page in rows.values_list(*columns):
            rank = (role != Label.Role.NAME, kind != Kind.ENTITY, len(name))
            found[role, key].append(Candidate(rank, name, kind, page))
    return found


# Writing; inside a transaction


def settle(pages: Sequence[tuple[Page, set[Labelled], list[Link]]]) -> None:
    """Bring the labels and links of these pages up to date, and where all others lead.

    Each page comes with the labels and the unsaved links that its text gives it. The number of
    queries does not depend on how many pages there are.
    """
    renamed = _relabel({page.pk: labels for page, labels, _ in pages})
    _lead_again(renamed)
    _relink({page.pk: links for page, _, links in pages})


def _relabel(wanted: dict[int, set[Labelled]]) -> set[str]:
    """Give each page these labels; the keys by which any is newly found, or no more."""
    stored = _stored_labels(wanted)
    gone = {label: pk for label, pk in stored.items() if label[1] not in wanted[label[0]]}
    new = [
        (page, label)
        for page, labels in wanted.items()
        for label in sorted(labels)
        if (page, label) not in stored
    ]
    for some in _chunks(gone.values()):
        Label.objects.filter(pk__in=some).delete()
    Label.objects.bulk_create(
        (Label(page_id=page, role=role, key=key, text=text) for page, (role, key, text) in new),
        batch_size=_CHUNK,
    )
    return {key for _, (role, key, _) in [*gone, *new] if role in _FOUND_BY}


def _stored_labels(pages: Collection[int]) -> dict[tuple[int, Labelled], int]:
    rows = Label.objects.filter(page__in=pages)
    columns = ("page_id", "role", "key", "text", "pk")
    return {
        (page, (role, key, text)): pk for page, role, key, text, pk in rows.values_list(*columns)
    }


def _relink(wanted: dict[int, list[Link]]) -> None:
    """Give each page these links, in their order."""
    stored: dict[int, list[str]] = defaultdict(list)
    rows = Link.objects.filter(source__in=wanted).order_by("pk")
    for page, target in rows.values_list("source_id", "target"):
        stored[page].append(target)
    changed = {
        page: links
        for page, links in wanted.items()
        if stored[page] != [link.target for link in links]
    }
    Link.objects.filter(source__in=[page for page in changed if stored[page]]).delete()
    new = [link for links in changed.values() for link in links]
    leads = candidates({link.target for link in new})
    for page, links in changed.items():
        for link in links:
            link.source_id = page
            link.to_id, link.candidates = _lead(leads.get(link.target, []))
    Link.objects.bulk_create(new, batch_size=_CHUNK)


def _lead_again(keys: Collection[str]) -> None:
    """Point the links that any of these keys may concern to where they lead now."""
    for some in _chunks(sorted(keys)):
        concerned = Link.objects.filter(Q(name_key__in=some) | Q(words_key__in=some))
        rows = list(concerned.values_list("pk", "target", "to_id", "candidates"))
        leads = candidates({target for _, target, _, _ in rows})
        moved: dict[tuple[int | None, int], list[int]] = defaultdict(list)
        for pk, target, *now in rows:
            if (lead := _lead(leads.get(target, []))) != tuple(now):
                moved[lead].append(pk)
        for (to, count), links in moved.items():
            for part in _chunks(links):
                Link.objects.filter(pk__in=part).update(to=to, candidates=count)


def _lead(found: Sequence[Candidate]) -> tuple[int | None, int]:
    return (found[0].page if found else None), len(found)


def _chunks(values: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(values)
    while some := list(islice(rest, _CHUNK)):
        yield some

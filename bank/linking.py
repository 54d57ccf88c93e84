"""What pages are found by, and which page a wikilink leads to: the rows of labels and links.

A target is looked up among the labels of all pages: by the path of an imported file, by name, by
a former name, by title, by alias; the first that fits. Case does not matter, and in names spaces
and hyphens are one, because `Alice Chen` is filed as `alice-chen`. Of several that fit one rule
an entity comes first, then the shortest name.

A wiki's links lead to its own pages, and its keys begin with its id. There a target is first the
whole ref, exactly and then in any case, then the end of one, and of several that fit the one in
the fewest folders is taken.

While links are rewritten to follow a renamed page (see bank.rewriting), those that still say its
old name go on leading to it, whatever page has that name by now.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.db.models import Q

from bank import names, refs
from bank.links import name_key, path_of, tails
from bank.models import Kind, Label, Link, Page, Rewriting
from memoryweb.core.chunks import chunks

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

    rank: tuple[bool, bool, int, int]
    name: str
    kind: str
    page: int


# Keys; `wiki` is "" for the bank


def base_key(target: str, wiki: str = "") -> str:
    """What a target and the name of the page have in common, folders left out."""
    return scoped(name_key(target).rpartition("/")[2], wiki)


def words_key(target: str, wiki: str = "") -> str:
    """What a target has in common with the title or alias that it quotes."""
    return scoped(names.key(target.strip()), wiki)


def file_keys(path: str, wiki: str = "") -> set[str]:
    """By which a page is found that lies at this path, or was imported from it: each end of it."""
    return {scoped(tail, wiki) for tail in tails(name_key(path))}


def whole_key(target: str, wiki: str = "") -> str:
    """What a target has in common with the whole path that it names."""
    return scoped(name_key(target), wiki)


def scoped(key: str, wiki: str) -> str:
    """A key as one of this wiki; nothing is found by none."""
    # No target holds a line end, and whose pages they are is asked all the same.
    return f"\n{wiki}\n{key}"[:KEY_LENGTH] if wiki and key else key[:KEY_LENGTH]


def said(name: str, wiki: str = "") -> str:
    """What links say of a page of this name: in a wiki its ref alone."""
    return refs.split(name)[1] if wiki else name


# Where targets lead


def candidates(targets: Iterable[str], wiki: str = "") -> dict[str, list[Candidate]]:
    """For each target that leads anywhere every page that it fits equally well, the best first."""
    tried = {target: _tried(target, wiki) for target in targets}
    keys = {key for rules in tried.values() for _, key in rules if key}
    labelled = _labelled(keys, wiki)
    found = {}
    for target, rules in tried.items():
        for roles, key in rules:
            fitting = {one.page: one for role in roles[::-1] for one in labelled[role, key]}
            if fitting:
                found[target] = _exact(target, wiki, sorted(fitting.values()))
                break
    return found


def _exact(target: str, wiki: str, fitting: list[Candidate]) -> list[Candidate]:
    """The page that the target names letter by letter, if there is one; else all."""
    name = f"{wiki}/{path_of(target)}"
    return [one for one in fitting if wiki and one.name == name] or fitting


def _tried(target: str, wiki: str) -> list[tuple[tuple[Label.Role, ...], str]]:
    """The labels that a target is looked up among, and by which key, in order."""
    path, name = whole_key(target, wiki), base_key(target, wiki)
    words = words_key(target, wiki)
    in_folders = path != name
    first = (Label.Role.NAME,) if wiki else (Label.Role.FILE,)
    return [
        (first, path if wiki or in_folders else ""),
        ((Label.Role.FILE,), path if wiki else ""),
        ((Label.Role.NAME, Label.Role.FILE), name),
        ((Label.Role.FORMER,), path if wiki else ""),
        ((Label.Role.FORMER,), name),
        ((Label.Role.TITLE,), words),
        ((Label.Role.ALIAS,), words),
    ]


def _labelled(keys: Collection[str], wiki: str) -> dict[tuple[str, str], list[Candidate]]:
    """The pages that have a label of this role and key."""
    found: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
    columns = ("role", "key", "page__kind", "page__name", "page_id")
    for some in chunks(sorted(keys), _CHUNK):
        rows = Label.objects.filter(key__in=some, role__in=_FOUND_BY, page__wiki=wiki or None)
        for role, key, kind, name, page in rows.values_list(*columns):
            rank = (role != Label.Role.NAME, kind != Kind.ENTITY, name.count("/"), len(name))
            found[role, key].append(Candidate(rank, name, kind, page))
    return found


# Links that wait to be rewritten

Awaited = tuple[int, str]  # The renamed page, and the key of its old name.


def awaited(pages: Iterable[int | None]) -> set[Awaited]:
    """Of these pages, where they are there, the old names which links to them still say.

    Of these alone: after a folder was renamed thousands of others have some.
    """
    found = set()
    for some in chunks(sorted({page for page in pages if page is not None}), _CHUNK):
        rows = Rewriting.objects.filter(page__in=some, page__archived_at=None)
        for page, wiki, old in rows.values_list("page_id", "page__wiki_id", "old"):
            found.add((page, base_key(said(old, wiki or ""), wiki or "")))
    return found


def led_by_old_name(source: Page) -> dict[str, Page]:
    """By target the pages that links of this text lead to until they are rewritten."""
    links = (
        source.links.filter(to__rewritings__isnull=False).select_related("to").defer("to__content")
    )
    waiting = awaited(link.to_id for link in links)
    return {
        link.target: link.to for link in links if link.to and (link.to_id, link.name_key) in waiting
    }


# Writing; inside a transaction


def settle(pages: Sequence[tuple[Page, set[Labelled], list[Link]]]) -> None:
    """Bring the labels and links of these pages up to date, and where all others lead.

    Each page comes with the labels and the unsaved links that its text gives it. The number of
    queries does not depend on how many pages there are.
    """
    renamed = _relabel({page.pk: labels for page, labels, _ in pages})
    _lead_again(renamed)
    wikis = {page.pk: page.wiki_id or "" for page, _, _ in pages}
    _relink({page.pk: links for page, _, links in pages}, wikis)


def lead_by_name(name: str, wiki: str = "") -> None:
    """Point the links that say this name to where it leads now."""
    _lead_again({base_key(said(name, wiki), wiki)})


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
    for some in chunks(gone.values(), _CHUNK):
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


def _relink(wanted: dict[int, list[Link]], wikis: dict[int, str]) -> None:
    """Give each page these links, in their order."""
    stored: dict[int, list[str]] = defaultdict(list)
    kept: dict[tuple[int, str], tuple[int, int]] = {}
    columns = ("source_id", "target", "to_id", "name_key", "candidates")
    rows = list(Link.objects.filter(source__in=wanted).order_by("pk").values_list(*columns))
    waiting = awaited(to for _, _, to, _, _ in rows)
    for page, target, to, key, count in rows:
        stored[page].append(target)
        if (to, key) in waiting:
            kept[page, target] = (to, count)
    changed = {
        page: links
        for page, links in wanted.items()
        if stored[page] != [link.target for link in links]
    }
    Link.objects.filter(source__in=[page for page in changed if stored[page]]).delete()
    new = [link for links in changed.values() for link in links]
    leads = _leads((wikis[page], link.target) for page, links in changed.items() for link in links)
    for page, links in changed.items():
        for link in links:
            link.source_id = page
            lead = leads[wikis[page], link.target]
            link.to_id, link.candidates = kept.get((page, link.target), lead)
    Link.objects.bulk_create(new, batch_size=_CHUNK)


def _lead_again(keys: Collection[str]) -> None:
    """Point the links that any of these keys may concern to where they lead now."""
    for some in chunks(sorted(keys), _CHUNK):
        concerned = Link.objects.filter(Q(name_key__in=some) | Q(words_key__in=some))
        columns = ("pk", "source__wiki_id", "target", "name_key", "to_id", "candidates")
        every = list(concerned.values_list(*columns))
        waiting = awaited(row[4] for row in every)
        rows = [row for row in every if (row[4], row[3]) not in waiting]
        leads = _leads((wiki or "", target) for _, wiki, target, *_ in rows)
        moved: dict[tuple[int | None, int], list[int]] = defaultdict(list)
        for pk, wiki, target, _, *now in rows:
            if (lead := leads[wiki or "", target]) != tuple(now):
                moved[lead].append(pk)
        for (to, count), links in moved.items():
            for part in chunks(links, _CHUNK):
                Link.objects.filter(pk__in=part).update(to=to, candidates=count)


def _leads(targets: Iterable[tuple[str, str]]) -> dict[tuple[str, str], tuple[int | None, int]]:
    """The page that each target of a wiki leads to, and how many it fits equally well."""
    by_wiki: dict[str, set[str]] = defaultdict(set)
    for wiki, target in targets:
        by_wiki[wiki].add(target)
    leads: dict[tuple[str, str], tuple[int | None, int]] = {}
    for wiki, some in by_wiki.items():
        found = candidates(some, wiki)
        for target in some:
            fitting = found.get(target, [])
            leads[wiki, target] = (fitting[0].page if fitting else None), len(fitting)
    return leads

"""What is read from a page's text: its title and abstract, what it is found by, where it links."""

from dataclasses import dataclass, replace
from functools import cached_property

from bank import linking, links, markdown, refs
from bank.files import sha256
from bank.models import Kind, Label, Link, Page

LINKS_LIMIT = 1_000  # Different targets of one page that are kept as links.
TITLE_LENGTH = 200
STUB_LENGTH = 40  # Characters that are no white space; what has fewer is a stub.


@dataclass(frozen=True)
class Text:
    """A page's text with what is read from it; the sha is of its bytes in the file.

    `origin` and `former_names` are those of the page, which is found by them too.
    """

    kind: Kind
    name: str
    content: str
    origin: str = ""
    former_names: tuple[str, ...] = ()

    def of(self, page: Page) -> "Text":
        """The text as this page's."""
        known = (page.origin, tuple(page.former_names))
        if (self.origin, self.former_names) == known:
            return self
        return replace(self, origin=page.origin, former_names=known[1])

    @cached_property
    def data(self) -> bytes:
        return self.content.encode()

    @cached_property
    def sha256(self) -> str:
        return sha256(self.data)

    @cached_property
    def read(self) -> markdown.PageText:
        given = "" if self.former_names else self.file_name  # A name given here comes after it.
        own = refs.base(self.ref) if self.wiki else self.name
        return markdown.read(self.content, (given or own)[:TITLE_LENGTH])

    @property
    def wiki(self) -> str:
        """The wiki whose page it is, "" for the bank."""
        return refs.split(self.name)[0] if self.kind == Kind.WIKI else ""

    @property
    def ref(self) -> str:
        """What the page of a wiki is called in it."""
        return refs.split(self.name)[1] if self.kind == Kind.WIKI else self.name

    @property
    def file_name(self) -> str:
        """What the file was called that the page was imported from."""
        return " ".join(self.origin.rpartition("/")[2].split())

    @cached_property
    def aliases(self) -> tuple[str, ...]:
        """Those of the text, and the file's name where the page's could not be the same."""
        if linking.base_key(self.file_name) in ("", linking.base_key(self.name)):
            return self.read.aliases
        return tuple(dict.fromkeys((*self.read.aliases, self.file_name)))

    @cached_property
    def links(self) -> list[Link]:
        """One unsaved Link for each different target, in the order of the text."""
        targets = dict.fromkeys(link.target for link in links.extract(self.read.front.body))
        return [
            Link(
                target=target,
                name_key=linking.base_key(target, self.wiki),
                words_key=linking.words_key(target, self.wiki),
            )
            for target in [*targets][: LINKS_LIMIT + 1]
        ]

    @property
    def kept_links(self) -> list[Link]:
        """Those that are stored: a page may have far more."""
        return self.links[:LINKS_LIMIT]

    @cached_property
    def labels(self) -> set[linking.Labelled]:
        """(role, key, text) of everything that the page is found by."""
        role, wiki = Label.Role, self.wiki
        path = self.ref if wiki else self.origin.partition("/")[2]
        name = linking.whole_key(self.ref, wiki)
        found = {(role.NAME, name, self.ref)}
        found |= {(role.FILE, key, path) for key in linking.file_keys(path, wiki) - {name, ""}}
        for what, words in (
            (role.TITLE, [self.read.title]),
            (role.ALIAS, self.aliases),
            (role.TAG, self.read.tags),
        ):
            found |= {(what, linking.words_key(one, wiki), one) for one in words}
        for old in self.former_names:
            old = refs.split(old)[1] if wiki else old
            found |= {(role.FORMER, key, old) for key in linking.file_keys(old, wiki)}
        found |= {(role.LINT, linking.scoped(lack, wiki), self.ref) for lack in self.lacks}
        return {(role.value, key, text[:200]) for role, key, text in found}

    @cached_property
    def lacks(self) -> list[str]:
        """What lint shows of the text itself; a note needs no title and no length."""
        if self.kind not in (Kind.ENTITY, Kind.WIKI):
            return []
        lines = (line for line in self.read.front.body.split("\n") if not line.startswith("#"))
        length = sum(len(word) for line in lines for word in line.split())
        return ["no_title"] * ("no_title" in self.read.flags) + ["stub"] * (length < STUB_LENGTH)

    @cached_property
    def flags(self) -> list[str]:
        shape = () if self.kind == Kind.ENTITY else ("no_title", "no_summary")
        flags = [flag for flag in self.read.flags if flag not in shape]
        return flags + ["too_many_links"] * (len(self.links) > LINKS_LIMIT)

    def columns(self) -> dict[str, object]:
        return {
            "content": self.content,
            "sha256": self.sha256,
            "title": self.read.title,
            "abstract": self.read.abstract,
            "tags": list(self.read.tags),
            "aliases": list(self.aliases),
            "front_matter": self.read.front.data or {},
        }

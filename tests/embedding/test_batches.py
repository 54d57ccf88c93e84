"""A batch from a provider that may fail: tried again with pauses, then text by text."""

import numpy as np
import pytest

from search.embedding import batches
from search.embedding.asking import Line
from search.embedding.batches import embedded
from search.embedding.problems import BadVector, Failed, RateLimited, Rejected, TextRejected
from search.embedding.providers import OpenAICompatible
from tests.embedding import double as doubles
from tests.embedding.double import vector_of
from tests.embedding.test_providers import OPERATOR


@pytest.fixture
def toy(double):
    return OpenAICompatible(Line(f"{double.url}/v1", OPERATOR), "toy")


@pytest.fixture
def waited(monkeypatch):
    monkeypatch.setattr(batches, "PAUSES", (0.5, 1.0, 2.0))
    return []


def kinds(answers):
    return [type(one) if isinstance(one, Exception) else "vector" for one in answers]


def test_a_failure_that_passes_costs_a_pause_and_nothing_else(double, toy, waited):
    double.behave = doubles.fails_times(2)
    answers = embedded(toy, ["port", "ship"], waited.append)
    assert waited == [0.5, 1.0]
    assert np.allclose(answers[1], vector_of("ship"))


def test_one_that_stays_is_the_error_of_each_text(double, toy, waited):
    double.behave = doubles.sends({}, 500)
    assert kinds(embedded(toy, ["port", "ship"], waited.append)) == [Failed, Failed]
    assert waited == [0.5, 1.0, 2.0]
    assert len(double.asked) == 4


def test_a_provider_says_how_long_to_wait_up_to_a_minute(double, toy, waited):
    double.behave = doubles.sends({}, 429, Retry_After="7")
    assert kinds(embedded(toy, ["port"], waited.append)) == [RateLimited]
    assert waited == [7.0, 7.0, 7.0]
    double.behave = doubles.sends({}, 429, Retry_After="600")
    embedded(toy, ["port"], waited.append)
    assert waited[3:] == [60.0, 60.0, 60.0]


def test_a_refusal_that_stays_is_not_tried_again(double, toy, waited):
    double.behave = doubles.sends({}, 401)
    assert kinds(embedded(toy, ["port", "ship"], waited.append)) == [Rejected, Rejected]
    assert (waited, len(double.asked)) == ([], 1)


def test_a_text_that_is_refused_spoils_no_other(double, toy, waited):
    def too_long(handler, body):
        if any(len(text) > 100 for text in body["input"]):
            handler.answer({}, 413)
            return True
        return False

    double.behave = too_long
    answers = embedded(toy, ["port", "x" * 200, "ship"], waited.append)
    assert kinds(answers) == ["vector", TextRejected, "vector"]
    assert np.allclose(answers[2], vector_of("ship"))


def test_a_vector_that_cannot_be_used_spoils_no_other(double, toy, waited):
    def zero_for_bread(good):
        return {
            **good,
            "data": [
                {**item, "embedding": [0.0] * 8} if text == "bread" else item
                for item, text in zip(good["data"], double.asked[-1]["input"], strict=True)
            ],
        }

    double.behave = doubles.changes(zero_for_bread)
    assert kinds(embedded(toy, ["port", "bread"], waited.append)) == ["vector", BadVector]

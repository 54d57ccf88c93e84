"""The rules themselves: what each must find, what all must leave alone, and their language."""

import re
import subprocess
import sys
from textwrap import dedent

import pytest

from memoryweb.core.guard import RULES_VERSION, scan
from memoryweb.core.guard.phrases import lines, parsed
from memoryweb.core.guard.rule import Rule
from memoryweb.core.guard.rulebook import RULEBOOKS
from memoryweb.core.guard.rules import CLASSES, RULES

KINDS = {
    "instruction-override",
    "role-hijack",
    "conceal-from-user",
    "credential-exfil",
    "image-beacon",
    "tool-coercion",
}


def rules_found(text: str, posture: str = "injected") -> set[str]:
    return {finding.rule for finding in scan(text, posture=posture)}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_finds_its_examples_in_every_posture_in_which_it_counts(rule: Rule) -> None:
    assert rule.examples
    for posture in rule.postures:
        for text in rule.examples:
            assert rule.id in rules_found(text, posture), text


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_no_rule_finds_what_a_rule_lets_pass(rule: Rule) -> None:
    assert rule.passes
    for text in rule.passes:
        assert scan(text) == [], text


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_finds_the_plainest_wording_of_each_of_its_phrases(rule: Rule) -> None:
    for phrase in lines(rule.phrases):
        assert rule.id in rules_found(plainest(phrase)), phrase


def plainest(phrase: str) -> str:
    """The first word of every item, with nothing in the gaps."""
    words = []
    for item in re.findall(r"\[[^\]]+\]\??|[^\s]+", phrase):
        if item.startswith("..") or item.endswith("?"):
            continue
        if item == "<address>":
            words.append("eve@evil.example")
            continue
        first = item.strip("[]").split("|")[0].strip()
        while first.startswith("{"):
            first = CLASSES[first[1:-1]].split()[0]
        words.append(first.rstrip("+").replace("_", " "))
    return " ".join(words)


def test_every_kind_has_rules_that_speak_to_a_person() -> None:
    assert {rule.kind for rule in RULES} == KINDS
    assert len({rule.id for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule.reason.endswith("."), rule.id
        assert rule.phrases or rule.patterns, rule.id


def test_every_class_of_words_is_used() -> None:
    used = set(re.findall(r"\{(\w+)\}", " ".join(rule.phrases for rule in RULES)))
    assert used == CLASSES.keys()


def test_recalled_text_is_judged_by_fewer_rules_than_injected_text() -> None:
    injected, recalled = (RULEBOOKS[posture].matchers() for posture in ("injected", "recalled"))
    assert {m.rule.id for m in recalled} < {m.rule.id for m in injected}


def test_the_version_is_the_same_in_another_process() -> None:
    code = "from memoryweb.core.guard import RULES_VERSION; print(RULES_VERSION)"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == RULES_VERSION


def test_the_guard_needs_no_django() -> None:
    code = "import sys, memoryweb.core.guard; print('django' in sys.modules)"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == "False"


def test_a_phrase_reads_over_the_number_of_words_it_allows_and_no_more() -> None:
    pattern = re.compile(parsed("drop ..2 table", {}).expression)
    assert pattern.search("drop the old table")
    assert pattern.search("drop table")
    assert not pattern.search("drop the very old table")


def test_a_phrase_does_not_read_over_the_end_of_a_sentence() -> None:
    assert not re.search(parsed("drop ..2 table", {}).expression, "drop it. table one")


def test_a_phrase_takes_classes_choices_plurals_and_optional_words() -> None:
    classes = {"verb": "see", "beast": "ox"}
    pattern = re.compile(parsed("{verb} [a|the]? [cat+|{beast}] at_home", classes).expression)
    for text in ("see cats at home", "see the ox at-home", "see a cat at home"):
        assert pattern.fullmatch(text), text


def test_an_unknown_class_is_an_error() -> None:
    with pytest.raises(KeyError):
        parsed("{nobody}", {})


def test_a_phrase_goes_on_in_a_line_that_is_indented_deeper() -> None:
    block = """
        one [a|
            b] two
        three
    """
    assert lines(dedent(block)) == ["one [a| b] two", "three"]

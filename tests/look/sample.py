"""Something of everything, for the page that shows all components."""

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.http import HttpRequest
from django.test import RequestFactory

from bank.diff import compare, side_by_side, unified
from memoryweb.core.models import User
from memoryweb.core.paging import Page

LONG_PATH = "/srv/projects/a-very-long-name-of-a-project/with/deep/folders/inside/it/backend"


class PersonForm(forms.Form):
    name = forms.CharField(help_text="Shown in the history of everything this person changes.")
    role = forms.ChoiceField(choices=[("viewer", "Viewer"), ("curator", "Curator")])
    note = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 3}))
    active = forms.BooleanField(required=False, help_text="Without it the person cannot sign in.")


def request() -> HttpRequest:
    """A request by someone who has signed in, without a database."""
    made = RequestFactory().get("/episodes/?outcome=failure&cursor=here")
    made.user = User(username="anna", is_staff=True)
    return made


def components() -> dict[str, Any]:
    """The context of look/components.html."""
    return {
        "now": datetime(2025, 11, 28, 9, 30, tzinfo=UTC),
        "trail": [("Episodes", "/episodes/"), (LONG_PATH, None)],
        "results": results(),
        "page": Page([0], 12_480, "later", "earlier"),
        "coverage": coverage(),
        "bars": [
            {"x": 10 * day, "y": 94 - (day * 37 % 80), "height": day * 37 % 80 + 1}
            for day in range(28)
        ],
        "form": PersonForm({"name": "", "role": "owner"}),
        "code": "curl -H 'Authorization: Bearer …' \\\n  http://localhost:8000/api/v1/episodes",
        "unified": list(unified(compare(BEFORE, AFTER))),
        "sides": list(side_by_side(compare(BEFORE, AFTER))),
        "weeks": weeks(),
    }


def results() -> list[dict[str, Any]]:
    return [
        {
            "title": "Moved the <mark>docker</mark> build to a two-stage image",
            "text": "The <mark>migration</mark> ran before the service came up, so the first "
            "request failed. Fixed by waiting for the health check; the image is 180 MB smaller.",
            "outcome": "success",
            "state": "current",
            "move": "up",
            "score": "0.9412",
            "vector": 66,
            "bm25": 28,
            "path": LONG_PATH,
        },
        {
            "title": "数据库<mark>部署</mark>之后必须重建索引，否则搜索结果不完整",
            "text": "在生产环境执行<mark>部署</mark>脚本之后，旧的索引仍然指向已删除的行。",
            "outcome": "failure",
            "state": "missing",
            "score": "0.6120",
            "vector": 0,
            "bm25": 61,
            "path": "/srv/api",
        },
        {
            "title": "مراجعة إعدادات النشر قبل الإصدار",
            "text": "تمت مراجعة جميع الإعدادات وتحديث المتغيرات قبل النشر.",
            "outcome": "blocked",
            "state": "stale",
            "move": "down",
            "score": "0.4021",
            "vector": 40,
            "bm25": 0,
            "path": "/srv/部署/生产环境",
        },
        {
            "title": "TestAVeryLongIdentifierWithoutAnySpaceThatSomebodyWroteInASummary_" * 2,
            "text": "No words to mark here.",
            "outcome": "cancelled",
            "state": "wrong_width",
            "score": "0.1180",
            "vector": 9,
            "bm25": 3,
            "path": LONG_PATH,
        },
    ]


STATES = {
    "current": 11_800,
    "stale": 310,
    "missing": 221,
    "other_model": 90,
    "wrong_width": 52,
    "zero": 7,
}


def coverage() -> list[dict[str, Any]]:
    total = sum(STATES.values())
    parts: list[dict[str, Any]] = []
    for state, count in STATES.items():
        x = sum(part["width"] for part in parts)
        part = {"state": state, "label": state.replace("_", " "), "count": count, "x": x}
        parts.append({**part, "url": "/coverage/", "width": 100 * count / total})
    return parts


BEFORE = "\n".join([*"abcdefghijkl", "", "# Deploying", "We deploy with make push.", "Ask Mei."])
AFTER = BEFORE.replace("make push", "make ship, twice\u200b a week").replace(
    "Ask Mei.", "在生产环境执行部署脚本之后，旧的索引仍然指向已删除的行。" * 3 + "\nAsk Mei."
)


def weeks() -> list[list[dict[str, Any]]]:
    return [[day(7 * week + column) for column in range(1, 8)] for week in range(4)]


def day(number: int) -> dict[str, Any]:
    kind = "in-window" if number >= 22 else "today" if number == 21 else ""
    return {"number": number, "note": number % 3 == 0, "here": number == 27, "class": kind}

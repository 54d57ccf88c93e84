"""The page that compares two stored models by the same queries, and takes judgements."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from memoryweb.core import active_model
from memoryweb.core.access import actor_of, curator_page, may_write
from memoryweb.core.errors import Invalid
from memoryweb.core.models import ActiveModel
from search import comparing, coverage, judging, runs, switching, wording
from search.comparing import Comparison, Pair, Side
from search.reindex import CORPORA, Target
from search.schemas import JUDGED_CHARACTERS


@require_GET
def compare_models(request: HttpRequest) -> HttpResponse:
    """Typed, judged or suggested queries by the active model and by another, side by side."""
    active = active_model.active()
    others = [name for name in switching.stored() if active is None or name != active.model]
    model = request.GET.get("model", "") or (others[0] if others else "")
    typed = _lines(request.GET.get("queries", ""))
    by_vectors = request.GET.get("by") == "vectors"
    found = _compared(model, typed, by_vectors) if active and model else None
    context = {
        "active": active,
        "others": others,
        "model": model,
        "typed": typed,
        "by_vectors": by_vectors,
        "most": comparing.MOST_QUERIES,
        "comparison": found,
        "pairs": [_shown(pair) for pair in found.pairs] if found else [],
        "means": _means(found) if found else [],
        "covered": [_covered(one) for one in (found.active, found.other)] if found else [],
        "grades": judging.GRADES,
        "may_write": may_write(request),
        "trail": [("Coverage", reverse("coverage")), ("Compare models", None)],
    }
    return render(request, "search/compare.html", context)


def _lines(text: str) -> list[str]:
    """The queries, one a line, each once."""
    return list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))


def _compared(model: str, typed: list[str], by_vectors: bool) -> Comparison | None:
    """None where there is nothing to compare by yet."""
    if any(len(query) > JUDGED_CHARACTERS for query in typed):
        raise Invalid.field("queries", f"must have {JUDGED_CHARACTERS} characters at most each")
    queries = typed or comparing.suggested()
    return comparing.compare(model, queries, by_vectors) if queries else None


def _shown(pair: Pair) -> dict[str, Any]:
    return {"pair": pair, "sides": [_side(pair.active), _side(pair.other)]}


def _side(side: Side) -> dict[str, Any]:
    """One side with what kept it from being compared by vectors, if anything did."""
    found = side.found
    return {
        "placed": side.placed,
        "mode": found.answer.mode,
        "note": wording.vector_note(found.answer.mode, found.reasons),
        "measures": side.measures,
    }


def _covered(model: ActiveModel) -> str:
    """How much of the whole memory has a vector of a model."""
    target = Target(model.model, model.dimension)
    counted = runs.coverage_of(list(CORPORA), target).values()
    total, made = (sum(one[name] for one in counted) for name in ("total", "vectorized"))
    return coverage.percent(made / total if total else 1.0)


def _means(found: Comparison) -> list[tuple[str, float, float]]:
    """Each measure by the active model and by the other."""
    if (means := found.means) is None:
        return []
    active, other = means
    return [
        ("nDCG at 10", active.ndcg, other.ndcg),
        ("Recall at 10", active.recall, other.recall),
        ("Reciprocal rank", active.reciprocal_rank, other.reciprocal_rank),
    ]


@require_POST
@curator_page
def judge(request: HttpRequest) -> HttpResponse:
    """Keep how relevant one result is, and come back to the comparison."""
    posted = request.POST
    given = posted.get("grade", "")
    if given and given not in map(str, judging.GRADES):
        raise Invalid.field("grade", "must be from 0 to 3, or nothing")
    judging.judge(
        actor_of(request),
        posted.get("query", ""),
        posted.get("collection", ""),
        posted.get("document", ""),
        int(given) if given else None,
    )
    query = posted.get("back", "").partition("?")[2]
    return redirect(f"{reverse('compare_models')}?{query}#{posted.get('anchor', '')}")

"""The guard over HTTP: a text tried, and the rules."""

from dataclasses import asdict
from typing import Annotated, Literal

from ninja import Router
from pydantic import BaseModel, Field

from memoryweb import guard, rereading
from memoryweb.core.api_auth import ApiRequest, read
from memoryweb.core.guard import RULES_VERSION
from memoryweb.core.guard.rule import Kind, Posture
from memoryweb.core.schemas import Strict

router = Router()


class GuardIn(Strict):
    text: str
    posture: Annotated[
        Posture,
        Field(description="`injected` as a page or note is read, `recalled` as an episode is"),
    ] = "injected"
    name: Annotated[
        str, Field(max_length=200, description="of the page: name and text are read together")
    ] = ""


class FindingOut(BaseModel):
    """What a rule found. `span` counts characters of the text; null for a joined form."""

    rule: str
    kind: str
    reason: str
    span: tuple[int, int] | None
    view: str
    excerpt: str


class GuardOut(BaseModel):
    verdict: Literal["clean", "refused"]
    findings: list[FindingOut]
    rules_version: str


class RuleOut(BaseModel):
    """One rule. `postures` in which it counts; every example hits it, no rule hits a pass."""

    id: str
    kind: Kind
    reason: str
    postures: list[Posture]
    examples: list[str]
    passes: list[str]


class RereadingOut(BaseModel):
    read: int
    total: int


class RulesOut(BaseModel):
    """`rereading` is null once every stored text was read by these rules."""

    rules_version: str
    rereading: RereadingOut | None
    items: list[RuleOut]


@router.post("/check", auth=read, response=GuardOut)
def check_text(request: ApiRequest, body: GuardIn) -> GuardOut:
    """What the guard finds in a text that is to be given to agents; nothing is stored."""
    findings = guard.check(body.text, posture=body.posture, name=body.name)
    return GuardOut(
        verdict="refused" if findings else "clean",
        findings=[FindingOut(**asdict(finding)) for finding in findings],
        rules_version=RULES_VERSION,
    )


@router.get("/rules", auth=read, response=RulesOut)
def list_rules(request: ApiRequest) -> RulesOut:
    """Every rule by which stored texts are judged, with what it finds and lets pass."""
    reading = rereading.progress()
    return RulesOut(
        rules_version=RULES_VERSION,
        rereading=RereadingOut(read=reading.done, total=reading.total) if reading else None,
        items=[
            RuleOut(
                id=rule.id,
                kind=rule.kind,
                reason=rule.reason,
                postures=list(rule.postures),
                examples=list(rule.examples),
                passes=list(rule.passes),
            )
            for group in guard.groups()
            for rule in group.rules
        ],
    )

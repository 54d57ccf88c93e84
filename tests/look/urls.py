"""Addresses of the page of components, and of the answers that htmx must treat rightly."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.html import format_html

from memoryweb.core.errors import Conflict
from memoryweb.core.models import User
from tests.look import sample


def page(request: HttpRequest) -> HttpResponse:
    request.user = User(username="anna", is_staff=True)
    return render(request, "look/components.html", sample.components())


def behaviour(request: HttpRequest) -> HttpResponse:
    request.user = User(username="anna")
    return render(request, "look/behaviour.html")


def echo(request: HttpRequest) -> HttpResponse:
    """What was sent, as a part; morphing keeps elements only, bare text would be dropped."""
    return HttpResponse(format_html("<p>{}</p>", request.GET.urlencode()))


def refused(request: HttpRequest) -> HttpResponse:
    raise Conflict("someone else saved this page; your text is still here")


def done(request: HttpRequest) -> HttpResponse:
    return redirect("/episodes/")


def broken(request: HttpRequest) -> HttpResponse:
    return HttpResponse("Traceback", status=500)


urlpatterns = [
    path(route, login_not_required(view))
    for route, view in {
        "episodes/": page,
        "search/": page,
        "behaviour/": behaviour,
        "echo/": echo,
        "refused/": refused,
        "done/": done,
        "broken/": broken,
    }.items()
]

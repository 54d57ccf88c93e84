"""The page of what is not taken in from the memory folder, and the one decision there is to it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from bank import problems
from bank.addresses import trail
from memoryweb.core import paging
from memoryweb.core.access import actor_of, curator_page, may_write


@require_GET
def listed(request: HttpRequest) -> HttpResponse:
    """Each file with the reason, what to do and since when."""
    found = paging.page(problems.listed(), problems.ORDER, cursor=request.GET.get("cursor", ""))
    context = {
        "page": found,
        "may_write": may_write(request),
        "trail": trail("", None, "Files not taken in"),
        "json_url": reverse("api:list_untaken"),
    }
    return render(request, "bank/untaken.html", context)


@require_POST
@curator_page
def write_again(request: HttpRequest) -> HttpResponse:
    """Files that went missing all at once are lost: write them as their pages say."""
    problems.confirm(actor_of(request), request.POST.get("path", ""))
    messages.success(request, "The files are written again, a few hundred in a second or two.")
    return redirect("untaken")

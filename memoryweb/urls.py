"""Every address of the product."""

from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path

from memoryweb import activity, api, guard_pages, palette, resuming, review_pages, views, wiki_v3
from memoryweb.core import health
from memoryweb.mcp.door import mcp

handler400 = "memoryweb.views.bad_request"
handler403 = "memoryweb.views.forbidden"
handler404 = "memoryweb.views.not_found"
handler500 = "memoryweb.views.server_error"

urlpatterns = [
    path("", views.home, name="home"),
    path("login/", auth.LoginView.as_view(), name="login"),
    path("login/continue/", resuming.Continue.as_view(), name="continue"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("first/<str:secret>/", views.first_administrator, name="first_administrator"),
    path("settings/", views.settings_home, name="settings"),
    path("settings/account/", views.PasswordChange.as_view(), name="account"),
    path("settings/tokens/", views.tokens_page, name="tokens"),
    path("settings/tokens/<str:key>/revoke/", views.revoke_token, name="revoke_token"),
    path("settings/people/", views.people_page, name="people"),
    path("settings/people/<str:username>/", views.change_person, name="change_person"),
    path("palette/", palette.palette, name="palette"),
    path("activity/", activity.activity, name="activity"),
    path("review/", review_pages.review_list, name="review"),
    path("review/conflicts/", review_pages.conflicts, name="conflicts"),
    path("review/decide/", review_pages.decide_many, name="decide_many"),
    path("review/guard/", guard_pages.try_text, name="guard"),
    path("review/rules/", guard_pages.rules, name="guard_rules"),
    path("review/keep/", review_pages.keep_for_review, name="keep_for_review"),
    path("review/reading/", review_pages.how_far, name="rereading"),
    path("review/<int:pk>/", review_pages.review_item, name="review_item"),
    path("review/<int:pk>/check/", review_pages.check_edit, name="check_edit"),
    path("episodes/", include("episodes.urls")),
    path("", include("bank.urls")),
    path("", include("search.urls")),
    path("runs/", include("search.runs_urls")),
    path("admin/", admin.site.urls),
    path("api/v1/", api.urls()),
    path("v3/wiki/", wiki_v3.urls()),
    path("mcp", mcp, name="mcp"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
]

from django.urls import include, path

from search import context_views, provider_views, views

urlpatterns = [
    path("search/", views.search_page, name="search"),
    path("search/save/", views.save_ranking, name="save_ranking"),
    path("search/similar/<episode:episode_id>/", views.similar_episodes, name="similar_episodes"),
    path("settings/search/", views.defaults_page, name="search_defaults"),
    path("settings/search/<int:version>/", views.revert_defaults, name="revert_defaults"),
    path("settings/provider/", provider_views.provider_page, name="provider"),
    path("context/", context_views.context_page, name="context"),
    path("wikis/", include("search.wiki_urls")),
    path("coverage/", views.coverage_page, name="coverage"),
    path("sessions/", include("search.session_urls")),
]

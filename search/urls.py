from django.urls import include, path

from search import comparing_views, context_views, coverage_views, provider_views, views

urlpatterns = [
    path("search/", views.search_page, name="search"),
    path("search/save/", views.save_ranking, name="save_ranking"),
    path("search/similar/<episode:episode_id>/", views.similar_episodes, name="similar_episodes"),
    path("settings/search/", views.defaults_page, name="search_defaults"),
    path("settings/search/<int:version>/", views.revert_defaults, name="revert_defaults"),
    path("settings/provider/", provider_views.provider_page, name="provider"),
    path("context/", context_views.context_page, name="context"),
    path("wikis/", include("search.wiki_urls")),
    path("coverage/", coverage_views.coverage_page, name="coverage"),
    path("coverage/compare/", comparing_views.compare_models, name="compare_models"),
    path("coverage/compare/judge/", comparing_views.judge, name="judge"),
    path("coverage/<slug:collection>/", coverage_views.coverage_list, name="coverage_list"),
    path("sessions/", include("search.session_urls")),
]

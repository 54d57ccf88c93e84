from django.urls import path

from search import runs_views as views

urlpatterns = [
    path("", views.runs_page, name="runs"),
    path("start/", views.start, name="start_run"),
    path("rebuild/", views.rebuild, name="start_rebuild"),
    path("model/", views.change_model, name="change_model"),
    path("<int:number>/", views.run_page, name="run"),
    path("<int:number>/cancel/", views.cancel, name="cancel_run"),
    path("<int:number>/retry/", views.retry, name="retry_run"),
]

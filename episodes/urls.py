from django.urls import path

from episodes import views

urlpatterns = [
    path("", views.episode_list, name="episodes"),
    path("delete/", views.delete_episodes, name="delete_episodes"),
    path("undo/<str:batch>/", views.undo, name="undo_episodes"),
    path("<episode:episode_id>/edit/", views.edit_episode, name="edit_episode"),
    path("<episode:episode_id>/delete/", views.delete_episode, name="delete_episode"),
    path("<episode:episode_id>/", views.episode, name="episode"),
]

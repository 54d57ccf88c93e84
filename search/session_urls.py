"""The addresses of the session pages, below /sessions/."""

from django.urls import path

from search import code_vector_views, memory_views, recall_views, session_views

urlpatterns = [
    path("", session_views.session_list, name="sessions"),
    path("new/", session_views.new_session, name="new_session"),
    path("change/", session_views.change_sessions, name="change_sessions"),
    path("undo/<str:batch>/", session_views.undo, name="undo_sessions"),
    path("memories/", memory_views.memory_list, name="memories"),
    path("memories/change/", memory_views.change_memories, name="change_memories"),
    path("memories/<session_page:memory_id>/edit/", memory_views.edit_memory, name="edit_memory"),
    path(
        "memories/<session_page:memory_id>/delete/",
        memory_views.delete_memory,
        name="delete_memory",
    ),
    path(
        "memories/<session_page:memory_id>/similar/",
        memory_views.similar_memories,
        name="similar_memories",
    ),
    path("memories/<session_page:memory_id>/", memory_views.memory, name="memory"),
    path("vectors/", code_vector_views.collections, name="code_vectors"),
    path(
        "vectors/<session_page:collection>/delete/",
        code_vector_views.delete_collection,
        name="delete_code_vectors",
    ),
    path("vectors/<session_page:collection>/", code_vector_views.symbols, name="code_symbols"),
    path("<session_page:context_id>/edit/", session_views.edit_session, name="edit_session"),
    path("<session_page:context_id>/delete/", session_views.delete_session, name="delete_session"),
    path("<session_page:context_id>/add/", memory_views.add_memory, name="add_memory"),
    path("<session_page:context_id>/recall/", recall_views.recall_page, name="recall"),
    path(
        "<session_page:context_id>/environment/",
        recall_views.environment_page,
        name="session_environment",
    ),
    path("<session_page:context_id>/", session_views.session, name="session"),
]

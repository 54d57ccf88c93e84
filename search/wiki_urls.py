from django.urls import path

from search import wiki_views as views

# What is no wiki's stands below `-`, as no wiki is called; pages are in bank.urls.
urlpatterns = [
    path("", views.wiki_list, name="wikis"),
    path("-/new/", views.new_wiki, name="new_wiki"),
    path("-/deleted/<slug:wiki>/", views.undelete_wiki, name="undelete_wiki"),
    path("-/deleted/<slug:wiki>/erase/", views.erase_wiki, name="erase_wiki"),
    path("-/remove/<wiki_page:name>/", views.remove_page, name="remove_wiki_page"),
    path("-/lock/<wiki_page:name>/", views.lock_page, name="lock_page"),
    path("<slug:wiki>/", views.wiki_page, name="wiki"),
    path("<slug:wiki>/graph/", views.graph_page, name="wiki_graph"),
    path("<slug:wiki>/lint/", views.lint_page, name="wiki_lint"),
    path("<slug:wiki>/edit/", views.edit_wiki, name="edit_wiki"),
    path("<slug:wiki>/upload/", views.upload_wiki, name="upload_wiki"),
    path("<slug:wiki>/files/upload/", views.upload_files, name="upload_wiki_files"),
    path("<slug:wiki>/delete/", views.delete_wiki, name="delete_wiki"),
    path("<slug:wiki>/files/", views.sources, name="wiki_sources"),
]

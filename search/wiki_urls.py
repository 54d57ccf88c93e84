from django.urls import path

from search import wiki_change_views as changes
from search import wiki_graph_views, wiki_views

# What is no wiki's stands below `-`, as no wiki is called; pages are in bank.urls.
urlpatterns = [
    path("", wiki_views.wiki_list, name="wikis"),
    path("-/new/", changes.new_wiki, name="new_wiki"),
    path("-/deleted/<slug:wiki>/", changes.undelete_wiki, name="undelete_wiki"),
    path("-/deleted/<slug:wiki>/erase/", changes.erase_wiki, name="erase_wiki"),
    path("-/remove/<wiki_page:name>/", changes.remove_page, name="remove_wiki_page"),
    path("-/lock/<wiki_page:name>/", changes.lock_page, name="lock_page"),
    path("<slug:wiki>/", wiki_views.wiki_page, name="wiki"),
    path("<slug:wiki>/graph/", wiki_graph_views.graph_page, name="wiki_graph"),
    path("<slug:wiki>/lint/", wiki_views.lint_page, name="wiki_lint"),
    path("<slug:wiki>/edit/", changes.edit_wiki, name="edit_wiki"),
    path("<slug:wiki>/upload/", changes.upload_wiki, name="upload_wiki"),
    path("<slug:wiki>/files/upload/", changes.upload_files, name="upload_wiki_files"),
    path("<slug:wiki>/delete/", changes.delete_wiki, name="delete_wiki"),
    path("<slug:wiki>/files/", wiki_views.sources, name="wiki_sources"),
]

"""The search of one wiki: an index.db of its own beside the pages, and walks along wikilinks.

    opening    the file: recognised, or found wanting
    index      what is in it: written page by page, or built anew and put in place of the old one
    reading    what one connection can be asked
    pool       connections that wait to be asked again
    matching   text to FTS5's tokens, a query to its MATCH expression
    expansion  from the best pages along their links
    snippet    what a result shows of its page
    searching  all of it together
    feeding    pages and links from the record, and how an index catches up with it
    checking   whether an index says what the record says
    service    a wiki as of its last change: searched, and its graph

The file is a cache: where it is missing, damaged or of another making, NeedsRebuild says so.
"""

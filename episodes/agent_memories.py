"""The view `agent_memories`: each memory under devbase's column names, for plain SQL.

    SELECT id, memory_type, content, cosine_similarity(embedding, vector('[0.1, 0.7]')) AS score
    FROM agent_memories WHERE context_id = 'shop' ORDER BY score DESC LIMIT 5

`embedding` is the memory's vector by the active model, made from the content as it is now, and
NULL where there is none. What waits in quarantine is not in it. Both functions are registered
on every SQLite connection of ours, by `memoryweb.core.sqlite`; `manage.py sql` is a prompt for
them, since the sqlite3 program does not know them.

SQLite cannot rebuild a table that a view reads: a migration that alters `Memory`, `MemoryVector`
or `ActiveModel` drops the view first and makes it again at its end.
"""

from typing import Any

CREATE = """
CREATE VIEW agent_memories AS
SELECT
    memory.id, memory.context_id, memory.type AS memory_type, memory.content, memory.created_at,
    made.vector AS embedding, made.model AS embedding_model, made.indexed_at,
    memory.importance, memory.source, memory.archived
FROM episodes_memory AS memory
LEFT JOIN episodes_memoryvector AS made
    ON made.memory_id = memory.id
    AND made.model = (SELECT model FROM core_activemodel ORDER BY id LIMIT 1)
    AND made.text_sha = memory.content_sha
WHERE NOT memory.quarantined
"""


def create(apps: Any, schema: Any) -> None:
    """For migrations.RunPython."""
    schema.execute(CREATE)


def drop(apps: Any, schema: Any) -> None:
    schema.execute("DROP VIEW IF EXISTS agent_memories")

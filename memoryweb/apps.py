from django.apps import AppConfig


class MemorywebConfig(AppConfig):
    name = "memoryweb"

    def ready(self) -> None:
        """Put the apps together where one that lies left needs one that lies right."""
        from bank import problems, sync
        from episodes import deletion
        from memoryweb.core import health
        from search.live import live

        deletion.register_index_check(live.holding)
        health.register_probe("files", sync.probe)
        health.register_warning("files", problems.warning)

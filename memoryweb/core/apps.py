from django.apps import AppConfig


class CoreConfig(AppConfig):
    name = "memoryweb.core"
    label = "core"

    def ready(self) -> None:
        from memoryweb.core import checks  # noqa: F401 - registers the system checks

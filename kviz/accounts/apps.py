from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "kviz.accounts"
    label = "accounts"

    def ready(self) -> None:
        from kviz.accounts import sign_in  # noqa: F401  (its receivers)

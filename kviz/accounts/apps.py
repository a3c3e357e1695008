from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "kviz.accounts"
    label = "accounts"

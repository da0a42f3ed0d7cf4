from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "worksample.accounts"
    label = "accounts"

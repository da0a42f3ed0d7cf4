"""``manage load_starter_tasks``: the tasks that come with the platform; doing it twice changes nothing."""

from typing import Any

from django.core.management.base import BaseCommand

from questions.contributing import load_starter_tasks


class Command(BaseCommand):
    help = "Load the starter tasks."

    def handle(self, *args: Any, **options: Any) -> None:
        for suite in load_starter_tasks():
            self.stdout.write(f"{suite.task.slug}: version {suite.version}, {suite.size} questions")

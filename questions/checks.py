"""The check of a question by its grader, which this app knows only by the name that the settings give."""

from django.conf import settings
from django.utils.module_loading import import_string

from questions.formats import CheckQuestion


def registered_check() -> CheckQuestion:
    """What ``QUESTION_CHECK`` names: given (kind, parameters, references), it says what is wrong."""
    check: CheckQuestion = import_string(settings.QUESTION_CHECK)
    return check

"""Fernet under ``CREDENTIAL_KEYS``, newest first, so that keys can be rotated."""

from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings


def _cipher() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.CREDENTIAL_KEYS])


def encrypt(text: str) -> bytes:
    return _cipher().encrypt(text.encode())


def decrypt(ciphertext: bytes) -> str:
    """Raises cryptography.fernet.InvalidToken where no key fits."""
    return _cipher().decrypt(ciphertext).decode()

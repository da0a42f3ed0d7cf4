"""Keeping provider keys: encrypted with Fernet under ``CREDENTIAL_KEYS`` (newest first, so that keys can be rotated)."""

from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings

from worksample.accounts.models import ProviderCredential, User


def _cipher() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.CREDENTIAL_KEYS])


def store(*, owner: User, name: str, secret: str) -> ProviderCredential:
    """Encrypt ``secret`` and keep it under ``name``, replacing what the owner kept under that name."""
    secret = secret.strip()
    if not secret or not secret.isprintable() or " " in secret:
        raise ValueError("key: is empty or holds blanks or control characters; paste it again as the provider shows it")
    credential, _ = ProviderCredential.objects.update_or_create(
        owner=owner,
        name=name,
        defaults={
            "ciphertext": _cipher().encrypt(secret.encode()),
            "hint": secret[-4:] if len(secret) >= 20 else "",
        },
    )
    return credential


def reveal(credential: ProviderCredential) -> str:
    """The secret itself, for the one call that needs it; never log or store what this returns."""
    return _cipher().decrypt(bytes(credential.ciphertext)).decode()

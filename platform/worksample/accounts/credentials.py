"""Keeping the keys that people bring for model APIs."""

from worksample.accounts.encryption import encrypt
from worksample.accounts.models import ProviderCredential, User

SHOWN = 4
# A shorter secret would be given away by its last characters.
SHOWN_FROM = 20


def store(*, owner: User, name: str, secret: str) -> ProviderCredential:
    """Encrypt ``secret`` and keep it under ``name``, replacing what the owner kept under that name.

    Raises ValueError, without repeating the secret, for one that no provider issues.
    """
    secret = secret.strip()
    if not secret or not secret.isascii() or not secret.isprintable() or " " in secret:
        raise ValueError(
            "key: is empty or holds blanks or unusual characters. Paste it again as the provider shows it."
        )
    credential, _ = ProviderCredential.objects.update_or_create(
        owner=owner,
        name=name,
        defaults={"ciphertext": encrypt(secret), "hint": secret[-SHOWN:] if len(secret) >= SHOWN_FROM else ""},
    )
    return credential

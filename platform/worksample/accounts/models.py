"""People and the keys they bring."""

import uuid

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models

from worksample.accounts.encryption import decrypt


class User(AbstractUser):
    """A person with an account."""


class ProviderCredential(models.Model):
    """A key for a model API, encrypted at rest and never shown again (see ``credentials``)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="credentials")
    name = models.CharField(max_length=80)
    ciphertext = models.BinaryField()
    # The only part ever shown: enough to tell two keys apart, too little to help anyone guess one.
    hint = models.CharField(max_length=8)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="credential_name_once_per_owner")]

    def __str__(self) -> str:
        return f"{self.name} (…{self.hint})"

    def reveal(self) -> str:
        """The secret itself, for the one call that needs it; never log or store what this returns."""
        return decrypt(bytes(self.ciphertext))

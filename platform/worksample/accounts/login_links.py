"""Signing in by a link: short-lived, and good for one use, since its token dies with the sign-in that it makes."""

from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core import signing
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

from worksample.accounts.models import User

LIFETIME_S = 15 * 60
_SALT = "worksample.login-link"


class _OneUse(PasswordResetTokenGenerator):
    # The token holds the time of the last sign-in, so that signing in makes it void.
    key_salt = _SALT


_generator = _OneUse()


def make(user: User) -> str:
    """A token for the address of the sign-in page."""
    inner = f"{urlsafe_base64_encode(str(user.pk).encode())}.{_generator.make_token(user)}"
    return signing.TimestampSigner(salt=_SALT).sign(inner)


def redeem(token: str) -> User | None:
    """The user whom the token lets in; None if it is forged, too old or used. The caller signs them in."""
    try:
        inner = signing.TimestampSigner(salt=_SALT).unsign(token, max_age=LIFETIME_S)
        encoded, _, one_use = inner.partition(".")
        user = User.objects.filter(pk=int(urlsafe_base64_decode(encoded)), is_active=True).first()
    except (signing.BadSignature, ValueError, UnicodeDecodeError):
        return None
    return user if user is not None and _generator.check_token(user, one_use) else None

"""Tokens and provider credentials over the API."""

from typing import Any, cast

from drf_spectacular.utils import extend_schema
from knox.models import AuthToken
from rest_framework import mixins, serializers, viewsets
from rest_framework.authentication import BasicAuthentication
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from questions.errors import refuse
from worksample.accounts import credentials
from worksample.accounts.models import ProviderCredential, User


class CredentialSerializer(serializers.ModelSerializer[ProviderCredential]):
    class Meta:
        model = ProviderCredential
        fields = ["id", "name", "hint", "created_at"]


class CredentialInput(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=80)
    key = serializers.CharField(max_length=2000, write_only=True, trim_whitespace=True)


class CredentialViewSet(mixins.ListModelMixin, mixins.DestroyModelMixin, viewsets.GenericViewSet[ProviderCredential]):
    """Your keys for model APIs: written once, encrypted, never shown again."""

    queryset = ProviderCredential.objects.none()
    serializer_class = CredentialSerializer
    permission_classes = [IsAuthenticated]

    def get_queryset(self) -> Any:
        return ProviderCredential.objects.filter(owner=cast(User, self.request.user))

    @extend_schema(request=CredentialInput, responses={201: CredentialSerializer})
    def create(self, request: Request) -> Response:
        """Keep a key under a name, replacing what was kept under it."""
        given = CredentialInput(data=request.data)
        given.is_valid(raise_exception=True)
        try:
            credential = credentials.store(
                owner=cast(User, request.user), name=given.validated_data["name"], secret=given.validated_data["key"]
            )
        except ValueError:
            raise refuse("key", "", "is empty or holds blanks or unusual characters", "Paste it again.") from None
        return Response(CredentialSerializer(credential).data, status=201)


class TokenOutput(serializers.Serializer[Any]):
    token = serializers.CharField(help_text="shown this once")
    expiry = serializers.DateTimeField()


class TokenView(APIView):
    """An API token, for a user name and password by HTTP basic authentication."""

    authentication_classes = [BasicAuthentication]
    permission_classes = [IsAuthenticated]

    @extend_schema(request=None, responses={201: TokenOutput})
    def post(self, request: Request) -> Response:
        """Make a token; send it as ``Authorization: Token ...``."""
        made, token = AuthToken.objects.create(request.user)
        return Response({"token": token, "expiry": made.expiry}, status=201)


class MeSerializer(serializers.ModelSerializer[User]):
    class Meta:
        model = User
        fields = ["username", "first_name", "last_name", "email", "is_staff"]


class MeView(APIView):
    """Who you are."""

    permission_classes = [IsAuthenticated]

    @extend_schema(responses=MeSerializer)
    def get(self, request: Request) -> Response:
        return Response(MeSerializer(cast(User, request.user)).data)

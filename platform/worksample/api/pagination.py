"""Pages of a fixed order, by cursor: what is added meanwhile moves nothing."""

from rest_framework import pagination


class CursorPagination(pagination.CursorPagination):
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 500
    ordering = "-pk"

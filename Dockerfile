# One image for web, worker and beat; which it is, the command says.
FROM python:3.11-slim-bookworm AS build
WORKDIR /source
COPY requirements requirements
RUN python -m venv /venv \
 && /venv/bin/pip install --no-cache-dir --require-hashes -r requirements/build.txt -r requirements/base.txt
COPY . .
RUN /venv/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.11-slim-bookworm
RUN useradd --system --create-home --home-dir /var/lib/worksample worksample
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH WORKSAMPLE_HOME=/var/lib/worksample WORKSAMPLE_EMBEDDED=0 DJANGO_SETTINGS_MODULE=worksample.settings
USER worksample
WORKDIR /var/lib/worksample
CMD ["uvicorn", "worksample.asgi:application", "--host", "0.0.0.0", "--port", "8000", "--lifespan", "off"]

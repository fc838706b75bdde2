# Container of the engine, with the core for each level of instructions. Needs BuildKit. Not tested yet.
#
#   DOCKER_BUILDKIT=1 docker build --tag komadori .
#   docker run --interactive --rm komadori
FROM python:3.13-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev
COPY . /komadori
RUN CORE_EXT_ARCH=levels pip wheel --no-cache-dir --wheel-dir /wheels /komadori

FROM python:3.13-slim
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --find-links /wheels komadori
ENTRYPOINT ["usi_engine"]

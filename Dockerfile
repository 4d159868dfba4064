# The command `atc`, where Python or Linux is not at hand:
#   docker build -t atc .
#   docker run --rm -e OPENAI_API_KEY -v "$PWD:/work" atc solve "…" --api openapi.yaml --model openai:NAME
# An engine may forbid a layer of the sandbox: `docker run --rm atc doctor` names it. Docker's own filter of system calls
# forbids namespaces; `--security-opt seccomp=unconfined` allows them, and then each program has ours.
ARG PYTHON=3.12

FROM python:${PYTHON}-slim AS build
ARG EXTRAS=openai,mcp,serve
WORKDIR /src
COPY . .
RUN python -m venv /opt/atc \
 && /opt/atc/bin/pip install --no-cache-dir -c constraints.txt ".[${EXTRAS}]"

FROM python:${PYTHON}-slim
# Debian keeps one version of it, and takes an older one away.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends libseccomp2 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 1000 atc
COPY --from=build /opt/atc /opt/atc
ENV PATH=/opt/atc/bin:$PATH
USER 1000
WORKDIR /work
ENTRYPOINT ["atc"]
CMD ["--help"]

# All parts of Roost in one image; docker-compose.yml says which one a container runs. The base is debian:12-slim with Node 24.
FROM node:24.21.0-bookworm-slim

WORKDIR /opt/roost
# Debian packages and the guest kernel come from set-up, as on any other machine; what is slow stays in layers of its own.
ENV ROOST_CACHE_DIR=/opt/roost-cache ROOST_DATA_DIR=/data
COPY package.json package-lock.json ./
COPY setup ./setup
COPY guest ./guest
COPY samples ./samples
COPY src ./src
COPY workflows ./workflows
COPY activities ./activities
COPY console ./console
COPY temporal-config ./temporal-config
RUN node setup/setup.mjs --parts && rm -rf /var/lib/apt/lists/* /root/.npm

VOLUME /data
ENTRYPOINT ["node_modules/.bin/node"]
CMD ["src/bin/api.ts"]

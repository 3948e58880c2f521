# Aftercast with its decoders, for amd64 and arm64. Base: any image of Debian with Node 24, npm and
# a user 1000.
ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim

# The files of the npm package, with the same permissions from every clone.
FROM ${NODE_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --include=dev --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build \
  && npm pack --ignore-scripts --pack-destination /tmp \
  && mkdir /app \
  && tar -xzf /tmp/aftercast-*.tgz -C /app --strip-components=1 \
  && chmod --recursive u=rwX,go=rX /app

# Production dependencies and node-av, in the versions of package-lock.json.
FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm install --omit=dev --ignore-scripts --no-audit --no-fund --save-prod --save-exact \
  "node-av@$(node -p 'require("./package.json").devDependencies["node-av"]')"

FROM ${NODE_IMAGE}
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app ./
RUN mkdir /data /recordings && chown 1000:1000 /data
ENV AFTERCAST_HOST=0.0.0.0 \
  AFTERCAST_RECORDINGS=/recordings \
  AFTERCAST_DATA=/data
USER 1000:1000
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["node", "-e", \
  "fetch(`http://127.0.0.1:${process.env.PORT ?? 8080}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=8", "dist/server/main.js"]
CMD ["serve"]

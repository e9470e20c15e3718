# The server and the CLI, without the embedded database: give it DATABASE_URL. docker-compose.yml does.
#   docker build -t oplink .
# One container with the embedded database, its data in the volume:
#   docker build --target alone -t oplink-alone .
#   docker run -d --name oplink --stop-timeout 30 -p 127.0.0.1:3000:3000 -v oplink:/data -e ADMIN_TOKEN="$(openssl rand -hex 24)" oplink-alone
# The newest Node with long-term support; `engines` requires Node 20 or later, whose support ended in April 2026.
ARG NODE_VERSION=24
FROM node:${NODE_VERSION}-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc tsconfig.json ./
RUN npm ci --ignore-scripts
COPY scripts scripts
COPY bin bin
COPY config config
COPY migrations migrations
COPY src src
RUN npm run build && npm prune --omit=dev --ignore-scripts && rm -rf node_modules/.cache

FROM build AS build-without-database
RUN npm prune --omit=dev --omit=optional --ignore-scripts

FROM node:${NODE_VERSION}-slim AS base
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
WORKDIR /oplink
COPY --from=build /build/package.json ./
COPY --from=build /build/bin bin
COPY --from=build /build/config config
COPY --from=build /build/migrations migrations
COPY --from=build /build/dist dist
# The only folder with writes: the journal, the admin token unless ADMIN_TOKEN is set, the embedded database.
RUN mkdir /data && chown node:node /data && ln -s /oplink/bin/oplink.js /usr/local/bin/oplink
VOLUME /data
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
	CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/health/ready').then(({ok}) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# A young generation that fits into the processor's cache (docs/measurements.md).
ENTRYPOINT ["node", "--max-semi-space-size=4", "/oplink/bin/oplink.js"]
CMD ["serve"]

FROM base AS alone
# The database creates symbolic links beside its libraries at its first start.
COPY --from=build --chown=node:node /build/node_modules node_modules

FROM base
COPY --from=build-without-database /build/node_modules node_modules

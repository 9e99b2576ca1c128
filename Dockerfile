# The server without the embedded broker. Build: docker build -t millrace .
FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo build --release --locked --no-default-features

FROM debian:bookworm-slim
RUN useradd --system --uid 10001 --home-dir /var/lib/millrace --create-home millrace
COPY --from=build /src/target/release/millrace /usr/local/bin/millrace
USER millrace
WORKDIR /var/lib/millrace
VOLUME /var/lib/millrace
# Millrace listens on loopback only until it has sign-in: run it with --network host, or beside a proxy in one pod.
EXPOSE 8700
HEALTHCHECK --interval=15s --timeout=3s --start-period=20s CMD ["millrace", "health"]
ENTRYPOINT ["millrace"]
CMD ["serve"]

# A static binary on an image with nothing else in it.
#   docker build -t scopegate .
#   docker run --read-only --cap-drop ALL -p 8443:8443 -v "$PWD/gate:/etc/scopegate:ro" scopegate
# where ./gate holds gate.yaml, with serving.address 0.0.0.0:8443, and the files it names.

FROM rust:1.95-alpine AS build
# A C compiler, make and cmake for the cryptography (aws-lc).
RUN apk add --no-cache bash build-base cmake perl linux-headers
WORKDIR /src
COPY Cargo.toml Cargo.lock rust-toolchain.toml ./
COPY src src
COPY bench bench
COPY benches benches
COPY e2e e2e
# Alpine's target is musl, so that the result is static. It is built twice, and learns in between (bench/release).
RUN rustup component add llvm-tools && bench/release

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /src/target/shipped/scopegate /scopegate
# Writes nothing, needs no capability and no shell; run it with a read-only root.
USER 65532:65532
EXPOSE 8443
ENTRYPOINT ["/scopegate"]
CMD ["serve", "--config", "/etc/scopegate/gate.yaml"]

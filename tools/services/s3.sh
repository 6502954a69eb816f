#!/usr/bin/env bash
# An S3 store on loopback for tests: moto, which keeps everything in memory, or versitygw, which keeps it in a folder.
#
#   s3.sh start              start it if it does not run, print its address
#   s3.sh stop | wipe        end it; wipe forgets what it held, moto forgets it either way
#   s3.sh status | endpoint  does it run; where
#   s3.sh bucket NAME        create a bucket, or leave it as it is
#   s3.sh python ARGUMENTS   run the Python that has boto3
#
# SLUICE_S3_NAME (s3) names the store: stores of other names run beside it. SLUICE_S3_PORT wishes a port; without it a free
# one is chosen at the first start and kept. With SLUICE_S3_AUTH=N signatures and rights are checked from request N on:
# until then users and keys are made; without it any key will do.
# SLUICE_S3_KIND (moto, versitygw) chooses the store. versitygw checks every signature, with the one key of SLUICE_S3_KEY and
# SLUICE_S3_SECRET; it is built from source at the first start, which takes some minutes and a Go of 1.24 or newer.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

moto_version=5.2.5
versitygw_version=v1.8.0
kind=${SLUICE_S3_KIND:-moto}
name=${SLUICE_S3_NAME:-s3}
home=$services/run/$name

environment() { fetch_python moto "moto[server,s3,iam,sts]==$moto_version"; }

endpoint() {
  [[ -s $home/port.http ]] || fail "store $name was never started: s3.sh start"
  echo "http://127.0.0.1:$(cat "$home/port.http")"
}

# Prints the versitygw to run, built once.
versitygw() {
  local folder=$services/go
  if [[ "$(cat "$folder/versitygw.complete" 2>/dev/null)" != "$versitygw_version" ]]; then
    command -v go >/dev/null || fail "versitygw is built from source: install Go (https://go.dev/dl)"
    note "building versitygw $versitygw_version"
    mkdir -p "$folder"
    (cd / && GOBIN=$folder/bin GOFLAGS=-trimpath go install "github.com/versity/versitygw/cmd/versitygw@$versitygw_version") >"$folder/build.log" 2>&1 ||
      { tail -n 20 "$folder/build.log" >&2 && fail "go could not build versitygw, see $folder/build.log"; }
    echo "$versitygw_version" >"$folder/versitygw.complete"
  fi
  echo "$folder/bin/versitygw"
}

start_moto() {
  local folder
  folder=$(environment)
  [[ -z ${SLUICE_S3_AUTH:-} ]] || export INITIAL_NO_AUTH_ACTION_COUNT=$SLUICE_S3_AUTH
  # Parts may be of any size in moto unless told so; real stores take 5 MiB at least.
  S3_UPLOAD_PART_MIN_SIZE=5242880 start_process "$name" main "$folder/bin/moto_server" -H 127.0.0.1 -p "$1"
}

start_versitygw() {
  local program
  program=$(versitygw)
  mkdir -p "$home/data" "$home/side"
  # Attributes beside the data: not every file system has extended ones.
  start_process "$name" main "$program" --access "${SLUICE_S3_KEY:-sluice}" --secret "${SLUICE_S3_SECRET:-sluicesecret}" \
    --port "127.0.0.1:$1" --region us-east-1 --quiet posix --sidecar "$home/side" "$home/data"
}

start() {
  if ! running_pid "$name" >/dev/null; then
    local port
    [[ $kind == moto || $kind == versitygw ]] || fail "SLUICE_S3_KIND is moto or versitygw, not $kind"
    port=$(reserve_port "$name" http "${SLUICE_S3_PORT:-}")
    port_answers "$port" && fail "port $port is taken by another process; set SLUICE_S3_PORT or wipe"
    "start_$kind" "$port"
  fi
  wait_until "$name" main 60 port_answers "$(cat "$home/port.http")"
  endpoint
}

case ${1:-} in
  start) start ;;
  stop) stop_process "$name" main ;;
  wipe)
    stop_process "$name" main
    rm -rf "$home"
    ;;
  status) if running_pid "$name" >/dev/null; then echo "store $name runs at $(endpoint)"; else echo "store $name does not run" && exit 1; fi ;;
  endpoint) endpoint ;;
  bucket)
    curl -sS -f -o /dev/null -X PUT --aws-sigv4 aws:amz:us-east-1:s3 --user "${SLUICE_S3_KEY:-sluice}:${SLUICE_S3_SECRET:-sluicesecret}" \
      "$(endpoint)/${2:?bucket needs a name}"
    ;;
  python)
    shift
    exec "$(environment)/bin/python" "$@"
    ;;
  *) print_help ;;
esac

#!/usr/bin/env bash
# An S3 store on loopback for tests: moto, which keeps everything in memory.
#
#   s3.sh start              start it if it does not run, print its address
#   s3.sh stop | wipe        end it; what it held is gone either way
#   s3.sh status | endpoint  does it run; where
#   s3.sh bucket NAME        create a bucket, or leave it as it is
#   s3.sh python ARGUMENTS   run the Python that has boto3
#
# SLUICE_S3_NAME (s3) names the store: stores of other names run beside it. SLUICE_S3_PORT wishes a port; without it a free
# one is chosen at the first start and kept. With SLUICE_S3_AUTH=N signatures and rights are checked from request N on:
# until then users and keys are made; without it any key will do.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

version=5.2.5
name=${SLUICE_S3_NAME:-s3}
home=$services/run/$name

environment() { fetch_python moto "moto[server,s3,iam,sts]==$version"; }

endpoint() {
  [[ -s $home/port.http ]] || fail "store $name was never started: s3.sh start"
  echo "http://127.0.0.1:$(cat "$home/port.http")"
}

start() {
  if ! running_pid "$name" >/dev/null; then
    local folder port
    folder=$(environment)
    port=$(reserve_port "$name" http "${SLUICE_S3_PORT:-}")
    port_answers "$port" && fail "port $port is taken by another process; set SLUICE_S3_PORT or wipe"
    [[ -z ${SLUICE_S3_AUTH:-} ]] || export INITIAL_NO_AUTH_ACTION_COUNT=$SLUICE_S3_AUTH
    # Parts may be of any size in moto unless told so; real stores take 5 MiB at least.
    S3_UPLOAD_PART_MIN_SIZE=5242880 start_process "$name" main "$folder/bin/moto_server" -H 127.0.0.1 -p "$port"
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
  bucket) curl -sS -f -o /dev/null -X PUT "$(endpoint)/${2:?bucket needs a name}" ;;
  python)
    shift
    exec "$(environment)/bin/python" "$@"
    ;;
  *) print_help ;;
esac

#!/usr/bin/env bash
# Simulation of whole jobs as a part of the test run: those that have found a defect, then as many others.
# ctest: timeout=600
set -euo pipefail
program=${SLUICE_BUILD_DIR:?}/tests/tests_sim
[[ -x $program ]] || exit 77
while read -r kind seed why; do
  [[ $seed =~ ^[0-9]+$ ]] || continue
  words=()
  [[ $kind == statement ]] && words=(--statements)
  "$program" "${words[@]}" --seeds 1 --from "$seed" >/dev/null || { echo "$kind $seed is back: $why"; exit 1; }
done <"$(dirname "${BASH_SOURCE[0]}")/pinned_seeds.txt"
exec "$program" --seeds "${SLUICE_SIM_SEEDS:-2000}" "$@"

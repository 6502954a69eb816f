#!/usr/bin/env bash
# Simulation of whole jobs as a part of the test run.
# ctest: timeout=600
set -euo pipefail
program=${SLUICE_BUILD_DIR:?}/tests/tests_sim
[[ -x $program ]] || exit 77
exec "$program" --seeds "${SLUICE_SIM_SEEDS:-2000}" "$@"

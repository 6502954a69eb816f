#!/usr/bin/env bash
# Simulation of INSERTs in SQL over the failing disk: filters, joins, aggregates, sorts, set operations.
# ctest: timeout=600
set -euo pipefail
program=${SLUICE_BUILD_DIR:?}/tests/tests_sim
[[ -x $program ]] || exit 77
exec "$program" --statements --seeds "${SLUICE_SIM_SEEDS:-1000}" "$@"

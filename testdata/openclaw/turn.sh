#!/usr/bin/env bash
# turn.sh RUN_DIR MESSAGE [PROVIDER] - one agent turn through the gateway that runs in RUN_DIR; prints its JSON result.
set -euo pipefail
run=${1:?usage: turn.sh RUN_DIR MESSAGE [PROVIDER]}
message=${2:?usage: turn.sh RUN_DIR MESSAGE [PROVIDER]}
. "$run/env"
model=()
[ $# -gt 2 ] && model=(--model "$3/gpt-oss")
cd "$run/ws"
exec "$OC_NODE" "$OC_MAIN" agent --agent main --session-key "agent:main:by-hand-$$" --json -m "$message" "${model[@]}"

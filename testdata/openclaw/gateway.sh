#!/usr/bin/env bash
# gateway.sh RUN_DIR ID[@API]=BASE_URL... - run a real OpenClaw gateway in the foreground, on loopback, without the internet.
# Each ID becomes a provider with the model gpt-oss; the first is the default. API is openai-completions, or
# openai-responses. All state is in RUN_DIR, which ends up
# with RUN_DIR/env (to be sourced) and RUN_DIR/ws (the agent's workspace). Ready when GET /readyz says 200.
#   OC_PORT   port; default a free one
#   OC_TOKEN  bearer token of the gateway's HTTP endpoints; default a random one
#   OC_HOME   home folder of the agents; default RUN_DIR/home
#   OC_PLUGIN folder or npm package of a plugin that is installed first, by OpenClaw's own command; default none
#   OC_MORE   file with more of openclaw.json, which wins over ours; default none
#   OC_STEP   config: write RUN_DIR/env and RUN_DIR/openclaw.json, and end; run: run with those that are there
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
run=${1:?usage: gateway.sh RUN_DIR ID[@API]=BASE_URL...}
shift
if [ "${OC_STEP:-}" = run ]; then
  . "$run/env"
  cd "$run/ws"
  exec "$OC_NODE" "$OC_MAIN" gateway run
fi
prefix=$("$here/install.sh" "$here")
node=$(ls "$prefix"/node_modules/node-*/bin/node 2>/dev/null || command -v node)
chmod +x "$node" 2>/dev/null || true # npm ran no scripts, so nobody has done it yet

mkdir -p "$run"/home "$run"/state "$run"/ws "$run"/tmp
run=$(cd "$run" && pwd)
chmod 700 "$run" "$run/state"
mkdir -p "$prefix/compiled" # what Node has compiled; each start would do it again, which takes 2 s
ln -sfn "$prefix/compiled" "$run/tmp/node-compile-cache"
free='const s=require("net").createServer().listen(0,"127.0.0.1",()=>{console.log(s.address().port);s.close()})'
cat >"$run/env" <<ENV
export HOME='${OC_HOME:-$run/home}' TMPDIR='$run/tmp' PATH='$(dirname "$node"):$PATH' NO_COLOR=1 DO_NOT_TRACK=1
export OC_NODE='$node' OC_MAIN='$prefix/node_modules/openclaw/openclaw.mjs'
export OC_PORT='${OC_PORT:-$("$node" -e "$free")}' OC_TOKEN='${OC_TOKEN:-$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')}'
export OPENCLAW_STATE_DIR='$run/state' OPENCLAW_CONFIG_PATH='$run/openclaw.json'
export OPENCLAW_TRAJECTORY=0 OPENCLAW_NO_RESPAWN=1 OPENCLAW_NO_AUTO_UPDATE=1 OPENCLAW_OFFLINE=1 OPENCLAW_DISABLE_BONJOUR=1
export OPENCLAW_SKIP_CHANNELS=1 OPENCLAW_SKIP_CRON=1 OPENCLAW_SKIP_GMAIL_WATCHER=1 OPENCLAW_SKIP_CANVAS_HOST=1
export OPENCLAW_SKIP_BROWSER_CONTROL_SERVER=1 OPENCLAW_SKIP_STARTUP_MODEL_PREWARM=1
unset OPENCLAW_GATEWAY_PORT OPENCLAW_GATEWAY_TOKEN OPENCLAW_HOME OPENCLAW_PROFILE
unset HTTP_PROXY HTTPS_PROXY http_proxy https_proxy ALL_PROXY all_proxy
ENV
. "$run/env"
"$node" "$here/config.mjs" "$run" "$@" >"$run/openclaw.json"
chmod 600 "$run/openclaw.json"
[ "${OC_STEP:-}" != config ] || exit 0
echo "OpenClaw gateway: http://127.0.0.1:$OC_PORT  run dir: $run" >&2
cd "$run/ws"
if [ -n "${OC_PLUGIN:-}" ]; then
  "$node" "$OC_MAIN" plugins install --force --accept-capabilities "$OC_PLUGIN" >&2
fi
# With these two, and without its diary of turns (OPENCLAW_TRAJECTORY), it takes 8 % less of the processor.
exec "$node" --max-semi-space-size=64 --single-threaded-gc "$OC_MAIN" gateway run

// config.mjs RUN_DIR ID[@API]=BASE_URL... - print an openclaw.json for a gateway that talks to nobody but these providers.
import { readFileSync } from "node:fs";
import path from "node:path";

const [run, ...providers] = process.argv.slice(2);
const { OC_PORT, OC_TOKEN, OC_MORE } = process.env;
if (!run || providers.length === 0 || providers.some((p) => !p.includes("="))) {
  console.error("usage: config.mjs RUN_DIR ID[@API]=BASE_URL...");
  process.exit(2);
}

const model = {
  id: "gpt-oss",
  name: "gpt-oss",
  reasoning: true,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 131072,
  maxTokens: 8192,
  compat: {
    supportsReasoningEffort: true,
    supportedReasoningEfforts: ["low", "medium", "high"],
    maxTokensField: "max_tokens",
    requiresToolResultName: true,
    sendSessionAffinityHeaders: true,
    sendSessionIdHeader: true, // the same of the Responses API
  },
};

function provider(arg) {
  const [name, ...url] = arg.split("=");
  const [id, api = "openai-completions"] = name.split("@");
  const settings = { baseUrl: url.join("="), apiKey: "sk-local", api, timeoutSeconds: 60 };
  return [id, { ...settings, models: [model] }];
}

const entries = providers.map(provider);
const off = { enabled: false };
const config = {
  gateway: {
    mode: "local",
    port: Number(OC_PORT),
    bind: "loopback",
    auth: { mode: "token", token: OC_TOKEN },
    controlUi: off,
    terminal: off,
    cliAgents: off,
    reload: { mode: "off" },
    http: { endpoints: { chatCompletions: { enabled: true } } },
  },
  agents: {
    defaults: {
      workspace: path.join(run, "ws"),
      skipBootstrap: true,
      heartbeat: { every: "0m" },
      model: { primary: `${entries[0][0]}/${model.id}` },
    },
  },
  // A call that says so is asked about; without this it would run at once. Nobody is there to answer.
  tools: { exec: { security: "full", ask: "on-miss" } },
  // Without replace and catalogRefresh off, the gateway fetches a catalog from the internet.
  models: { mode: "replace", catalogRefresh: off, providers: Object.fromEntries(entries) },
  plugins: off,
  // The cleaning of old sessions holds a lock of the whole gateway: up to 11 s on a busy machine, and its other threads
  // give up after 5 s. A gateway this young has nothing to clean.
  session: { maintenance: { mode: "warn" } },
  update: { checkOnStart: false, auto: off },
  telemetry: off,
  discovery: { mdns: { mode: "off" } },
  browser: off,
  cron: off,
  memory: { search: off },
  // Without a file of its own, the gateway logs to /tmp/openclaw.
  logging: { level: "info", file: path.join(run, "gateway.log"), consoleStyle: "json", consoleLevel: "info" },
};

// merge puts the members of an object over those of another, at every depth. null takes one away.
function merge(under, over) {
  const all = { ...under }; // what is off shares one object
  for (const [key, value] of Object.entries(over)) {
    const both = [value, under[key]].every((v) => v && typeof v === "object" && !Array.isArray(v));
    all[key] = both ? merge(under[key], value) : value;
    if (value === null) delete all[key];
  }
  return all;
}

console.log(JSON.stringify(merge(config, OC_MORE ? JSON.parse(readFileSync(OC_MORE)) : {}), null, 2));

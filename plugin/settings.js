// What an operator says about the sidecar, with what holds if nothing is said.

import { readFileSync } from "node:fs";

/**
 * @typedef {object} Settings
 * @property {string} url where the sidecar serves, without /v1
 * @property {string} token that the sidecar wants of whoever asks a model; empty: none
 * @property {string} admin where its admin API serves
 * @property {() => string} adminToken the token of that; read each time, so that it can be changed
 * @property {boolean} policy whether the sidecar is asked before a tool runs
 * @property {"reads" | "nothing"} unreachable what may run while it cannot be asked
 * @property {Set<string>} readTools the tools that only read
 * @property {number} timeoutMs how long the sidecar is waited for
 * @property {number} promptMs how long a person is waited for
 * @property {number} contextWindow of the model server, in tokens: its models do not say it
 */

/** The tools of OpenClaw that only read. A tool that is not here is taken for one that writes. */
export const readTools = [
  "agents_list", "get_goal", "ls", "memory_get", "memory_search", "read", "session_status",
  "sessions_history", "sessions_list", "sessions_search", "tool_describe", "tool_search",
];

/**
 * The settings of a plugin config. OpenClaw checks them by the schema of the manifest, but not in
 * every case, so what would weaken the policy is checked here, too.
 *
 * @param {Record<string, any>} [config]
 * @param {Record<string, string | undefined>} [env]
 * @returns {Settings}
 */
export function settings(config = {}, env = process.env) {
  const { unreachable = "reads", policy = true, timeoutMs = 5000, promptMs = 300_000, contextWindow = 131_072 } = config;
  if (unreachable !== "reads" && unreachable !== "nothing") {
    throw new Error(`gpt-oss-executor: "unreachable" is ${JSON.stringify(unreachable)}, and can be "reads" or "nothing"`);
  }
  if (typeof policy !== "boolean") {
    throw new Error(`gpt-oss-executor: "policy" is ${JSON.stringify(policy)}, and can be true or false`);
  }
  for (const [name, n, most] of [["timeoutMs", timeoutMs, 60_000], ["promptMs", promptMs, 600_000]]) {
    if (!Number.isInteger(n) || n < 100 || n > most) {
      throw new Error(`gpt-oss-executor: "${name}" is ${JSON.stringify(n)}, and can be a number of milliseconds up to ${most}`);
    }
  }
  if (!Number.isInteger(contextWindow) || contextWindow < 1024) {
    throw new Error(`gpt-oss-executor: "contextWindow" is ${JSON.stringify(contextWindow)}, and can be a number of tokens from 1024 on`);
  }
  return {
    url: address(config.url ?? "http://127.0.0.1:8001", "url"),
    token: config.token || env.GPTOSS_EXECUTOR_TOKEN || "",
    admin: address(config.admin ?? "http://127.0.0.1:8002", "admin"),
    adminToken: () => token(config, env),
    policy,
    unreachable,
    readTools: new Set(config.readTools ?? readTools),
    timeoutMs,
    promptMs,
    contextWindow,
  };
}

/**
 * @param {string} text
 * @param {string} name
 */
function address(text, name) {
  let url;
  try {
    url = new URL(text);
  } catch {
    throw new Error(`gpt-oss-executor: "${name}" is ${JSON.stringify(text)}, and must be an address such as http://127.0.0.1:8001`);
  }
  return (url.origin + url.pathname).replace(/\/+$/, "").replace(/\/v1$/, "");
}

/**
 * @param {Record<string, any>} config
 * @param {Record<string, string | undefined>} env
 */
function token(config, env) {
  if (config.adminToken) return config.adminToken;
  if (config.adminTokenFile) return readFileSync(config.adminTokenFile, "utf8").trim();
  return env.GPTOSS_EXECUTOR_ADMIN_TOKEN ?? "";
}

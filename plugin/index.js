// The plugin of gpt-oss-executor for OpenClaw. It starts no process: the sidecar runs by itself, or
// as localService of its provider.

import { policy } from "./policy.js";
import { id, provider } from "./provider.js";
import { settings } from "./settings.js";
import { sidecar } from "./sidecar.js";
import { status, words } from "./status.js";

export default {
  id,
  name: "gpt-oss-executor",
  description: "The models, the status and the policy of a gpt-oss-executor sidecar",

  /** OpenClaw calls this several times, also in commands: it only registers, and starts nothing. */
  register(api) {
    const set = settings(api.pluginConfig);
    const side = sidecar(set);
    const now = () => status(set, side);

    api.registerProvider(provider(set, side, api.logger));
    api.registerGatewayMethod("gptoss.status", async ({ respond }) => respond(true, await now()), { scope: "operator.read" });
    api.registerHttpRoute({
      path: "/plugins/gpt-oss-executor/status",
      auth: "gateway",
      match: "exact",
      handler: async (_request, response) => {
        const said = await now();
        response.statusCode = said.ok ? 200 : 503;
        response.setHeader("content-type", "application/json");
        response.end(`${JSON.stringify(said)}\n`);
        return true;
      },
    });
    api.registerCli(({ program }) => {
      program.command("gptoss").description("The gpt-oss-executor sidecar")
        .command("status").description("Say how it does").option("--json", "as JSON")
        .action(async ({ json }) => {
          const said = await now();
          console.log(json ? JSON.stringify(said) : words(said));
          if (!said.ok) process.exitCode = 1;
        });
    }, { descriptors: [{ name: "gptoss", description: "The gpt-oss-executor sidecar", hasSubcommands: true }] });
    if (set.policy) {
      const workspace = (/** @type {string | undefined} */ agent) =>
        agent ? api.runtime?.agent?.resolveAgentWorkspaceDir?.(api.config, agent) ?? "" : "";
      const executor = (/** @type {string | undefined} */ agent) =>
        (agent && api.config?.agents?.entries?.[agent]?.tools?.codeMode?.executor) || api.config?.tools?.codeMode?.executor || "node";
      api.on("before_tool_call", policy({ settings: set, sidecar: side, log: api.logger, workspace, executor }), { priority: -100 });
    }
  },
};

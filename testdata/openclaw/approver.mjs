// approver.mjs URL TOKEN DECISION - a person who answers every question of the gateway with DECISION (allow-once, deny),
// and prints as JSON what they were shown, a line each. The first line is {"ready":true}. Its working directory is the
// folder of OpenClaw: node --input-type=module - URL TOKEN DECISION < approver.mjs
import { GatewayClient } from "openclaw/plugin-sdk/gateway-runtime";

const [url, token, decision] = process.argv.slice(2);
const say = (what) => console.log(JSON.stringify(what));

const client = new GatewayClient({
  url: url.replace(/^http/, "ws"),
  token,
  clientName: "gateway-client",
  mode: "backend",
  caps: ["approvals"],
  scopes: ["operator.admin", "operator.approvals"], // who is no admin sees their own questions only
  onHelloOk: () => say({ ready: true }),
  onConnectError: (error) => console.error(String(error)),
  onEvent: async ({ event, payload }) => {
    if (event !== "exec.approval.requested") return;
    say({ command: payload.request.command, warning: payload.request.warningText ?? "" });
    await new Promise((done) => setTimeout(done, 1200)); // as fast as a person can be
    await client.request("exec.approval.resolve", { id: payload.id, decision });
  },
});
client.start();

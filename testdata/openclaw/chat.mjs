// chat.mjs URL TOKEN SESSION MESSAGE DECISION BY - a person in a chat of the gateway, who sends one message and reads the
// answer. Where the chat asks them about a call, they answer there with DECISION (allow-once, deny): BY is button, or
// typed, which is the message /approve. Each thing that they see is a line of JSON: {"asked":…} and, at the end,
// {"text":…}. Its working directory is the folder of OpenClaw: node --input-type=module - URL … < chat.mjs
import { randomUUID } from "node:crypto";
import { GatewayClient } from "openclaw/plugin-sdk/gateway-runtime";

const [url, token, sessionKey, message, decision, by] = process.argv.slice(2);
const say = (what) => console.log(JSON.stringify(what));
const runs = new Map();

const send = (text) => {
  const idempotencyKey = randomUUID();
  runs.set(idempotencyKey, text);
  return client.request("chat.send", { sessionKey, message: text, idempotencyKey });
};

const client = new GatewayClient({
  url: url.replace(/^http/, "ws"),
  token,
  clientName: "gateway-client",
  mode: "backend",
  caps: ["approvals", "tool-events"],
  scopes: ["operator.admin", "operator.approvals", "operator.write", "operator.read"],
  onHelloOk: () => send(message).catch((error) => { console.error(String(error)); process.exit(1); }),
  onConnectError: (error) => console.error(String(error)),
  onEvent: async ({ event, payload }) => {
    if (event === "plugin.approval.requested") {
      say({ asked: payload.request.description, title: payload.request.title, may: payload.request.allowedDecisions });
      await new Promise((done) => setTimeout(done, 1200)); // as fast as a person can be
      if (by === "typed") await send(`/approve ${payload.id} ${decision}`);
      else await client.request("plugin.approval.resolve", { id: payload.id, decision });
    }
    if (event !== "chat" || !["final", "error", "aborted"].includes(payload.state)) return;
    if (runs.get(payload.runId) !== message) return console.error(JSON.stringify(payload));
    say({ text: payload.message?.content?.map?.((part) => part.text ?? "").join("") ?? payload.errorMessage ?? "" });
    process.exit(0);
  },
});
client.start();

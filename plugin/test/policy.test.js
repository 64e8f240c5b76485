import assert from "node:assert/strict";
import http from "node:http";
import { after, before, test } from "node:test";

import plugin from "../index.js";
import { prompt } from "../chat.js";
import { settings } from "../settings.js";

// A sidecar that answers what a test says, and keeps what it was asked.
let server, base, said, asked;
before(async () => {
  server = http.createServer((request, response) => {
    let body = "";
    request.on("data", (part) => (body += part));
    request.on("end", () => {
      asked.push({ path: request.url, token: request.headers.authorization, body: body && JSON.parse(body) });
      const { status = 200, text } = said[request.url] ?? { status: 404, text: '{"error":{"message":"not served"}}' };
      response.writeHead(status, { "content-type": "application/json" }).end(text);
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  base = `http://127.0.0.1:${server.address().port}`;
});
after(() => new Promise((done) => server.close(done)));

// What the plugin registers, with this config.
function registered(config = {}, gateway = {}) {
  asked = [];
  const found = { warnings: [] };
  plugin.register({
    pluginConfig: { url: base, admin: base, adminToken: "secret", ...config },
    config: gateway,
    logger: { warn: (text) => found.warnings.push(text), info() {} },
    runtime: { agent: { resolveAgentWorkspaceDir: (_config, agent) => `/srv/${agent}` } },
    registerProvider: (p) => (found.provider = p),
    registerGatewayMethod: (name, run) => (found[name] = run),
    registerHttpRoute: (route) => (found.route = route),
    registerCli: (run, { descriptors }) => (found.cli = descriptors[0].name),
    on: (name, run) => (found[name] = run),
  });
  return found;
}

const call = (toolName, params = { command: "ls" }) => [{ toolName, params, toolCallId: "call1" }, { agentId: "main", sessionKey: "agent:main:main", requester: { channel: "webchat" } }];
const answers = (ruling, status) => (said = { "/calls/judge": { status, text: typeof ruling === "string" ? ruling : JSON.stringify(ruling) } });
const asks = (more) => ({ effect: "ask", shown: "git push", why: "It publishes.", approval: { id: "ap-1", until: new Date(Date.now() + 60_000).toISOString() }, ...more });

test("the sidecar is asked about the call, with its token", async () => {
  answers({ effect: "allow" });
  assert.equal(await registered().before_tool_call(...call("exec")), undefined);
  assert.deepEqual(asked, [{
    path: "/calls/judge", token: "Bearer secret",
    body: { id: "call1", tool: "exec", arguments: { command: "ls" }, workspace: "/srv/main", session: "agent:main:main", agent: "main", channel: "webchat", again: false },
  }]);
});

test("what is denied does not run, and says why", async () => {
  answers({ effect: "deny", message: "Not there." });
  assert.deepEqual(await registered().before_tool_call(...call("exec")), { block: true, blockReason: "Not there." });
});

for (const [decision, path] of [["allow-once", "/approvals/ap-1/use"], ["deny", "/approvals/ap-1/deny"], ["timeout", undefined], ["cancelled", undefined], ["allow-always", undefined]]) {
  test(`a person answers ${decision}`, async () => {
    answers(asks());
    const found = registered();
    const { requireApproval: question } = await found.before_tool_call(...call("exec"));
    assert.equal(question.description, "git push\n\nIt publishes.\n\nApproval ap-1.");
    assert.deepEqual(question.allowedDecisions, ["allow-once", "deny"]);
    assert.ok(question.timeoutMs > 50_000 && question.timeoutMs <= 60_000);
    if (path) said[path] = { text: "{}" };
    await question.onResolution(decision);
    assert.equal(asked[1]?.path, path);
    assert.equal(asked[1]?.body.by, path && "a person in the chat (webchat)");
    assert.deepEqual(found.warnings, []);
  });
}

test("of a call inside of tool_call it is said that it comes by itself", async () => {
  answers({ effect: "allow" });
  await registered().before_tool_call(...call("tool_call", { id: "exec", args: { command: "git push" } }));
  assert.equal(asked[0].body.again, true);
});

test("the code of code mode runs where nothing but judged calls leads out", async () => {
  answers({ effect: "deny", message: "This is no command." });
  const [event, ctx] = call("exec", { code: "return 1" });
  const quickjs = { codeMode: { executor: "quickjs" } };
  for (const [gateway, runs] of [
    [{}, false], [{ tools: { codeMode: true } }, false], [{ tools: { codeMode: { executor: "node" } } }, false], [{ tools: quickjs }, true],
    [{ agents: { entries: { main: { tools: quickjs } } } }, true], [{ agents: { entries: { other: { tools: quickjs } } } }, false],
    [{ tools: quickjs, agents: { entries: { main: { tools: { codeMode: { executor: "node" } } } } } }, false],
  ]) {
    const found = registered({}, gateway);
    const said = await found.before_tool_call({ ...event, toolKind: "code_mode_exec" }, ctx);
    assert.equal(said?.block ?? false, !runs, JSON.stringify(gateway));
    if (!runs) assert.match(said.blockReason, /quickjs/);
    assert.deepEqual(asked, []);
    assert.equal((await found.before_tool_call(event, ctx)).block, true); // a shell command that calls itself code
  }
});

test("an answer that cannot be noted is in the log", async () => {
  answers(asks());
  const found = registered();
  await (await found.before_tool_call(...call("exec"))).requireApproval.onResolution("allow-once");
  assert.match(found.warnings[0], /ap-1 could not be noted: .*404: not served/);
});

test("a person must see all that they allow", () => {
  const long = prompt(asks({ shown: "x".repeat(500) }), "exec", { promptMs: 1000, answered() {} });
  assert.match(long.blockReason, /approvals allow ap-1/);
  const late = prompt(asks(), "exec", { promptMs: 1000, now: Date.now() + 60_000, answered() {} });
  assert.equal(late.block, true);
});

for (const [name, ruling, status] of [
  ["an error", { error: { message: "the token is missing or wrong" } }, 401],
  ["no JSON", "<html>", 200],
  ["no ruling", {}, 200],
  ["a ruling of a newer sidecar", { effect: "wait" }, 200],
]) {
  test(`fails closed on ${name}`, async () => {
    answers(ruling, status);
    const found = registered();
    for (const tool of ["exec", "write", "edit", "apply_patch", "process", "browser", "a_new_tool"]) {
      const result = await found.before_tool_call(...call(tool));
      assert.match(result.blockReason, new RegExp(`${tool} does not run`));
    }
    assert.equal(await found.before_tool_call(...call("read")), undefined);
    assert.equal(found.warnings.length, 8);
    const strict = registered({ unreachable: "nothing" });
    assert.equal((await strict.before_tool_call(...call("read"))).block, true);
    const own = registered({ readTools: ["look"] });
    assert.equal((await own.before_tool_call(...call("read"))).block, true);
    assert.equal(await own.before_tool_call(...call("look")), undefined);
  });
}

test("fails closed where nobody listens", async () => {
  const found = registered({ admin: "http://127.0.0.1:9" });
  assert.equal((await found.before_tool_call(...call("exec"))).block, true);
  assert.match(found.warnings[0], /cannot be reached/);
});

test("the catalog is that of the sidecar", async () => {
  said = { "/v1/models": { text: '{"data":[{"id":"gpt-oss-120b"},{"id":"mine"}]}' } };
  const found = registered();
  const offered = async () => (await found.provider.catalog.run()).provider;
  assert.deepEqual((await offered()).models.map((m) => m.id), ["gpt-oss-120b", "mine"]);
  assert.equal((await offered()).baseUrl, `${base}/v1`);
  const small = (await registered({ contextWindow: 8192 }).provider.catalog.run()).provider.models[0];
  assert.deepEqual([small.contextWindow, small.maxTokens], [8192, 4096]);
  said = {};
  assert.deepEqual((await offered()).models.map((m) => m.id), ["gpt-oss-20b"]);
  assert.match(found.warnings[0], /its models are not known/);
});

test("the status says what is wrong", async () => {
  said = {
    "/v1/models": { text: '{"data":[{"id":"gpt-oss-120b"}]}' }, "/readyz": { text: '{"ready":true}' },
    "/rules": { text: '{"version":"abc"}' }, "/approvals": { text: '{"approvals":[{"state":"pending"},{"state":"used"}]}' },
  };
  const found = registered();
  const status = () => new Promise((done) => found["gptoss.status"]({ respond: (_ok, value) => done(value) }));
  const good = await status();
  assert.deepEqual([good.ok, good.models, good.policy.rules, good.policy.waiting, good.errors], [true, ["gpt-oss-120b"], "abc", 1, []]);
  delete said["/rules"];
  const bad = await status();
  assert.equal(bad.ok, false);
  assert.match(bad.errors[0], /rules answers 404: not served/);
  let sent;
  await found.route.handler({}, { setHeader() {}, end: (text) => (sent = JSON.parse(text)) });
  assert.equal(sent.ok, false);
});

test("settings that weaken the policy are refused", () => {
  for (const bad of [{ unreachable: "everything" }, { policy: "yes" }, { timeoutMs: -1 }, { promptMs: "5" }, { contextWindow: 0 }, { url: "no address" }]) {
    assert.throws(() => settings(bad, {}), /gpt-oss-executor: "/);
  }
  assert.equal(settings({ url: "http://127.0.0.1:8001/v1/" }, {}).url, "http://127.0.0.1:8001");
  assert.equal(settings({}, { GPTOSS_EXECUTOR_ADMIN_TOKEN: "t" }).adminToken(), "t");
  assert.equal(registered({ policy: false }).before_tool_call, undefined);
});

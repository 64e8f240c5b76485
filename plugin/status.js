// How the sidecar does, as one object for the gateway method, the route and the command.

import { readFileSync } from "node:fs";

const { version } = JSON.parse(readFileSync(new URL("./package.json", import.meta.url), "utf8"));

/**
 * @param {import("./settings.js").Settings} settings
 * @param {ReturnType<typeof import("./sidecar.js").sidecar>} sidecar
 */
export async function status(settings, sidecar) {
  const [models, ready, rules, waiting] = await Promise.all(
    [sidecar.models, sidecar.ready, sidecar.rules, sidecar.waiting].map((part) => part().then((value) => ({ value }), (error) => ({ error: error.message }))),
  );
  return {
    plugin: version,
    url: settings.url,
    ok: !models.error && !ready.error && ready.value.ready !== false && (!settings.policy || !rules.error && !waiting.error),
    models: models.value ?? [],
    ready: ready.value ?? null,
    policy: settings.policy
      ? { on: true, admin: settings.admin, rules: rules.value ?? null, waiting: waiting.value ?? null, unreachable: settings.unreachable }
      : { on: false },
    errors: [...new Set([...(ready.value?.failing ?? []), ...[models, ready, ...(settings.policy ? [rules, waiting] : [])].map((part) => part.error)].filter(Boolean))],
  };
}

/** The status in words. @param {Awaited<ReturnType<typeof status>>} s */
export function words(s) {
  const lines = [
    `sidecar   ${s.url} ${s.ok ? "is fine" : "is not fine"}`,
    `models    ${s.models.join(", ") || "not known"}`,
    s.policy.on
      ? `policy    asks ${s.policy.admin}; rules ${s.policy.rules ?? "not known"}; ${s.policy.waiting ?? "?"} calls wait for a person`
      : "policy    off: calls of other models are not judged",
  ];
  return [...lines, ...s.errors.map((error) => `error     ${error}`)].join("\n");
}

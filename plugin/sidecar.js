// The sidecar over HTTP: its models, whether it is ready, and its admin API.

/**
 * @param {import("./settings.js").Settings} s
 */
export function sidecar(s) {
  /**
   * @param {string} url
   * @param {{ method?: string, body?: object, signal?: AbortSignal, token?: string, any?: boolean }} [how]
   */
  async function ask(url, { method = "GET", body, signal, token, any } = {}) {
    const limit = AbortSignal.timeout(s.timeoutMs);
    const headers = { accept: "application/json" };
    if (body) headers["content-type"] = "application/json";
    if (token) headers.authorization = `Bearer ${token}`;
    let answer, text;
    try {
      answer = await fetch(url, {
        method, headers, redirect: "error", body: body && JSON.stringify(body),
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
      });
      text = await answer.text();
    } catch (error) {
      throw new Error(`${url} cannot be reached: ${error.cause?.message ?? error.message}`);
    }
    let said;
    try {
      said = JSON.parse(text);
    } catch {
      throw new Error(`${url} answers ${answer.status}, and no JSON`);
    }
    if (!answer.ok && !any) {
      const { message = "", hint = "" } = said.error ?? {};
      throw new Error(`${url} answers ${answer.status}: ${[message, hint].filter(Boolean).join("; ")}`);
    }
    return said;
  }

  /** @param {string} path @param {object} [body] @param {AbortSignal} [signal] */
  const admin = async (path, body, signal) =>
    ask(s.admin + path, { method: body ? "POST" : "GET", body, signal, token: s.adminToken() });

  return {
    /** The ids of the models. @returns {Promise<string[]>} */
    models: async () => (await ask(`${s.url}/v1/models`, { token: s.token })).data.map((m) => m.id),
    /** Whether requests can be served, with the reason if not. */
    ready: () => ask(`${s.url}/readyz`, { any: true }),
    /** The version of the rules in force. */
    rules: async () => (await admin("/rules")).version,
    /** How many calls wait for a person. */
    waiting: async () => (await admin("/approvals")).approvals.filter((a) => a.state === "pending").length,
    /** May this call run? @param {object} call @param {AbortSignal} [signal] */
    judge: (call, signal) => admin("/calls/judge", call, signal),
    /** A person has said yes, and the call runs now. @param {string} id @param {string} by */
    use: (id, by) => admin(`/approvals/${encodeURIComponent(id)}/use`, { by }),
    /** A person has said no. @param {string} id @param {string} by */
    deny: (id, by) => admin(`/approvals/${encodeURIComponent(id)}/deny`, { by }),
  };
}

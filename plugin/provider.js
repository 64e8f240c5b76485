// The models of the sidecar, as a provider of OpenClaw.

export const id = "gpt-oss-executor";

/** Which model is shown while the sidecar cannot be asked for its own. */
const known = "gpt-oss-20b";

/** A sidecar on loopback may need no key; OpenClaw wants one of every provider. */
const none = "gpt-oss-local";

/**
 * @param {string} name
 * @param {number} contextWindow
 */
function model(name, contextWindow) {
  return {
    id: name,
    name: `${name} (gpt-oss-executor)`,
    reasoning: true,
    input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow,
    maxTokens: Math.min(8192, Math.floor(contextWindow / 2)),
    compat: {
      supportsReasoningEffort: true,
      supportedReasoningEfforts: ["low", "medium", "high"],
      maxTokensField: "max_tokens",
      requiresToolResultName: true,
      sendSessionAffinityHeaders: true,
    },
  };
}

/**
 * @param {{ url: string, token: string, contextWindow: number }} settings
 * @param {{ models: () => Promise<string[]> }} sidecar
 * @param {{ warn: (text: string) => void }} log
 */
export function provider(settings, sidecar, log) {
  const key = settings.token || none;
  const baseUrl = `${settings.url}/v1`;
  /** @param {string[]} names */
  const offer = (names) => ({ provider: { baseUrl, api: "openai-completions", apiKey: key, models: names.map((name) => model(name, settings.contextWindow)) } });
  return {
    id,
    label: "gpt-oss-executor",
    docsPath: "/providers/vllm",
    envVars: ["GPT_OSS_EXECUTOR_API_KEY"],
    auth: [],
    resolveSyntheticAuth: () => ({ apiKey: key, source: "the settings of gpt-oss-executor", mode: "api-key" }),
    catalog: {
      order: "late",
      run: async () => {
        try {
          return offer(await sidecar.models());
        } catch (error) {
          log.warn(`gpt-oss-executor: its models are not known: ${error.message}`);
          return offer([known]);
        }
      },
    },
    staticCatalog: { order: "late", run: async () => offer([known]) },
    resolveDynamicModel: (/** @type {{ modelId: string }} */ ctx) => ({ ...model(ctx.modelId, settings.contextWindow), provider: id, api: "openai-completions", baseUrl }),
  };
}

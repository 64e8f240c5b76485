// A question of the policy, as OpenClaw puts it in the chat from which the call came.

/** How long a text of a prompt may be; OpenClaw cuts what is longer. */
const mostText = 512;

/**
 * The prompt for a call, or why none can be made: a person must see all that they allow.
 *
 * @param {{ approval: { id: string, until: string }, shown: string, why?: string, instead?: string }} ruling
 * @param {string} tool
 * @param {{ promptMs: number, now?: number, answered: (decision: string) => Promise<void> }} how
 * @returns {{ requireApproval: object } | { block: true, blockReason: string }}
 */
export function prompt(ruling, tool, { promptMs, now = Date.now(), answered }) {
  const { id, until } = ruling.approval;
  const left = Date.parse(until) - now;
  const description = [ruling.shown, ruling.why, `Approval ${id}.`].filter(Boolean).join("\n\n");
  if ([...description].length > mostText || !(left > 1000)) {
    return {
      block: true,
      blockReason: `${ruling.why ?? ""} A person must allow this first, and the chat cannot show all of it. They can allow it with: gpt-oss-executor approvals allow ${id}. When it is allowed, send exactly this call again.`.trim(),
    };
  }
  return {
    requireApproval: {
      title: `Policy: may ${tool} do this once?`.slice(0, 80),
      description,
      severity: "warning",
      allowedDecisions: ["allow-once", "deny"],
      timeoutMs: Math.min(promptMs, left),
      onResolution: answered,
    },
  };
}

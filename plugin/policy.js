// The hook before each tool call: the sidecar says whether it may run, whichever model has made it.

import { prompt } from "./chat.js";

/**
 * @param {{
 *   settings: import("./settings.js").Settings,
 *   sidecar: ReturnType<typeof import("./sidecar.js").sidecar>,
 *   log: { warn: (text: string) => void },
 *   workspace: (agent?: string) => string,
 *   executor: (agent?: string) => string,
 * }} with_
 */
export function policy({ settings, sidecar, log, workspace, executor }) {
  /**
   * @param {{ toolName: string, params: Record<string, unknown>, toolCallId?: string, toolKind?: string }} event
   * @param {{ agentId?: string, sessionKey?: string, channelId?: string, toolCallId?: string, abortSignal?: AbortSignal, requester?: { channel?: string } }} ctx
   */
  return async function beforeToolCall(event, ctx) {
    if (event.toolKind === "code_mode_exec") return cell(executor(ctx.agentId));
    const channel = ctx.requester?.channel ?? ctx.channelId ?? "";
    let ruling;
    try {
      ruling = await sidecar.judge({
        id: event.toolCallId ?? ctx.toolCallId ?? "",
        tool: event.toolName,
        arguments: event.params ?? {},
        workspace: workspace(ctx.agentId),
        session: ctx.sessionKey ?? "",
        agent: ctx.agentId ?? "",
        channel,
        again: event.toolName === "tool_call", // the call inside comes by itself, under its own name
      }, ctx.abortSignal);
    } catch (error) {
      return unreachable(event.toolName, error);
    }
    switch (ruling.effect) {
      case "allow":
        return undefined;
      case "ask":
        return prompt(ruling, event.toolName, { promptMs: settings.promptMs, answered: answer(ruling.approval.id, channel) });
      case "deny":
        return { block: true, blockReason: ruling.message };
      default:
        return unreachable(event.toolName, new Error(`it answers ${JSON.stringify(ruling.effect)}`));
    }
  };

  /**
   * The code of code mode is no command. Each call that it makes comes by itself, as long as nothing else leads out.
   * @param {string} executor
   */
  function cell(executor) {
    if (executor === "quickjs") return undefined;
    return {
      block: true,
      blockReason: "Code does not run here: its executor is no wall, so that the policy would not hold for it. Do not send it again; " +
        'tell the user to set tools.codeMode.executor to "quickjs", or tools.codeMode to false.',
    };
  }

  /** @param {string} tool @param {Error} error */
  function unreachable(tool, error) {
    const passes = settings.unreachable === "reads" && settings.readTools.has(tool);
    log.warn(`gpt-oss-executor: the policy cannot be asked about ${tool}, which ${passes ? "only reads, and runs" : "does not run"}: ${error.message}`);
    if (passes) return undefined;
    return {
      block: true,
      blockReason: `The policy cannot be asked, so ${tool} does not run. Do not send it again; tell the user that the gpt-oss-executor sidecar does not answer.`,
    };
  }

  /** Tells the sidecar what a person has said. Who says nothing leaves the question open. */
  function answer(/** @type {string} */ id, /** @type {string} */ channel) {
    const by = `a person in the chat${channel ? ` (${channel})` : ""}`;
    return async (/** @type {string} */ decision) => {
      try {
        if (decision === "allow-once") await sidecar.use(id, by);
        if (decision === "deny") await sidecar.deny(id, by);
      } catch (error) {
        log.warn(`gpt-oss-executor: the answer ${decision} to ${id} could not be noted: ${error.message}`);
      }
    };
  }
}

// Onrecord in pi: hands each event to Onrecord's hook, and puts the answer where the model sees it.
// Written by `onrecord connect pi`; take it away with `onrecord connect pi --remove`.
// A session goes on whatever happens here: no answer within the time limit is no answer, and nothing is thrown,
// because pi takes an error before a tool for a veto.
import { execFile } from "node:child_process"

const HOST = "pi"
const LAUNCHER = "{{launcher}}"
// {{ask}}

const common = (context) => ({
  session_id: context.sessionManager?.getSessionId?.() ?? "",
  cwd: context.cwd,
  transcript_path: context.sessionManager?.getSessionFile?.() ?? "",
  attended: context.hasUI === true,
})

export default function (pi) {
  const on = (event, handle) =>
    pi.on(event, async (happened, context) => {
      const tell = (notice) => notice && context.hasUI === true && context.ui.notify(notice, "info")
      try {
        return await handle(happened, common(context), tell)
      } catch {
        return undefined
      }
    })
  on("session_start", async (event, base) => {
    if (event.reason === "new") await ask("session_start", { ...base, source: "clear" })
  })
  on("before_agent_start", async (event, base, tell) => {
    const { add, notice } = await ask("user_prompt_submit", { ...base, prompt: event.prompt })
    tell(notice)
    return add ? { message: { customType: "onrecord", content: add, display: false } } : undefined
  })
  on("tool_call", async (event, base) => {
    const { deny } = await ask("pre_tool_use", { ...base, tool_name: event.toolName, tool_input: event.input })
    return deny ? { block: true, reason: deny } : undefined
  })
  on("tool_result", async (event, base, tell) => {
    const call = { tool_name: event.toolName, tool_input: event.input, is_error: event.isError }
    const { add, notice } = await ask("post_tool_use", { ...base, ...call, tool_response: event.content })
    tell(notice)
    return add ? { content: [...event.content, { type: "text", text: add }] } : undefined
  })
  on("agent_end", async (event, base) => void (await ask("stop", base)))
  on("session_before_compact", async (event, base) => void (await ask("pre_compact", base)))
  on("session_compact", async (event, base) => void (await ask("session_start", { ...base, source: "compact" })))
  on("session_shutdown", async (event, base) => void (await ask("session_end", base)))
}

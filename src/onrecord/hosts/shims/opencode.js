// Onrecord in OpenCode: hands each event to Onrecord's hook, and puts the answer where the model sees it.
// Written by `onrecord connect opencode`; take it away with `onrecord connect opencode --remove`.
// A session goes on whatever happens here: no answer within the time limit is no answer.
import { execFile } from "node:child_process"

const HOST = "opencode"
const LAUNCHER = "{{launcher}}"
// {{ask}}

export const Onrecord = async ({ directory, client }) => {
  const attended = !process.argv.includes("run")
  const parents = new Map()
  const continued = new Set()
  // OpenCode takes an error before a tool for a veto, so that only a denial is thrown.
  const safely = (handle) => async (...given) => {
    try {
      return await handle(...given)
    } catch {
      return undefined
    }
  }
  const parent = safely(async (id) => (await client.session.get({ path: { id } })).data.parentID)
  const common = async (id) => {
    if (!parents.has(id)) parents.set(id, await parent(id))
    return { session_id: id, cwd: directory, transcript_path: "", attended, ...(parents.get(id) && { agent_id: id }) }
  }
  const tell = safely(async (notice) => {
    if (notice && attended) await client.tui.showToast({ body: { message: notice, variant: "info" } })
  })
  const stop = async (id) => {
    const answer = await ask("stop", { ...(await common(id)), stop_hook_active: continued.delete(id) })
    if (!answer.continue) return
    continued.add(id)
    await client.session.promptAsync({ path: { id }, body: { parts: [{ type: "text", text: answer.continue }] } })
  }
  const tool = async (input, args) => ({ ...(await common(input.sessionID)), tool_name: input.tool, tool_input: args })
  const denial = safely(async (input, args) => (await ask("pre_tool_use", await tool(input, args))).deny)
  return {
    event: safely(async ({ event }) => {
      const id = event.properties?.sessionID
      if (event.type === "session.idle") await stop(id)
      if (event.type === "session.compacted") await ask("session_start", { ...(await common(id)), source: "compact" })
    }),
    "chat.message": safely(async (input, output) => {
      const typed = output.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
      const { add, notice } = await ask("user_prompt_submit", { ...(await common(input.sessionID)), prompt: typed.join("\n") })
      await tell(notice)
      const id = `prt_${Date.now().toString(36)}${Math.random().toString(36).slice(2)}`
      const place = { sessionID: input.sessionID, messageID: output.message.id }
      if (add) output.parts.push({ id, ...place, type: "text", text: add, synthetic: true })
    }),
    "tool.execute.before": async (input, output) => {
      const reason = await denial(input, output?.args)
      if (reason) throw new Error(reason)
    },
    "tool.execute.after": safely(async (input, output) => {
      const result = { title: output.title, output: output.output, metadata: output.metadata }
      const { add, notice } = await ask("post_tool_use", { ...(await tool(input, input.args)), tool_response: result })
      await tell(notice)
      if (add) output.output = `${output.output}\n\n${add}`
    }),
    "experimental.session.compacting": safely(async (input) => {
      await ask("pre_compact", await common(input.sessionID))
    }),
  }
}

// Onrecord in Cline: hands each event to Onrecord's hook, and puts the answer where the model sees it.
// Written by `onrecord connect cline`; take it away with `onrecord connect cline --remove`.
// A session goes on whatever happens here: no answer within the time limit is no answer.
import { execFile } from "node:child_process"

const HOST = "cline"
const LAUNCHER = "{{launcher}}"
// {{ask}}

let root = process.cwd()
let file = ""

const common = ({ snapshot }) => ({ session_id: snapshot.conversationId, cwd: root, session_file: file, attended: false })

const tool = (context) => ({
  ...common(context),
  tool_name: context.tool?.name ?? context.toolCall?.toolName ?? context.toolCall?.name,
  tool_input: context.input ?? context.toolCall?.input,
})

const typed = (context) => {
  const last = context.snapshot.messages.findLast((message) => message.role === "user")
  const parts = Array.isArray(last?.content) ? last.content : [{ type: "text", text: last?.content ?? "" }]
  return parts.filter((part) => part.type === "text").map((part) => part.text).join("\n")
}

const safely = (handle) => (context) => handle(context).catch(() => undefined)

export default {
  name: "onrecord",
  manifest: { capabilities: ["hooks"] },
  setup(api, context) {
    root = context?.workspaceInfo?.rootPath ?? context?.workspace?.rootPath ?? root
    file = context?.session?.sessionId ?? ""
  },
  hooks: {
    beforeRun: safely(async (context) => {
      const { add } = await ask("user_prompt_submit", { ...common(context), prompt: typed(context) })
      return add ? { appendContext: add } : undefined
    }),
    beforeTool: safely(async (context) => {
      const { add, deny } = await ask("pre_tool_use", tool(context))
      return deny ? { skip: true, reason: deny } : add ? { appendContext: add } : undefined
    }),
    afterTool: safely(async (context) => {
      const result = context.result?.output ?? context.result
      const { add } = await ask("post_tool_use", { ...tool(context), tool_response: result })
      return add ? { appendContext: add } : undefined
    }),
    afterRun: safely(async (context) => void (await ask("stop", common(context)))),
  },
}

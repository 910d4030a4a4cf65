// Keeps what OpenCode hands to plugins, one file a kind: overdeck probe --record.
import fs from "fs"
const FOLDER = "FOLDER"
const NAMES = [
  "chat.message", "chat.params", "permission.ask", "command.execute.before", "tool.execute.before", "tool.execute.after",
  "shell.env", "experimental.chat.system.transform", "experimental.text.complete",
]
const keep = (hook, input, output) => {
  const tool = hook.startsWith("tool.") ? `.${input.tool}` : ""
  const name = `${hook}${tool}`.replace(/[^A-Za-z0-9_.]/g, "_")
  const text = JSON.stringify({ hook, input, output }, (_, value) => (typeof value === "function" ? "<function>" : value))
  try {
    fs.writeFileSync(`${FOLDER}/${name}.opencode`, text, { flag: "wx" })
  } catch {}
}
export const OverdeckRecorder = async (context) => {
  keep("init", Object.keys(context), { directory: context.directory, worktree: context.worktree })
  const hooks = { event: async ({ event }) => keep(`event.${event.type}`, event, null) }
  for (const name of NAMES) hooks[name] = async (input, output) => keep(name, input, output)
  return hooks
}

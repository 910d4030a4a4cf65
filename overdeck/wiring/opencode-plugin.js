// Overdeck's plugin for OpenCode, --by-overdeck: written by `overdeck install --client opencode`, which writes it anew;
// taken away by `overdeck uninstall --client opencode`. It starts the front once a call, hands it what OpenCode says,
// and does what the answer says. Nothing is decided here.
import { spawn } from "node:child_process"

const FRONTS = "FRONTS" // event → {argv, tools (null: all), gates, timeout_ms}
const MAX_ANSWER = 8 << 20 // bytes, as in the front
const MAX_KEPT = 1000

/** The front's answer to one payload: `{said}`, or `{never}` (it did not start) or `{failed}` (no whole answer). */
function ask(event, payload) {
  const front = FRONTS[event]
  return new Promise((resolve) => {
    const parts = []
    let size = 0
    let child, text
    try {
      text = JSON.stringify(payload)
    } catch (error) {
      resolve({ failed: `the call cannot be said in JSON: ${error.message.split("\n")[0]}` })
      return
    }
    try {
      child = spawn(front.argv[0], front.argv.slice(1), { stdio: ["pipe", "pipe", "ignore"] })
    } catch (error) {
      resolve({ never: error.message })
      return
    }
    const timer = setTimeout(() => {
      resolve({ failed: `it was silent for ${front.timeout_ms / 1000} s` })
      child.kill("SIGKILL")
    }, front.timeout_ms)
    child.on("error", (error) => {
      clearTimeout(timer)
      resolve(child.pid === undefined ? { never: error.message } : { failed: error.message })
    })
    child.stdout.on("data", (part) => {
      size += part.length
      if (size <= MAX_ANSWER) parts.push(part)
    })
    child.on("close", (code, signal) => {
      clearTimeout(timer)
      const text = Buffer.concat(parts).toString("utf8").trim()
      if (size > MAX_ANSWER) return resolve({ failed: "its answer is over 8 MiB" })
      if (code !== 0) return resolve({ failed: signal ? `it was killed by ${signal}` : `it ended with ${code}` })
      if (!text) return resolve({ said: {} })
      try {
        const said = JSON.parse(text)
        resolve(said && typeof said === "object" && !Array.isArray(said) ? { said } : { failed: "its answer is no object" })
      } catch {
        resolve({ failed: "its answer is not JSON" })
      }
    })
    child.stdin.on("error", () => {}) // it may have answered without reading to the end
    child.stdin.end(text)
  })
}

/** Only a change in place reaches the tool: an object of our own in its stead is not looked at. */
function replaceInPlace(target, wanted) {
  for (const key of Object.keys(target)) if (!(key in wanted)) delete target[key]
  Object.assign(target, wanted)
}

function append(output, text) {
  if (typeof output?.output === "string") output.output += (output.output ? "\n\n" : "") + text
  else if (Array.isArray(output?.content)) output.content.push({ type: "text", text })
  else return false
  return true
}

const asks = (event, tool) => FRONTS[event] && (!FRONTS[event].tools || FRONTS[event].tools.includes(tool))

export const Overdeck = async ({ client, directory }) => {
  const parents = new Map() // session → the session that started it, or ""
  const created = new Set() // sessions that began under our eyes
  const begun = new Set() // sessions whose SessionStart was asked
  const kept = new Map() // call → what is to stand beside its output
  const answers = new Map() // session → {message, text}: what its model said last in this turn
  let servers = [] // names of MCP servers, the longest first

  const tell = (message) => {
    const quietly = (said) => Promise.resolve(said).catch(() => {})
    try {
      quietly(client.app.log({ body: { service: "overdeck", level: "warn", message } }))
      quietly(client.tui.showToast({ body: { title: "Overdeck", message, variant: "warning" } }))
    } catch {
      console.error(message)
    }
  }

  const parentOf = async (session) => {
    if (!parents.has(session)) {
      parents.set(session, "")
      try {
        const late = new Promise((resolve) => setTimeout(resolve, 1000, {}).unref?.())
        const found = await Promise.race([client.session.get({ path: { id: session } }), late])
        parents.set(session, found?.data?.parentID ?? "")
      } catch {} // then it counts as the main one: gates that are for the main one act
    }
    return parents.get(session)
  }

  const payload = async (event, session, more) => {
    const parent = await parentOf(session)
    const agent = parent ? { agent_id: session, agent_type: "" } : {}
    const base = { session_id: parent || session, transcript_path: "", cwd: directory, hook_event_name: event }
    return { ...base, ...agent, ...more }
  }

  /** What was said, told as far as it is for the user; throws where a call must not go on. */
  const answer = async (event, session, more) => {
    const { said, never, failed } = await ask(event, await payload(event, session, more))
    if (never) tell(`overdeck: no gate ran, its front did not start (${never}); type: overdeck install --client opencode`)
    if (failed) {
      const why = `overdeck: its front gave no whole answer to ${event} (${failed}); see: overdeck doctor`
      if (event === "PreToolUse" && FRONTS[event].gates) throw new Error(why)
      tell(why)
    }
    if (said?.systemMessage) tell(said.systemMessage)
    return said ?? {}
  }

  const tool = (input, args) => {
    const server = servers.find((name) => input.tool.startsWith(name + "_"))
    return { tool_name: input.tool, tool_input: args ?? {}, tool_use_id: input.callID, ...(server && { mcp_server: server }) }
  }

  return {
    config: async (config) => {
      servers = Object.keys(config?.mcp ?? {}).sort((a, b) => b.length - a.length)
    },

    event: async ({ event }) => {
      const session = event?.properties?.sessionID ?? event?.properties?.info?.id
      if (event?.type === "session.created" && session) {
        created.add(session)
        parents.set(session, event.properties.info?.parentID ?? "")
      }
      if (event?.type !== "session.idle" || !session) return
      for (const [call, { from, text }] of kept) {
        if (from !== session) continue
        kept.delete(call)
        tell(`overdeck: this could not reach the model, the tool had failed: ${text}`)
      }
      const last_assistant_message = answers.get(session)?.text ?? ""
      answers.delete(session)
      if (FRONTS.Stop && !(await parentOf(session)))
        await answer("Stop", session, { stop_hook_active: false, last_assistant_message })
    },

    "experimental.text.complete": async (input, output) => {
      if (!FRONTS.Stop || typeof output?.text !== "string") return
      const { message, text } = answers.get(input.sessionID) ?? {}
      const before = message === input.messageID ? text + "\n\n" : ""
      answers.set(input.sessionID, { message: input.messageID, text: before + output.text })
    },

    "chat.message": async (input, output) => {
      const session = input.sessionID
      const said = []
      answers.delete(session)
      const prompt = (output.parts ?? []).filter((part) => part.type === "text" && !part.synthetic)
      if (FRONTS.SessionStart && !begun.has(session) && !(await parentOf(session))) {
        begun.add(session)
        said.push(await answer("SessionStart", session, { source: created.has(session) ? "startup" : "resume" }))
      }
      if (FRONTS.UserPromptSubmit)
        said.push(await answer("UserPromptSubmit", session, { prompt: prompt.map((part) => part.text).join("\n") }))
      for (const one of said) if (one.decision === "block") throw new Error(one.reason)
      const text = said.map((one) => one.hookSpecificOutput?.additionalContext).filter(Boolean).join("\n")
      if (!text) return
      const last = output.parts.at(-1)
      const id = `${last?.id ?? "prt_" + Date.now().toString(16).padStart(12, "0")}0`
      output.parts.push({ id, messageID: output.message?.id, sessionID: session, type: "text", text, synthetic: true })
    },

    "tool.execute.before": async (input, output) => {
      if (!asks("PreToolUse", input.tool)) return
      const said = await answer("PreToolUse", input.sessionID, tool(input, output.args))
      const { permissionDecision, permissionDecisionReason, updatedInput, additionalContext } = said.hookSpecificOutput ?? {}
      if (permissionDecision === "deny")
        throw new Error([permissionDecisionReason, additionalContext].filter(Boolean).join("\n"))
      if (updatedInput) replaceInPlace(output.args, updatedInput)
      if (additionalContext) {
        kept.set(input.callID, { from: input.sessionID, text: additionalContext })
        if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value)
      }
    },

    "tool.execute.after": async (input, output) => {
      const texts = []
      if (kept.has(input.callID)) texts.push(kept.get(input.callID).text)
      kept.delete(input.callID)
      if (asks("PostToolUse", input.tool)) {
        const said = await answer("PostToolUse", input.sessionID, { ...tool(input, input.args), tool_response: output })
        if (said.decision === "block") texts.push(`[overdeck] a hook objects to this result:\n${said.reason}`)
        if (said.hookSpecificOutput?.additionalContext) texts.push(said.hookSpecificOutput.additionalContext)
      }
      const text = texts.join("\n")
      if (text && !append(output, text)) tell(text)
    },
  }
}

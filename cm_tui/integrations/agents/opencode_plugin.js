// Tells cm what happens in a session, and puts what the memory answers into the system prompt of that turn.
import { spawn } from "node:child_process"

const CM = ["cm"]
const LIMIT_MS = 10_000
const EDITORS = new Set(["edit", "multiedit", "write", "patch", "apply_patch"])

/** Run a hook; its answer, or nothing when anything at all goes wrong: an agent never fails because of its memory. */
function hook(event, payload) {
  return new Promise((resolve) => {
    let out = ""
    let child
    try {
      child = spawn(CM[0], [...CM.slice(1), "hook", event, "--agent", "opencode"], {
        cwd: payload.cwd,
        stdio: ["pipe", "pipe", "ignore"],
        timeout: LIMIT_MS,
        windowsHide: true,
      })
    } catch {
      return resolve({})
    }
    child.on("error", () => resolve({}))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (data) => (out += data))
    child.on("close", () => {
      try {
        resolve(JSON.parse(out || "{}"))
      } catch {
        resolve({})
      }
    })
    child.stdin.end(JSON.stringify(payload))
  })
}

export const CmTui = async ({ directory, worktree }) => {
  // Outside a repository OpenCode names the root of the disk as the worktree.
  const cwd = directory || worktree
  const packs = new Map()
  const starts = new Map()
  const parents = new Map()

  return {
    "chat.message": async ({ sessionID }, { parts }) => {
      const prompt = parts
        .filter((part) => part.type === "text" && !part.synthetic)
        .map((part) => part.text)
        .join("\n")
      packs.delete(sessionID)
      // A subagent's prompt was written by the agent, not by a person.
      if (!prompt || parents.get(sessionID)) return
      const { context } = await hook("prompt", { session_id: sessionID, cwd, prompt })
      if (context) packs.set(sessionID, context)
    },

    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      for (const known of [starts, packs]) {
        const context = sessionID && known.get(sessionID)
        if (context) system.push(context)
      }
    },

    "tool.execute.after": async ({ tool, sessionID, args }) => {
      if (!EDITORS.has(tool)) return
      await hook("edit", { session_id: sessionID, cwd, tool_name: tool, tool_input: args ?? {} })
    },

    event: async ({ event }) => {
      const { info, sessionID } = event.properties ?? {}
      if (event.type === "session.created") {
        if (info?.parentID) parents.set(info.id, info.parentID)
        else {
          const { context } = await hook("session-start", { session_id: info?.id, cwd })
          if (context) starts.set(info.id, context)
        }
      } else if (event.type === "session.deleted") {
        packs.delete(info?.id)
        starts.delete(info?.id)
        parents.delete(info?.id)
      } else if (event.type === "session.idle" && !parents.has(sessionID)) {
        packs.delete(sessionID)
        starts.delete(sessionID)
        await hook("stop", { session_id: sessionID, cwd })
      }
    },
  }
}

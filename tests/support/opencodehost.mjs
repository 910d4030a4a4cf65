// What OpenCode does with a plugin, as far as tests need it: calls its hooks with the steps of a JSON file and prints
// what became of each. Usage: node opencodehost.mjs PLUGIN.mjs STEPS.json
import { readFileSync } from "node:fs"
import { pathToFileURL } from "node:url"

const [plugin, steps] = process.argv.slice(2)
const told = []
const client = {
  app: { log: async ({ body }) => told.push(body.message) },
  tui: { showToast: async () => Promise.reject(new Error("no screen")) },
  session: { get: async ({ path }) => ({ data: { id: path.id, parentID: path.id.startsWith("child") ? "main" : undefined } }) },
}
const revived = (_key, value) => (value === "10n" ? 10n : value) // what JSON cannot say
const module = await import(pathToFileURL(plugin))
const exported = Object.values(module)
if (exported.length !== 1) throw new Error("OpenCode runs everything a plugin exports")
const hooks = await exported[0]({ client, directory: "/home/dev/proj" })
for (const { hook, input, output } of JSON.parse(readFileSync(steps, "utf8"), revived)) {
  const args = output?.args
  let thrown = null
  try {
    await hooks[hook](input, output)
  } catch (error) {
    thrown = error.message
  }
  const same = output?.args === args
  console.log(JSON.stringify({ thrown, output, same, told: told.splice(0) }, (_key, value) => (value === 10n ? "10n" : value)))
}

import { readFileSync } from "node:fs";

// process.stdin.once("data") would take the first piece only, and /dev/stdin is a socket
const payload = JSON.parse(readFileSync(0, "utf8"));
if (payload.tool_input.command.includes("--force")) {
  console.error("Blocked: no forced push");
  process.exit(2);
}

#!/usr/bin/env node
let raw = "";
process.stdin.on("data", (c) => (raw += c));
process.stdin.on("end", () => {
  const d = JSON.parse(raw);
  if ((d.tool_input.command || "").includes("curl")) {
    console.error("curl is not allowed");
    process.exit(2);
  }
});

// binds.mjs FOLDER - read commands as JSON texts, a line each, and print for each whether the gateway could ask a person
// about it: the text "" or its own words why not. FOLDER is where OpenClaw is; commands run in the working directory. It
// calls the functions behind the exec tool, which OpenClaw does not export under a name of their own.
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";

const dist = path.join(process.argv[2], "node_modules/openclaw/dist");

async function inside(name) {
  for (const file of fs.readdirSync(dist).filter((f) => f.endsWith(".mjs"))) {
    const text = fs.readFileSync(path.join(dist, file), "utf8");
    const as = text.includes(`function ${name}(`) && text.match(new RegExp(`export \\{[^}]*\\b${name} as (\\w+)`));
    if (as) return (await import(path.join(dist, file)))[as[1]];
  }
  throw new Error(`OpenClaw has no ${name}`);
}

const evaluate = await inside("evaluateShellAllowlistWithAuthorization");
const bind = await inside("prepareSystemRunMutableFileBinding");
const world = { cwd: process.cwd(), env: process.env, platform: process.platform };
for await (const line of readline.createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  const found = await evaluate({ ...world, command, allowlist: [], safeBins: new Set() });
  const asks = found.analysisOk ? { kind: "segments", segments: found.segments } : { kind: "shell", text: command };
  const bound = await bind({ ...world, command: asks });
  console.log(JSON.stringify(bound.ok ? "" : bound.message));
}

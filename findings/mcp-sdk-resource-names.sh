#!/usr/bin/env bash
# npm @modelcontextprotocol/sdk 1.32.2: a resource template does not read what it writes.
#
# UriTemplate.expand writes a value as RFC 6570 has it, a blank as %20. UriTemplate.match, with which a server finds
# the values again, leaves them so: the handler looks for a file "a%20b" where the client has named "a b". The
# parameters of a query are found in the order of the template only, and only when all are there.
#
# Seen with Node 20: "a%20b" of "a b", and nothing for page=2&q=a and for q=a.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts @modelcontextprotocol/sdk@1.32.2 >/dev/null
cat >main.mjs <<'JS'
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { UriTemplate } from "@modelcontextprotocol/sdk/shared/uriTemplate.js";
const server = new McpServer({ name: "s", version: "1" });
const notes = new ResourceTemplate("notes://{name}", { list: undefined });
server.registerResource("note", notes, {}, (uri, { name }) => ({ contents: [{ uri: uri.href, text: name }] }));
const [here, there] = InMemoryTransport.createLinkedPair();
await server.connect(there);
const client = new Client({ name: "c", version: "1" });
await client.connect(here);
const uri = new UriTemplate("notes://{name}").expand({ name: "a b" });
console.log(uri, (await client.readResource({ uri })).contents[0].text);
const search = new UriTemplate("notes://search{?q,page}");
for (const query of ["q=a&page=2", "page=2&q=a", "q=a"]) {
  console.log(query, JSON.stringify(search.match(`notes://search?${query}`)));
}
JS
out=$(node main.mjs)
printf '%s\n' "$out"
[ "$out" = 'notes://a%20b a%20b
q=a&page=2 {"q":"a","page":"2"}
page=2&q=a null
q=a null' ]
echo 'as described'

// desk - a plugin whose tools stand in for those that need a network. note_save appends a line to notes.txt in the
// folder where the gateway runs.
import { appendFileSync } from "node:fs";

const text = (text, details = {}) => ({ content: [{ type: "text", text }], details });

const tools = {
  news_search({ query }) {
    if (!query) throw new Error("query required");
    return text(JSON.stringify({ results: [{ title: "All is well", url: "https://example.com/well" }] }));
  },
  page_fetch({ url }) {
    if (!url) throw new Error("url required");
    if (!url.endsWith("/well")) return text(`no page at ${url}`, { status: "not_found" });
    return { content: [{ type: "text", text: "Harvest is in." }, { type: "image", mimeType: "image/png", data: "AAAA" }], details: {} };
  },
  note_save({ note }, id) {
    appendFileSync("notes.txt", `${id} ${note}\n`);
    return text("saved");
  },
};

export default {
  id: "desk",
  name: "desk",
  description: "Tools without a network, for tests",
  register(api) {
    for (const [name, run] of Object.entries(tools)) {
      const parameters = { type: "object", properties: {} };
      api.registerTool({ name, label: name, description: name, parameters, execute: async (id, params) => run(params, id) });
    }
  },
};

package refer_test

// How models word what they leave open. This list was written before any of it was tried, and
// no word was put into references.yaml for it.
var heldURLs = []string{
	"the first search result", "the URL from the previous search", "link from above", "<URL>", "<url of the top article>", "<link_to_article>", "{{search_results[0].url}}",
	"${web_search.results[0].url}", "[insert URL here]", "[URL from search results]", "URL_OF_FIRST_RESULT", "url1", "result_1", "search_result_0_url", "$.results[0].url",
	"{url}", "{first_result_url}", "FIRST_URL", "<first_url>", "<<URL>>", "%%URL%%", "TBD", "TODO", "...", "…", "the link in result 2", "second result", "2nd search result",
	"result #3", "#1", "the top-ranked page", "top hit", "the most relevant result", "the best match from the search", "first link found", "the page we just found",
	"URL obtained from step 1", "the URL returned by web_search", "output of web_search", "web_search output", "previous tool output", "from previous step",
	"<to be filled>", "<will be determined from search>", "<fill in after search>", "to be determined", "to be determined from search results", "the article's URL",
	"article link", "the official website", "<official site url>", "https://<url>", "https://{domain}/news", "https://www.bbc.com/news/...", "https://...", "https://[URL]",
	"http://<first-result>", "https://example.com/<article-id>", "URL from result 1", "first item's link", "firstResult.url", "results.first.url", "results[1].link",
	"searchResults[0].href", "response.results[0].url", "see above", "same as above", "as above", "the above link", "above URL", "this link", "that page", "it", "the same page",
	"{{URL}}", "{{ url_from_search }}", "{{steps.1.output.url}}", "<RESULT_1>", "<previous_result>", "<search result 1>", "@result1", "`the first URL`", "\"first result\"",
	"(URL of the first result)", "*first link*", "URL (from search results)", "URL: <from search>", "unknown", "placeholder", "PLACEHOLDER_URL", "your_url_here", "<your-url>",
	"https://your-url-here", "https://URL_HERE", "the URL above", "any of the results", "all results", "the next result", "the latest article", "page about tides", "NYT article from the results",
}

var heldPaths = []string{
	"<path>", "<output file>", "<output_path>", "<file from above>", "<filename>", "<the file I just found>", "{{path}}", "{{ output_file }}", "${output_path}", "${results[0].path}",
	"[output file]", "[path to file]", "[insert filename]", "{filename}", "{output_path}", "the file above", "the first file", "file from step 2", "the path from the previous result",
	"path of the first match", "the file found above", "the output file", "output file path here", "FILE_PATH", "OUTPUT_PATH", "PATH_TO_FILE", "<path/to/file>", "/tmp/<filename>",
	"/tmp/<name>.txt", "<dir>/report.md", "<workspace>/notes.md", "/path/{{filename}}", "results[0].path", "matches[0].file", "...", "/tmp/...", "…", "the file we created earlier",
	"previous file", "the document from above", "<<file>>", "%%FILE%%", "file returned by glob", "<result of glob>", "output of previous step", "<TODO>", "[TBD]",
}

var plainURLs = []string{
	"https://example.com", "http://localhost:8080/x", "https://a.b.c/d?e=f&g=h#i", "example.com", "www.bbc.co.uk/news", "docs.rs/serde", "page.link/abc", "result.com", "first.org",
	"https://first.org/the-first-result", "https://search.results.com/url", "https://x.org/a(b)", "https://x.org/a[0]=1", "https://x.org/?q=a+b%20c", "about:blank", "data:text/html,hi",
	"mailto:a@b.c", "file:///etc/hosts", "/relative/path", "//cdn.example.com/x.js", "127.0.0.1:3000", "http://[::1]/", "https://en.wikipedia.org/wiki/URL", "https://todo.com/TODO",
	"https://x.org/q={\"a\":1}", "https://x.org/{F3A2-11}", "https://x.org/~user/...hidden", "https://web.archive.org/web/2020/https://x.org", "münchen.de", "xn--mnchen-3ya.de", "index.html",
	"localhost", "my-server", "ftp://x.org/a", "chrome://settings", "https://links.above.net", "https://x.org/$HOME", "https://x.org/a*b", "https://user@x.org",
}

var plainPaths = []string{
	"output", "results", "out.txt", "output.txt", "result.json", "file", "file.txt", "first.txt", "the file.txt", "previous", "README", "TODO", "TODO.md", "LICENSE", "CHANGES", "Makefile",
	"src/app/[id]/page.tsx", "app/[...slug]/page.tsx", "[id].tsx", "__init__.py", "__pycache__", "__tests__", "{{cookiecutter.name}}", "{{cookiecutter.name}}/x.py", "$HOME", "${HOME}/x",
	"~/notes.md", "/tmp/output file", "/tmp/first result.txt", "search results/a.md", "output file.md", "my file.txt", "search_results", "output_file", "first_result.json", "top10.csv",
	"a..b", "../x", "..", ".", "./...", "./<output file>", ".../x"[3:], "C:\\Users\\me\\file.txt", "%APPDATA%/x", "file (1).txt", "#notes#", "*.go", "**/*.ts", "a<b", "x>y", "Neuer Ordner", "final report",
	"data", "test data", "output/html", "docs/above.md", "result list", "search index", "source code", "FINAL_REPORT.md", "notes above", "step 1", "file list", "@types/node", "résumé.pdf",
}

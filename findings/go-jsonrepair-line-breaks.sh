#!/usr/bin/env bash
# github.com/kaptinlin/jsonrepair v0.2.15: valid JSON whose text looks like a path loses its escapes.
#
# The library guesses by folders and endings whether a text is a path of Windows, and doubles each backslash of one
# that it takes for such. It guesses so of /usr/bin and notes.txt, too, and where nothing is to be repaired: a script
# of two lines becomes one line with \n in it, \u00e9 in the name of a file six characters, and the quotation marks
# in a command get a backslash.
#
# Seen with Go 1.26: three complete objects, each another value than encoding/json reads. One without a path is kept.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat >go.mod <<'MOD'
module finding

go 1.25

require github.com/kaptinlin/jsonrepair v0.2.15
MOD
cat >main.go <<'GO'
package main

import (
	"encoding/json"
	"fmt"

	"github.com/kaptinlin/jsonrepair"
)

func main() {
	for _, valid := range []string{
		`{"content":"#!/bin/bash\nls /usr/bin\n"}`,
		`{"file":"/home/me/\u00e9t\u00e9.txt"}`,
		`{"content":"import x from \"./x.js\"\n"}`,
		`{"content":"first\nsecond"}`,
	} {
		repaired, err := jsonrepair.Repair(valid)
		var before, after map[string]string
		if err == nil {
			err = json.Unmarshal([]byte(valid), &before)
		}
		if err == nil {
			err = json.Unmarshal([]byte(repaired), &after)
		}
		if err != nil {
			panic(err)
		}
		for key := range before {
			fmt.Printf("%s: %q becomes %q\n", key, before[key], after[key])
		}
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod tidy 2>/dev/null
out=$(go run .)
printf '%s\n' "$out"
[ "$out" = 'content: "#!/bin/bash\nls /usr/bin\n" becomes "#!/bin/bash\\nls /usr/bin\\n"
file: "/home/me/été.txt" becomes "/home/me/\\u00e9t\\u00e9.txt"
content: "import x from \"./x.js\"\n" becomes "import x from \\\"./x.js\\\"\\n"
content: "first\nsecond" becomes "first\nsecond"' ]
echo 'as described'

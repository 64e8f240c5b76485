package jsonrepair_test

import (
	"fmt"

	"github.com/jgavinray/gpt-oss-executor/tools/jsonrepair"
)

func ExampleRepair() {
	r, err := jsonrepair.Repair(`{path: 'a.txt', "lines": [1, 2,], "content": "say "hi"`, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", r.JSON)
	for _, c := range r.Changes {
		fmt.Printf("%-12s at %2d: %q → %q\n", c.Kind, c.At, c.From, c.To)
	}
	fmt.Println("cut inside a value:", r.Cut >= jsonrepair.Unended)
	// Output:
	// {"path":"a.txt","lines":[1,2],"content":"say \"hi"}
	// json.quote   at  1: "path" → "\"path\""
	// json.quote   at  7: "'" → "\""
	// json.comma   at 30: "," → ""
	// json.escape  at 50: "\"" → "\\\""
	// json.closer  at 54: "" → "}"
	// cut inside a value: true
}

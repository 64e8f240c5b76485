package envelope

import (
	"strings"

	"github.com/tidwall/gjson"
)

// Last is where the object begins that a text ends in, behind words; -1: it ends in none. It must be
// valid JSON.
func Last(text string) int {
	const most = 64 // braces that are tried
	text = strings.TrimRight(text, " \n\t\r")
	if !strings.HasSuffix(text, "}") {
		return -1
	}
	i := 0
	for range most {
		n := strings.IndexByte(text[i:], '{')
		if n < 0 {
			break
		}
		if i += n; gjson.Valid(text[i:]) {
			return i
		}
		i++
	}
	return -1
}

package fleet

import (
	"fmt"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// Keys are the bearer tokens of model servers, by base URL.
type Keys map[string]string

// ParseKeys reads a URL and its key on each line.
func ParseKeys(text string) (Keys, error) {
	keys := Keys{}
	for n, line := range strings.Split(text, "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) != 2 {
			return nil, fmt.Errorf("line %d has %d words; write the base URL of a model server and its key: http://gpu.lan:8000/v1 KEY", n+1, len(fields))
		}
		base, err := upstream.Base(fields[0])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		if _, twice := keys[base]; twice {
			return nil, fmt.Errorf("line %d: this server has a key already", n+1)
		}
		keys[base] = fields[1]
	}
	return keys, nil
}

// of is the key of a server; "": it has none.
func (k Keys) of(url string) string {
	base, err := upstream.Base(url)
	if err != nil {
		return ""
	}
	return k[base]
}

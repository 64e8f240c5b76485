package modelserver

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
)

// key identifies contents.
func key(contents ...[]byte) string {
	sum := sha256.New()
	for _, c := range contents {
		fmt.Fprintf(sum, "%d:%s", len(c), c)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:6])
}

// sources returns the folder of this package.
func sources() (string, error) {
	out, err := testkit.Output("", nil, "go", "list", "-f", "{{.Dir}}",
		"github.com/jgavinray/gpt-oss-executor/internal/testkit/modelserver")
	return string(bytes.TrimSpace(out)), err
}

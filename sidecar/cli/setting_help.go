package cli

import (
	"fmt"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/terminal"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
)

// Setting is what help says of a setting.
func Setting(f config.Setting) string {
	if f.One == "" {
		return f.Doc
	}
	return f.Doc + " One of: " + strings.ReplaceAll(f.One, " ", ", ") + "."
}

// Secrets is what help says of settings without a flag.
func Secrets(all []config.Setting) string {
	var b strings.Builder
	b.WriteString(`Secrets have no flag, because every user of a machine can read command lines. Instead of a
secret there can be file:PATH, the name of a file that holds it. These are secrets:
`)
	for _, f := range all {
		if f.Flag() == "" {
			fmt.Fprintf(&b, "\n  %s (%s in the config file)\n", f.Variable(), f.Key)
			for line := range strings.Lines(terminal.Filled(f.Doc, PageWidth-6)) {
				b.WriteString("      " + line)
			}
		}
	}
	return b.String()
}

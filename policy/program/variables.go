package program

import (
	"regexp"
	"strings"
)

// harmlessValues are values of variables that name programs or load code, with which they do
// neither.
var harmlessValues = map[string]*regexp.Regexp{
	"PAGER":               regexp.MustCompile(`^(cat|less|more)?$`),
	"GIT_PAGER":           regexp.MustCompile(`^(cat|less|more)?$`),
	"MANPAGER":            regexp.MustCompile(`^(cat|less|more)?$`),
	"EDITOR":              regexp.MustCompile(`^(true|:|cat)$`),
	"VISUAL":              regexp.MustCompile(`^(true|:|cat)$`),
	"GIT_EDITOR":          regexp.MustCompile(`^(true|:|cat)$`),
	"GIT_SEQUENCE_EDITOR": regexp.MustCompile(`^(true|:|cat)$`),
	"CC":                  regexp.MustCompile(`^(gcc|clang|cc)(-[0-9]+)?$`),
	"CXX":                 regexp.MustCompile(`^(g\+\+|clang\+\+|c\+\+)(-[0-9]+)?$`),
	"GOFLAGS":             regexp.MustCompile(`^( ?-(mod=(mod|vendor|readonly)|race|v|trimpath|buildvcs=(true|false|auto)|count=[0-9]+|p=[0-9]+|short|tags=[\w,]+))*$`),
	"NODE_OPTIONS":        regexp.MustCompile(`^( ?--(max[-_]old[-_]space[-_]size=[0-9]+|experimental-(vm-modules|strip-types|transform-types|json-modules)|no-[a-z-]+|trace-[a-z-]+|enable-source-maps|openssl-legacy-provider|unhandled-rejections=\w+|dns-result-order=\w+))*$`),
	"PYTHONPATH":          regexp.MustCompile(`^[\w./-]*(:[\w./-]*)*$`),
	"NODE_PATH":           regexp.MustCompile(`^[\w./-]*(:[\w./-]*)*$`),
}

// Harmless tells whether a variable that can name a program or load code does not with
// this value: PAGER=cat, PYTHONPATH=src.
func Harmless(name, value string) bool {
	fits := harmlessValues[name]
	if fits == nil || !fits.MatchString(value) {
		return false
	}
	if strings.HasSuffix(name, "PATH") { // folders of the workspace only
		for _, folder := range strings.Split(value, ":") {
			if strings.HasPrefix(folder, "/") || strings.Contains(folder, "..") {
				return false
			}
		}
	}
	return true
}

// setsVariable notes NAME=value for what is run.
func (c *call) setsVariable(w Word) {
	name, value, _ := strings.Cut(w.Text, "=")
	if w.Dynamic || !Harmless(name, value) {
		c.env = append(c.env, name)
	}
}

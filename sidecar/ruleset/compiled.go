package ruleset

import (
	"slices"
	"sync"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Compiled are the results of Load for the versions that were asked for last: an edit that was checked is not
// tried again when it comes into force, and an edit tries only those examples of rules about calls that it
// changes. Safe for concurrent use.
type Compiled struct {
	mu       sync.Mutex
	versions *recent.Map[func() (*Set, rulefile.Problems)]
	examples *recent.Shared[bool] // those that held, by all that they depend on
}

// maxExamples bounds the examples that are not tried again: those of a few folders.
const maxExamples = 1 << 14

// NewCompiled holds the results of so many versions.
func NewCompiled(limit int) *Compiled {
	return &Compiled{versions: recent.New[func() (*Set, rulefile.Problems)](limit, nil),
		examples: recent.NewShared[bool](maxExamples)}
}

// held tells whether an example held before; otherwise it tries it.
func (c *Compiled) held(example string, try func() bool) (before bool) {
	if c == nil {
		try()
		return false
	}
	if before, _ = c.examples.Get(example); !before && try() {
		c.examples.Swap(example, true)
	}
	return before
}

// load gives the result of a version; load makes it.
func (c *Compiled) load(version string, load func() (*Set, rulefile.Problems)) (*Set, rulefile.Problems) {
	c.mu.Lock()
	result, made := c.versions.Use(version)
	if made {
		*result = sync.OnceValues(load)
	}
	once := *result
	c.mu.Unlock()
	set, problems := once()
	return set, slices.Clone(problems)
}

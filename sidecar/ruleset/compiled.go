package ruleset

import (
	"slices"
	"sync"

	"github.com/jgavinray/gpt-oss-executor/internal/recent"
	"github.com/jgavinray/gpt-oss-executor/sidecar/cond"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Compiled caches results of Load for recent versions, so that a checked edit is not tried again when it
// comes into force, and an edit compiles only the rules about calls, and tries only their examples, that it
// changes. It is safe for concurrent use.
type Compiled struct {
	mu       sync.Mutex
	limit    int
	versions *recent.Map[func() (*Set, rulefile.Problems)]
	examples *recent.Shared[bool] // those that passed, by everything they depend on
	tests    *recent.Shared[any]  // of conditions, by everything they depend on
}

// Limits of the cache, for a few folders.
const maxExamples, maxTests = 1 << 14, 1 << 11

// NewCompiled caches the results of that many versions. With 0, each Load returns its own set.
func NewCompiled(limit int) *Compiled {
	return &Compiled{limit: limit, versions: recent.New[func() (*Set, rulefile.Problems)](limit, nil),
		examples: recent.NewShared[bool](maxExamples), tests: recent.NewShared[any](maxTests)}
}

// predicate compiles the condition of a rule about calls; key is everything it depends on.
func predicate[E any](c *Compiled, key string, t rulefile.Text,
	words cond.Lists) (func(*E) (bool, error), *rulefile.Problem) {
	if c == nil {
		return cond.Predicate[E](t, words)
	}
	kept, _ := c.tests.Get(key)
	test, ok := kept.(func(*E) (bool, error))
	if !ok {
		made, problem := cond.Test[E](t, words)
		if problem != nil {
			return nil, problem
		}
		test = made
		c.tests.Swap(key, test)
	}
	return cond.Placed(test, t.At), nil
}

// tryOnce reports whether an example passed before; otherwise it tries it.
func (c *Compiled) tryOnce(example string, try func() bool) (before bool) {
	if c == nil {
		try()
		return false
	}
	if before, _ = c.examples.Get(example); !before && try() {
		c.examples.Swap(example, true)
	}
	return before
}

// load returns the result for a version, and calls load for a new one.
func (c *Compiled) load(version string, load func() (*Set, rulefile.Problems)) (*Set, rulefile.Problems) {
	if c.limit == 0 {
		return load()
	}
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

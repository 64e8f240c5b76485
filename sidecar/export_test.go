package sidecar

import (
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// Load is how many requests the server has let in, and how many wait.
func (s *Server) Load() web.LoadState { return s.limiter.State(&s.rules.Set().Limits.Load) }

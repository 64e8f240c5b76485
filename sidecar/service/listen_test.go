package service_test

import (
	"net"
	"net/http"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
)

// listen serves at a free port of this machine, and gives its address.
func listen(t *testing.T, s *http.Server) string {
	t.Helper()
	l, err := net.Listen("tcp", s.Addr)
	ruletest.Must(t, err)
	go func() { _ = s.Serve(l) }()
	return l.Addr().String()
}

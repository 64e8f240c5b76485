package sidecar_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// What the caller sends reaches the model server byte for byte, but for the model.
func TestRequestUntouched(t *testing.T) {
	r := provider.Play(t, script.Text("Yes."))
	body := `{"x_a":{"b": [1,2.50,"\u00e9"]}, "model" : "gpt-oss","messages":[{"role":"user","content":"go","x_b":null}],"seed":7,"stop":["<x>"],` + provider.BothTools + ` ,"metadata":{"k":"v"}}`
	r.Chat(body)
	if got, want := string(r.Model.Requests("")[0].Body), strings.Replace(body, `"gpt-oss"`,
		`"openai/gpt-oss-20b"`, 1); got != want {
		t.Errorf("sent\n%s\narrived\n%s", want, got)
	}
}

package run_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit/executor"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/provider"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/ruletest"
	"github.com/jgavinray/gpt-oss-executor/sidecar/part/run"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// A request that comes again names the run that answers it, whether that has ended, goes on, or
// broke off because its caller left.
func TestRepeatedRequestsNameTheRun(t *testing.T) {
	for _, first := range []string{"has ended", "goes on", "breaks off"} {
		t.Run(first, func(t *testing.T) {
			began, goOn := make(chan struct{}), make(chan struct{})
			b := &provider.Source{Result: func(_ string, times int) tools.Result {
				if times == 1 {
					close(began)
					<-goOn
				}
				return tools.Result{Text: "written"}
			}}
			dir := filepath.Join(t.TempDir(), "runs")
			j, err := run.OpenJournal(run.JournalConfig{Dir: dir, Now: time.Now})
			ruletest.Must(t, err)
			r := executor.Start(t, provider.Setup{}, b, j,
				script.New(script.Scenario{Choose: func(q script.Request) *script.Reply {
					// By what it was told: a request whose caller leaves may be sent, and answered to nobody.
					told := int(gjson.GetBytes(q.Body, `messages.#(role=="tool")#|#`).Int())
					return &[]script.Reply{script.Native("write", `{"path":"/tmp/a","content":"x"}`),
						script.Native("write", `{"path":"/tmp/b","content":"x"}`),
						script.Text("Done.")}[min(told, 2)]
				}}))
			const body = `{"model":"executor","executor_metadata":true,"messages":[{"role":"user","content":"write"}]}`
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			ids := make(chan string, 1)
			go func() {
				res, err := r.Do(ctx, http.MethodPost, "/v1/chat/completions", body)
				if err != nil {
					ids <- ""
					return
				}
				_ = res.Body.Close()
				ids <- res.Header.Get("X-Run-Id")
			}()
			<-began
			var id string
			switch first {
			case "has ended":
				close(goOn)
				id = <-ids
			case "goes on":
				time.AfterFunc(50*time.Millisecond, func() { close(goOn) })
			case "breaks off":
				time.AfterFunc(50*time.Millisecond, func() { leave(); close(goOn) })
			}
			a := r.Chat(body)
			if id == "" {
				id = <-ids
			}
			files, err := os.ReadDir(dir)
			ruletest.Must(t, err)
			if len(files) != 1 {
				t.Fatalf("%d journals", len(files))
			}
			got, said := a.Header.Get("X-Run-Id"), gjson.Get(a.Body, "executor_metadata.run_id").Str
			if a.Status != 200 || a.Text != "Done." || len(b.Calls()) != 2 || got == "" || got != said ||
				id != "" && id != got || got+".jsonl" != files[0].Name() {
				t.Errorf("%d %q, ran %q; the run is %q, then %q, and says %q; the journal is %s", a.Status,
					a.Text, b.Calls(), id, got, said, files[0].Name())
			}
			if n := gjson.Get(a.Body, "executor_metadata.tools_called.#").Int(); n != 2 {
				t.Errorf("%d tools are told: %s", n, a.Body)
			}
		})
	}
}

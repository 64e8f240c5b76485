//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// process is a proxy that this program started.
type process struct {
	pid      int // 0: the model server itself
	address  string
	started  time.Duration // until the first answer
	executes bool          // it makes the turns of a run itself
	end      func()
}

// start starts a proxy, on its own CPU unless it may run anywhere, and waits until it answers.
func (b *bench) start(ctx context.Context, name string, runs bool) (*process, error) {
	if name == direct {
		return &process{address: b.model.listener.Addr().String(), end: func() {}}, nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address, to := l.Addr().String(), "http://"+b.model.listener.Addr().String()
	l.Close()
	cmd := exec.Command(b.binary, "serve", "--log-level", "warn", "--listen", address, "--upstream", to+"/v1",
		"--confine", "off")
	cmd.Args = append(cmd.Args, b.flags...)
	if runs {
		flags, err := b.folder()
		if err != nil {
			return nil, err
		}
		cmd.Args = append(cmd.Args, flags...)
	}
	if name == revproxy {
		cmd = exec.Command("/proc/self/exe", "-proxy-to", to, "-listen", address)
	}
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	cmd.Env = append(cmd.Env, b.environ...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	began, start := time.Now(), cmd.Start
	if !b.anywhere {
		start = func() error { // the CPU is inherited
			pin(0, theirs)
			defer pin(0, ours)
			return cmd.Start()
		}
	}
	err = start()
	if err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	p := &process{pid: cmd.Process.Pid, address: address, executes: runs && name == sidecar, end: func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(3*time.Second, func() { _ = cmd.Process.Kill() })
		<-ended
		kill.Stop()
	}}
	for !healthy(address) {
		select {
		case <-ended:
		case <-time.After(time.Millisecond):
			if ctx.Err() == nil && time.Since(began) < patience {
				continue
			}
		}
		p.end()
		return nil, fmt.Errorf("%s does not answer", cmd.Path)
	}
	p.started = time.Since(began)
	return p, nil
}

func healthy(address string) bool {
	res, err := http.Get("http://" + address + "/healthz")
	if err != nil {
		return false
	}
	res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// serveProxy is a proxy that does nothing, as the cost of any Go proxy.
func serveProxy(listen, to string) error {
	u, err := url.Parse(to)
	if err != nil {
		return err
	}
	quiet := log.New(io.Discard, "", 0)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "go_goroutines %d\n", runtime.NumGoroutine())
	})
	mux.Handle("/", &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(u) },
		Transport: &http.Transport{MaxIdleConns: 4096, MaxIdleConnsPerHost: 2048, DisableCompression: true},
		ErrorLog:  quiet,
	})
	return (&http.Server{Addr: listen, ReadHeaderTimeout: 10 * time.Second, ErrorLog: quiet,
		Handler: mux}).ListenAndServe()
}

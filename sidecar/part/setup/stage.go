package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// stageTimeout is the timeout for the sidecar to start, or to see an edit.
const stageTimeout = 10 * time.Second

// stage holds the running parts of the demo: model server, sidecar and caller.
type stage struct {
	model          *script.Server
	direct, served string // base URLs without and with the sidecar
	caller         caller
	log            *journal
	ended          chan error // of the sidecar
	close          func() error
}

// open starts everything. After an error nothing runs.
func open(ctx context.Context, cfg demoConfig, model *script.Server) (*stage, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	srv := &http.Server{Handler: model}
	go func() { _ = srv.Serve(l) }() // it ends when it is closed
	st := &stage{model: model, direct: "http://" + l.Addr().String() + "/v1", caller: newCaller(),
		log: &journal{events: make(chan event, 8)}, ended: make(chan error, 1)}
	serving, stop := context.WithCancel(context.Background())
	go func() { st.ended <- cfg.Serve(serving, st.direct, st.log) }()
	st.close = func() error {
		st.caller.http.CloseIdleConnections() // the sidecar waits for those that were never used
		stop()
		return errors.Join(<-st.ended, srv.Close())
	}
	started, err := st.next(ctx)
	if err != nil {
		return nil, errors.Join(err, st.close())
	}
	st.served = started.Address
	return st, nil
}

// event is a line of the sidecar's log that the demo waits for.
type event struct{ Event, Address, Version, Problems string }

const (
	eventStarted = "http_server_start"
	eventTaken   = "rules_taken"
	eventRefused = "rules_refused"
	eventConsole = "console_start"
)

// next waits for the next event.
func (st *stage) next(ctx context.Context) (event, error) {
	ctx, stop := context.WithTimeout(ctx, stageTimeout)
	defer stop()
	select {
	case e := <-st.log.events:
		return e, nil
	case err := <-st.ended:
		st.ended <- nil
		return event{}, fmt.Errorf("the sidecar has ended: %w\n%s", err, st.log.rest.String())
	case <-ctx.Done():
		return event{}, fmt.Errorf("wait for the sidecar: %w", ctx.Err())
	}
}

// journal receives the log of the sidecar, a line of JSON for each write, and its other output.
type journal struct {
	events  chan event
	console atomic.Value // its address
	rest    strings.Builder
}

// Write keeps the events.
func (j *journal) Write(text []byte) (int, error) {
	var e event
	if json.Unmarshal(text, &e) != nil {
		return j.rest.Write(text)
	}
	switch e.Event {
	case eventStarted, eventTaken, eventRefused:
		j.events <- e
	case eventConsole:
		j.console.Store(e.Address)
	}
	return len(text), nil
}

package telemetry

import (
	"context"
	"log/slog"
)

// LogHandler adds to each line of a log where it belongs, by the context that it comes with.
type LogHandler struct {
	next slog.Handler
	at   *Place // where the context does not say it; nil: nowhere
}

// NewLogHandler adds to what next writes.
func NewLogHandler(next slog.Handler) *LogHandler { return &LogHandler{next: next} }

// BindLog is a log whose lines belong to the place of a context, also those that come without it.
// It is the same log where that is not written.
func BindLog(log *slog.Logger, ctx context.Context) *slog.Logger {
	h, ok := log.Handler().(*LogHandler)
	p, placed := ctx.Value(key{}).(*Place)
	if !ok || !placed {
		return log
	}
	return slog.New(&LogHandler{h.next, p})
}

// Enabled says whether next writes it.
func (h *LogHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle adds trace_id, span_id and request, unless the line has its own.
func (h *LogHandler) Handle(ctx context.Context, r slog.Record) error {
	p, ok := ctx.Value(key{}).(*Place)
	if !ok {
		p = h.at
	}
	if p == nil {
		return h.next.Handle(ctx, r)
	}
	has := false
	r.Attrs(func(a slog.Attr) bool {
		has = a.Key == "request"
		return !has
	})
	r = r.Clone()
	if p.Request != "" && !has {
		r.AddAttrs(slog.String("request", p.Request))
	}
	if p.Trace != "" {
		r.AddAttrs(slog.String("trace_id", p.Trace))
	}
	if p.Span != "" {
		r.AddAttrs(slog.String("span_id", p.Span))
	}
	return h.next.Handle(ctx, r)
}

// WithAttrs is the handler with attributes.
func (h *LogHandler) WithAttrs(list []slog.Attr) slog.Handler {
	return &LogHandler{h.next.WithAttrs(list), h.at}
}

// WithGroup is the handler with a group.
func (h *LogHandler) WithGroup(name string) slog.Handler {
	return &LogHandler{h.next.WithGroup(name), h.at}
}

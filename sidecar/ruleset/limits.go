package ruleset

import (
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/sidecar/web"
)

// Limits is limits.yaml: how much, how long and how often. Each section has a type for its keys.
type Limits struct {
	rulefile.Head
	SizeLimits     `rule:"size,required" doc:"Sizes, written 64KiB, 16MiB or 1GiB. Each is at least 1KiB."`
	TimeLimits     `rule:"time,required" doc:"Times, written 500ms, 30s or 2m. Each is at least 10ms, except grace and probe_every."`
	RetryLimits    `rule:"retry,required" doc:"How often the model server is asked again after a network error, 429, 502, 503 or 504. It is not asked again once something has reached the caller."`
	Circuit        state.CircuitBounds `rule:"circuit" doc:"When one of several model servers is left alone for a while. If left out, as shipped."`
	Session        web.Pace            `rule:"session" doc:"How much one session may ask. A header that a file of agents lists names it. More gets 429. If left out: 32 at once, 600 a minute."`
	Caller         web.Pace            `rule:"caller" doc:"How much one address may ask without naming a session. If left out: 10000 at once, 600000 a minute."`
	Load           web.Load            `rule:"load" doc:"How much is served at once, and what is refused when memory is short. If left out, as shipped."`
	Loop           Circles             `rule:"loop" doc:"When a model goes round in circles: the same call with the same result, since the user spoke last, and no new call in between. If left out: nothing is done."`
	KeepLimits     `rule:"keep,required" doc:"How much is kept in memory. Read at start only."`
	ApprovalLimits `rule:"approvals" doc:"Limits of the calls that a person is asked about. If left out, they are as shipped. Read at start only."`
}

// SizeLimits are in bytes.
type SizeLimits struct {
	RequestBytes rulefile.Size `rule:"request,required" min:"1KiB" doc:"The body of a request. A longer one gets 413."`
	ReplyBytes   rulefile.Size `rule:"reply,required" min:"1KiB" doc:"One reply of the model server."`
	ErrorBytes   rulefile.Size `rule:"error,required" min:"1KiB" doc:"How much of an error body of the model server is read."`
	LineBytes    rulefile.Size `rule:"line,required" min:"1KiB" doc:"One event of a stream. It is at most as long as a reply."`
	TextBytes    rulefile.Size `rule:"text,required" min:"1KiB" doc:"A text that could be a call. A longer one is shown as text. Conditions see as much."`
	Depth        int           `rule:"depth,required" min:"8" max:"1000" doc:"How deep JSON may nest." eg:"128"`
}

// TimeLimits are how long something may take.
type TimeLimits struct {
	Connect      time.Duration `rule:"connect,required" min:"10ms" doc:"How long the model server may take to accept the connection. Read at start only."`
	FirstByte    time.Duration `rule:"first_byte,required" min:"10ms" doc:"How long the model server may take to begin its answer. A long prompt takes a while. A caller that waits longer is followed: caller_wait."`
	Idle         time.Duration `rule:"idle,required" min:"10ms" doc:"How long a stream of the model server may be silent. A caller that waits longer is followed: caller_wait."`
	CallerWait   time.Duration `rule:"caller_wait" min:"10ms" doc:"A caller may say in the header x-stainless-timeout how long it waits. Where that is longer than first_byte or idle, it counts in their place, up to this time. If left out: 30m." eg:"30m"`
	Away         time.Duration `rule:"away" min:"10ms" doc:"A model server that could not be reached for this long has the fault away, before that unreachable. One that never was has it at once. If left out: 3s." eg:"3s"`
	Keepalive    time.Duration `rule:"keepalive,required" min:"10ms" doc:"After this long a silence the caller gets an empty chunk. It is shorter than idle."`
	Grace        time.Duration `rule:"grace,required" doc:"How long open streams may go on after SIGTERM."`
	ProbeTimeout time.Duration `rule:"probe_timeout,required" min:"10ms" doc:"How long the model server may take to answer a probe: are you there, and which one are you?"`
	ProbeEvery   time.Duration `rule:"probe_every,required" doc:"How long the answer to the probe counts."`
}

// RetryLimits are about attempts before the first byte.
type RetryLimits struct {
	Retries     int           `rule:"times,required" min:"0" max:"20" doc:"How many attempts follow the first." eg:"3"`
	RetryMin    time.Duration `rule:"wait_min,required" doc:"The wait before the first further attempt. It doubles each time."`
	RetryMax    time.Duration `rule:"wait_max,required" doc:"The longest wait. If the server's Retry-After is longer, there is no retry."`
	RetryBudget time.Duration `rule:"within,required" doc:"How long all attempts of one request may take together."`
}

// KeepLimits are how many of something are kept.
type KeepLimits struct {
	IdleConnections int `rule:"connections,required" min:"1" max:"10000" doc:"Idle connections to the model server." eg:"128"`
	Thoughts        int `rule:"thoughts,required" min:"0" max:"1000000" doc:"How many chains of thought are kept, by conversation and call id, for callers that drop them." eg:"4096"`
	Schemas         int `rule:"schemas,required" min:"1" max:"100000" doc:"How many compiled JSON Schemas of tools are kept." eg:"512"`
}

// ApprovalLimits is an optional section of optional keys.
type ApprovalLimits struct {
	ApprovalPending    time.Duration `rule:"pending" min:"1s" doc:"How long a person may take to answer. After that the answer is no (10m)." eg:"10m"`
	ApprovalGranted    time.Duration `rule:"granted" min:"1s" doc:"How long the model may take to send an allowed call again (5m)." eg:"5m"`
	ApprovalDenied     time.Duration `rule:"denied" min:"1s" doc:"How long a no counts for the same call. Answered questions are remembered as long (10m)." eg:"10m"`
	ApprovalPerSession int           `rule:"per_session" min:"1" max:"1000" doc:"How many calls of one session may wait at once. The oldest makes room (16)." eg:"16"`
	ApprovalTotal      int           `rule:"total" min:"1" max:"10000" doc:"How many calls of all sessions may wait at once (128)." eg:"128"`
}

// defaultLimits are the values of optional keys, which older files lack.
var defaultLimits = Limits{
	TimeLimits: TimeLimits{CallerWait: 30 * time.Minute, Away: 3 * time.Second},
	Circuit:    state.CircuitBounds{Failures: 3, Open: 10 * time.Second},
	Session:    web.Pace{AtOnce: 32, PerMinute: 600},
	Caller:     web.Pace{AtOnce: 10_000, PerMinute: 600_000},
	ApprovalLimits: ApprovalLimits{ApprovalPending: 10 * time.Minute, ApprovalGranted: 5 * time.Minute,
		ApprovalDenied: 10 * time.Minute, ApprovalPerSession: 16, ApprovalTotal: 128},
	Load: web.UsualLoad(),
}

// Patience returns how long the model server may be silent. caller is how long the caller waits; 0: unknown.
func (l *TimeLimits) Patience(limit, caller time.Duration) time.Duration {
	return max(limit, min(caller, l.CallerWait))
}

// takeLimits reads limits.yaml.
func (l *loader) takeLimits() {
	all := l.limits(defaultLimits)
	l.decode(limitsFile, all.Addr().Interface(), false)
	isLocked := l.trees[lockedName(limitsFile)] != nil && l.trees[limitsFile] != nil &&
		l.clean(limitsFile, lockedName(limitsFile))
	if isLocked {
		l.lowerLimits(all, l.locked.limits, "")
	}
	f := coreOf(all)
	if isLocked {
		l.orderLimits(&f)
	}
	for i, field := range rulefile.Keys(all.Type()) {
		key, _ := rulefile.KeyOf(field)
		l.keys[key] = all.Field(i).Addr().Interface()
	}
	l.set.Loop = CompileLoop(f.Loop, l.patterns, l.report)
	l.set.Limits, l.set.Tools.MaxDepth = f, f.Depth
	if !l.clean(limitsFile) {
		return
	}
	if f.LineBytes > f.ReplyBytes {
		l.report(l.placeOf(limitsFile, "size", "line"), rulefile.CodeValue,
			"line cannot be more than reply: a line is part of a reply", "")
	}
	if f.Keepalive >= f.Idle {
		l.report(l.placeOf(limitsFile, "time", "keepalive"), rulefile.CodeValue,
			"keepalive must be shorter than idle, or callers give up first", "")
	}
	if f.RetryMin > f.RetryMax {
		l.report(l.placeOf(limitsFile, "retry", "wait_min"), rulefile.CodeValue,
			"wait_min cannot be more than wait_max", "")
	}
}

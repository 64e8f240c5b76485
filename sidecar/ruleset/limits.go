package ruleset

import (
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Limits is limits.yaml: how much, how long and how often. Each section is a type of its
// own, for its keys alone.
type Limits struct {
	Version        int `rule:"version,required" one:"1" doc:"The version of the format of this file."`
	SizeLimits     `rule:"size,required" doc:"Bytes, written 64KiB, 16MiB or 1GiB. None is less than 1KiB."`
	TimeLimits     `rule:"time,required" doc:"Times, written 500ms, 30s or 2m. None but grace and probe_every is less than 10ms."`
	RetryLimits    `rule:"retry,required" doc:"Asking again after a network error, 429, 502, 503 or 504, as long as nothing has reached the caller."`
	Session        Pace `rule:"session" doc:"What one session may ask, by the header session_id or x-session-affinity; more gets 429 and waits. Left out: 32 at once, 600 a minute."`
	Caller         Pace `rule:"caller" doc:"What one address may ask without naming a session. Left out: 10000 at once, 600000 a minute."`
	KeepLimits     `rule:"keep,required" doc:"How much is kept in memory. Read at start only."`
	ApprovalLimits `rule:"approvals" doc:"Calls that a person is asked about; left out: as shipped. Read at start only."`
}

// SizeLimits are bytes.
type SizeLimits struct {
	RequestBytes rulefile.Size `rule:"request,required" min:"1KiB" doc:"The body of a request; longer ones get 413."`
	ReplyBytes   rulefile.Size `rule:"reply,required" min:"1KiB" doc:"One reply of the model server."`
	ErrorBytes   rulefile.Size `rule:"error,required" min:"1KiB" doc:"What is read of an error body of the model server."`
	LineBytes    rulefile.Size `rule:"line,required" min:"1KiB" doc:"One line of a stream; at most reply."`
	TextBytes    rulefile.Size `rule:"text,required" min:"1KiB" doc:"A candidate call; longer ones are shown as text. Conditions see as much."`
	Depth        int           `rule:"depth,required" min:"8" max:"1000" doc:"How deep JSON may nest." eg:"128"`
}

// TimeLimits are how long something may take.
type TimeLimits struct {
	Connect      time.Duration `rule:"connect,required" min:"10ms" doc:"Until the model server takes the connection. Read at start only."`
	FirstByte    time.Duration `rule:"first_byte,required" min:"10ms" doc:"Until it begins to answer; reading a long prompt takes a while."`
	Idle         time.Duration `rule:"idle,required" min:"10ms" doc:"Silence in the middle of a stream."`
	Keepalive    time.Duration `rule:"keepalive,required" min:"10ms" doc:"Silence towards the caller before it gets an empty chunk; shorter than idle."`
	Grace        time.Duration `rule:"grace,required" doc:"For open streams after SIGTERM. Read at start only."`
	ProbeTimeout time.Duration `rule:"probe_timeout,required" min:"10ms" doc:"For one question to the model server: are you there, and which one are you?"`
	ProbeEvery   time.Duration `rule:"probe_every,required" doc:"How long the answer to that question is good for."`
}

// RetryLimits are about attempts before the first byte.
type RetryLimits struct {
	Retries     int           `rule:"times,required" min:"0" max:"20" doc:"Attempts after the first." eg:"3"`
	RetryMin    time.Duration `rule:"wait_min,required" doc:"Before the first of them; doubles from there."`
	RetryMax    time.Duration `rule:"wait_max,required" doc:"The longest wait, also for a Retry-After of the server."`
	RetryBudget time.Duration `rule:"within,required" doc:"For all attempts of one request together."`
}

// Pace is how much one session, or one caller, may ask.
type Pace struct {
	AtOnce    int `rule:"at_once" min:"1" max:"1000000" doc:"Requests that are being served." eg:"32"`
	PerMinute int `rule:"per_minute" min:"1" max:"10000000" doc:"Requests, on average; as many may come in one burst." eg:"600"`
}

// KeepLimits are how many of something are kept.
type KeepLimits struct {
	IdleConnections int `rule:"connections,required" min:"1" max:"10000" doc:"Idle connections to the model server." eg:"128"`
	Thoughts        int `rule:"thoughts,required" min:"0" max:"1000000" doc:"Chains of thought, by call id, for callers that drop them." eg:"4096"`
	Schemas         int `rule:"schemas,required" min:"1" max:"100000" doc:"Compiled JSON Schemas of tools." eg:"512"`
}

// ApprovalLimits is a section that may be left out, as a whole or in parts.
type ApprovalLimits struct {
	ApprovalPending    time.Duration `rule:"pending" min:"1s" doc:"How long an answer is waited for; then it is a no (10m)." eg:"10m"`
	ApprovalGranted    time.Duration `rule:"granted" min:"1s" doc:"How long the model may take to send again what was allowed (5m)." eg:"5m"`
	ApprovalDenied     time.Duration `rule:"denied" min:"1s" doc:"How long a no answers the same call, and what is over is remembered (10m)." eg:"10m"`
	ApprovalPerSession int           `rule:"per_session" min:"1" max:"1000" doc:"Calls of one session that wait at once; the oldest makes room (16)." eg:"16"`
	ApprovalTotal      int           `rule:"total" min:"1" max:"10000" doc:"Calls that wait at once, of all sessions (128)." eg:"128"`
}

// defaultLimits are what limits.yaml need not say, because older ones do not.
var defaultLimits = Limits{
	Session: Pace{AtOnce: 32, PerMinute: 600},
	Caller:  Pace{AtOnce: 10_000, PerMinute: 600_000},
	ApprovalLimits: ApprovalLimits{
		ApprovalPending: 10 * time.Minute, ApprovalGranted: 5 * time.Minute, ApprovalDenied: 10 * time.Minute, ApprovalPerSession: 16, ApprovalTotal: 128,
	},
}

// limits takes limits.yaml.
func (l *loader) limits() {
	f := defaultLimits
	decodeInto(l, limitsFile, &f, false)
	if l.trees[lockedName(limitsFile)] != nil && l.trees[limitsFile] != nil && l.clean(limitsFile, lockedName(limitsFile)) {
		l.ceilings(&f)
	}
	l.set.Limits, l.set.Tools.MaxDepth = f, f.Depth
	if !l.clean(limitsFile) {
		return
	}
	if f.LineBytes > f.ReplyBytes {
		l.report(l.placeOf(limitsFile, "size", "line"), rulefile.CodeValue, "line cannot be more than reply, of which it is a part", "")
	}
	if f.Keepalive >= f.Idle {
		l.report(l.placeOf(limitsFile, "time", "keepalive"), rulefile.CodeValue, "keepalive must be shorter than idle, or callers give up first", "")
	}
	if f.RetryMin > f.RetryMax {
		l.report(l.placeOf(limitsFile, "retry", "wait_min"), rulefile.CodeValue, "wait_min cannot be more than wait_max", "")
	}
}

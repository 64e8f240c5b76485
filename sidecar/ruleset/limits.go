package ruleset

import (
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Limits is how much, how long and how often. Sizes are bytes.
type Limits struct {
	RequestBytes int // body of a request
	ReplyBytes   int // one reply of the upstream
	ErrorBytes   int // an error body that is read
	LineBytes    int // one line of a stream
	TextBytes    int // text of a reply that strategies and conditions see
	Depth        int // nesting of JSON

	Connect      time.Duration // until the upstream takes the connection
	FirstByte    time.Duration // until the head of the answer
	Idle         time.Duration // between two events of a stream
	Keepalive    time.Duration // silence towards the caller before an empty delta is sent
	Grace        time.Duration // for open streams after SIGTERM
	ProbeTimeout time.Duration // for one question to the upstream
	ProbeEvery   time.Duration // how long its answer is good for

	Retries     int           // attempts after the first, before the first byte
	RetryMin    time.Duration // before the first retry; doubles
	RetryMax    time.Duration // longest wait, also of Retry-After
	RetryBudget time.Duration // for all attempts of one request together

	Session Pace // of requests that name their session
	Caller  Pace // of all others, by their address

	IdleConnections int // kept open to one host
	Thoughts        int // chains of thought kept by call id
	Schemas         int // compiled tool schemas kept

	ApprovalPending    time.Duration // how long a person's answer is waited for
	ApprovalGranted    time.Duration // how long what was allowed may be used
	ApprovalDenied     time.Duration // how long a denial answers the same call
	ApprovalPerSession int           // pending ones of one session
	ApprovalTotal      int           // pending ones of all
}

// Pace is how much one session, or one caller, may ask.
type Pace struct {
	AtOnce    int `rule:"at_once" min:"1" max:"1000000" doc:"Requests that are being served." eg:"32"`
	PerMinute int `rule:"per_minute" min:"1" max:"10000000" doc:"Requests, on average; as many may come in one burst." eg:"600"`
}

// What limits.yaml need not say, because older ones do not.
var (
	sessionPace = Pace{AtOnce: 32, PerMinute: 600}
	callerPace  = Pace{AtOnce: 10_000, PerMinute: 600_000}
)

// limitFile is limits.yaml.
type limitFile struct {
	Version int `rule:"version,required" one:"1" doc:"The version of the format of this file."`
	Size    struct {
		At      rulefile.Place
		Request rulefile.Size `rule:"request,required" doc:"The body of a request; longer ones get 413."`
		Reply   rulefile.Size `rule:"reply,required" doc:"One reply of the model server."`
		Error   rulefile.Size `rule:"error,required" doc:"What is read of an error body of the model server."`
		Line    rulefile.Size `rule:"line,required" doc:"One line of a stream; at most reply."`
		Text    rulefile.Size `rule:"text,required" doc:"A candidate call; longer ones are shown as text. Conditions see as much."`
		Depth   int           `rule:"depth,required" min:"8" max:"1000" doc:"How deep JSON may nest." eg:"128"`
	} `rule:"size,required" doc:"Bytes, written 64KiB, 16MiB or 1GiB. None is less than 1KiB."`
	Time struct {
		At           rulefile.Place
		Connect      time.Duration `rule:"connect,required" doc:"Until the model server takes the connection. Read at start only."`
		FirstByte    time.Duration `rule:"first_byte,required" doc:"Until it begins to answer; reading a long prompt takes a while."`
		Idle         time.Duration `rule:"idle,required" doc:"Silence in the middle of a stream."`
		Keepalive    time.Duration `rule:"keepalive,required" doc:"Silence towards the caller before it gets an empty chunk; shorter than idle."`
		Grace        time.Duration `rule:"grace,required" doc:"For open streams after SIGTERM. Read at start only."`
		ProbeTimeout time.Duration `rule:"probe_timeout,required" doc:"For one question to the model server: are you there, and which one are you?"`
		ProbeEvery   time.Duration `rule:"probe_every,required" doc:"How long the answer to that question is good for."`
	} `rule:"time,required" doc:"Times, written 500ms, 30s or 2m. None but grace and probe_every is less than 10ms."`
	Retry struct {
		At      rulefile.Place
		Times   int           `rule:"times,required" min:"0" max:"20" doc:"Attempts after the first." eg:"3"`
		WaitMin time.Duration `rule:"wait_min,required" doc:"Before the first of them; doubles from there."`
		WaitMax time.Duration `rule:"wait_max,required" doc:"The longest wait, also for a Retry-After of the server."`
		Within  time.Duration `rule:"within,required" doc:"For all attempts of one request together."`
	} `rule:"retry,required" doc:"Asking again after a network error, 429, 502, 503 or 504, as long as nothing has reached the caller."`
	Session Pace `rule:"session" doc:"What one session may ask, by the header session_id or x-session-affinity; more gets 429 and waits. Left out: 32 at once, 600 a minute."`
	Caller  Pace `rule:"caller" doc:"What one address may ask without naming a session. Left out: 10000 at once, 600000 a minute."`
	Keep    struct {
		At          rulefile.Place
		Connections int `rule:"connections,required" min:"1" max:"10000" doc:"Idle connections to the model server." eg:"128"`
		Thoughts    int `rule:"thoughts,required" min:"0" max:"1000000" doc:"Chains of thought, by call id, for callers that drop them." eg:"4096"`
		Schemas     int `rule:"schemas,required" min:"1" max:"100000" doc:"Compiled JSON Schemas of tools." eg:"512"`
	} `rule:"keep,required" doc:"How much is kept in memory. Read at start only."`
	Approvals approvalLimits `rule:"approvals" doc:"Calls that a person is asked about; left out: as shipped. Read at start only."`
}

// approvalLimits is a section that may be left out, as a whole or in parts.
type approvalLimits struct {
	At         rulefile.Place
	Pending    time.Duration `rule:"pending" doc:"How long an answer is waited for; then it is a no (10m)." eg:"10m"`
	Granted    time.Duration `rule:"granted" doc:"How long the model may take to send again what was allowed (5m)." eg:"5m"`
	Denied     time.Duration `rule:"denied" doc:"How long a no answers the same call, and what is over is remembered (10m)." eg:"10m"`
	PerSession int           `rule:"per_session" min:"1" max:"1000" doc:"Calls of one session that wait at once; the oldest makes room (16)." eg:"16"`
	Total      int           `rule:"total" min:"1" max:"10000" doc:"Calls that wait at once, of all sessions (128)." eg:"128"`
}

// defaultApprovals is what the section leaves out.
var defaultApprovals = approvalLimits{Pending: 10 * time.Minute, Granted: 5 * time.Minute, Denied: 10 * time.Minute, PerSession: 16, Total: 128}

// limits takes limits.yaml.
func (l *loader) limits() {
	f := limitFile{Session: sessionPace, Caller: callerPace, Approvals: defaultApprovals}
	decodeInto(l, limitsFile, &f, false)
	if l.trees[lockedName(limitsFile)] != nil && l.trees[limitsFile] != nil && l.clean(limitsFile, lockedName(limitsFile)) {
		l.ceilings(&f)
	}
	s, t, r, k, a := f.Size, f.Time, f.Retry, f.Keep, f.Approvals
	l.set.Limits = Limits{
		RequestBytes: int(s.Request), ReplyBytes: int(s.Reply), ErrorBytes: int(s.Error), LineBytes: int(s.Line),
		TextBytes: int(s.Text), Depth: s.Depth,
		Connect: t.Connect, FirstByte: t.FirstByte, Idle: t.Idle, Keepalive: t.Keepalive, Grace: t.Grace,
		ProbeTimeout: t.ProbeTimeout, ProbeEvery: t.ProbeEvery,
		Retries: r.Times, RetryMin: r.WaitMin, RetryMax: r.WaitMax, RetryBudget: r.Within,
		Session: f.Session, Caller: f.Caller,
		IdleConnections: k.Connections, Thoughts: k.Thoughts, Schemas: k.Schemas,
		ApprovalPending: a.Pending, ApprovalGranted: a.Granted, ApprovalDenied: a.Denied, ApprovalPerSession: a.PerSession, ApprovalTotal: a.Total,
	}
	l.set.Tools.MaxDepth = s.Depth
	if !l.clean(limitsFile) {
		return
	}
	at := func(keys ...string) rulefile.Place {
		if t := l.trees[lockedName(limitsFile)]; t != nil && t.Says(keys...) {
			return l.placeOf(lockedName(limitsFile), keys...) // the rules alone were good
		}
		return l.placeOf(limitsFile, keys...)
	}
	for _, x := range []struct {
		section, key, least string
		good                bool
	}{
		{"size", "request", "1KiB", s.Request >= 1024}, {"size", "reply", "1KiB", s.Reply >= 1024}, {"size", "error", "1KiB", s.Error >= 1024},
		{"size", "line", "1KiB", s.Line >= 1024}, {"size", "text", "1KiB", s.Text >= 1024},
		{"time", "connect", "10ms", t.Connect >= 10*time.Millisecond}, {"time", "first_byte", "10ms", t.FirstByte >= 10*time.Millisecond},
		{"time", "idle", "10ms", t.Idle >= 10*time.Millisecond}, {"time", "keepalive", "10ms", t.Keepalive >= 10*time.Millisecond},
		{"time", "probe_timeout", "10ms", t.ProbeTimeout >= 10*time.Millisecond},
		{"approvals", "pending", "1s", a.Pending >= time.Second}, {"approvals", "granted", "1s", a.Granted >= time.Second}, {"approvals", "denied", "1s", a.Denied >= time.Second},
	} {
		if !x.good {
			l.report(at(x.section, x.key), rulefile.CodeValue, x.key+" is at least "+x.least, "")
		}
	}
	if !l.clean(limitsFile) {
		return
	}
	if s.Line > s.Reply {
		l.report(at("size", "line"), rulefile.CodeValue, "line cannot be more than reply, of which it is a part", "")
	}
	if t.Keepalive >= t.Idle {
		l.report(at("time", "keepalive"), rulefile.CodeValue, "keepalive must be shorter than idle, or callers give up first", "")
	}
	if r.WaitMin > r.WaitMax {
		l.report(at("retry", "wait_min"), rulefile.CodeValue, "wait_min cannot be more than wait_max", "")
	}
}

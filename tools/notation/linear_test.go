//go:build linux

package notation

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Hostile text takes time in line with its length.
func TestHostileTextIsLinear(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, piece := range []string{`"`, `<a>`, `<a>x</a>`, `<0x41>`, `▁"`, "`", `「`, `\u{`, `a=%41&`, "a\x00",
		"\x1b[1m", `<unk>`, `"a": {`, "<json>", `<parameter name="a">`, "\ufeff", "[", "a(", "{a=", "a: b\n", "--a b ", "1: {\n", "7b", `\x7b`, "<a b=\"c\" ", "<parameter=a>b</parameter>", "Map(", "r\"a\\", "\r\n1\r\na", "1\r\na\r\n", "\n: a\n\n", ": ping\n", "<|a|>", "0x1", "{a:\"b\"+", "{a:\"b\"", "@\"\"", "{a:\"b\\n\"\n", "a: |\n b\n"} {
		took := func(n int) time.Duration {
			text, least := strings.Repeat(piece, n/len(piece)), time.Hour
			for range 3 {
				begin := processorTime(t)
				Of(Carried(text), 0)
				Literal(text, 0)
				Beats(text)
				least = min(least, processorTime(t)-begin)
			}
			return least
		}
		small, large := took(20_000), took(320_000)
		if large > 60*small+80*time.Millisecond {
			t.Errorf("%q: %v, and 16 times as much takes %v", piece, small, large)
		}
	}
}

// processorTime is that of this thread: what else a busy machine does is not in it.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Nano())
}

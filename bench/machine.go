//go:build linux

package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// tick is the unit of processor time in /proc.
const tick = 10 * time.Millisecond

// CPUs of callers and model server, and of the measured process.
const ours, theirs = 0, 1

// pin binds a thread to a CPU; 0 is the calling thread. Without a second CPU, or the right to do so, the
// thread runs anywhere.
func pin(thread, cpu int) {
	var set unix.CPUSet
	set.Set(cpu)
	if runtime.NumCPU() > 1 {
		_ = unix.SchedSetaffinity(thread, &set)
	}
}

// pinAll binds this process.
func pinAll() {
	threads, _ := filepath.Glob("/proc/self/task/*")
	for _, thread := range threads {
		id, _ := strconv.Atoi(filepath.Base(thread))
		pin(id, ours)
	}
}

// field returns the value of a name in a file of /proc with one per line.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// resident returns VmRSS in MiB.
func resident(pid int) float64 {
	kb, _ := strconv.Atoi(strings.TrimSuffix(field(proc(pid, "/status"), "VmRSS"), " kB"))
	return float64(kb) / 1024
}

// used returns the processor time of a process from the text of its /proc/PID/stat.
func used(stat string) time.Duration {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:]) // a name may contain anything
	if len(fields) < 13 {
		return 0 // it has ended
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick
}

// busy returns the processor time of all processes from /proc/stat, without interrupts, which the measured
// traffic causes itself.
func busy(stat string) (sum time.Duration) {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	for i := 1; i <= 3 && i < len(fields); i++ { // user, nice, system
		n, _ := strconv.Atoi(fields[i])
		sum += time.Duration(n) * tick
	}
	return sum
}

// proc reads a file of /proc; empty if it is missing.
func proc(parts ...any) string {
	text, _ := os.ReadFile("/proc/" + fmt.Sprint(parts...))
	return string(text)
}

// meter measures processor time since its creation.
type meter struct {
	pid                 int // 0: none
	began               time.Time
	target, self, total time.Duration
}

func startMeter(pid int) meter {
	m := meter{pid: pid, began: time.Now(), self: used(proc("self/stat")), total: busy(proc("stat"))}
	if pid != 0 {
		m.target = used(proc(pid, "/stat"))
	}
	return m
}

// stop returns the time of the target, and how many cores others used meanwhile.
func (m meter) stop() (target time.Duration, otherLoad float64) {
	now := startMeter(m.pid)
	target = now.target - m.target
	foreign := now.total - m.total - (now.self - m.self) - target
	return target, max(0, foreign.Seconds()/now.began.Sub(m.began).Seconds())
}

// alarm wakes at precise times: timers of Go are a millisecond late on an idle process.
type alarm struct {
	fd   int
	file *os.File
}

func newAlarm() (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a timer: %w", err)
	}
	return &alarm{fd, os.NewFile(uintptr(fd), "timer")}, nil
}

func (a *alarm) until(t time.Time) {
	remaining := time.Until(t)
	if remaining <= 0 {
		return
	}
	if unix.TimerfdSettime(a.fd, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(remaining.Nanoseconds())},
		nil) == nil {
		var expired uint64
		_ = binary.Read(a.file, binary.NativeEndian, &expired)
	}
}

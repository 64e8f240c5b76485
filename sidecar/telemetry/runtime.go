package telemetry

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"time"
)

// fixed is a metric with one value that was just read.
func fixed(name, help, kind string, n float64) *Vec {
	return &Vec{name: name, help: help, kind: kind, series: map[string]*Series{"": {value: n}}}
}

// ofGo are the usual metrics of a Go program.
func ofGo() []*Vec {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	threads, _ := runtime.ThreadCreateProfile(nil)
	settings := []metrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(settings)
	out := []*Vec{
		{name: "go_info", help: "The version of Go.", kind: kindGauge, series: map[string]*Series{`version="` + runtime.Version() + `",`: {value: 1}}},
		fixed("go_goroutines", "Goroutines that exist.", kindGauge, float64(runtime.NumGoroutine())),
		fixed("go_threads", "Threads that were made.", kindGauge, float64(threads)),
		fixed("go_sched_gomaxprocs_threads", "Threads that may run Go code at once.", kindGauge, float64(runtime.GOMAXPROCS(0))),
		fixed("go_gc_gogc_percent", "How much the heap grows until garbage is collected.", kindGauge, float64(settings[0].Value.Uint64())),
		fixed("go_gc_gomemlimit_bytes", "Memory limit of the runtime.", kindGauge, float64(settings[1].Value.Uint64())),
	}
	for _, g := range []struct {
		name, help, kind string
		n                uint64
	}{
		{"alloc_bytes", "Bytes in objects.", kindGauge, m.Alloc},
		{"alloc_bytes_total", "Bytes in objects that were ever made.", kindCounter, m.TotalAlloc},
		{"buck_hash_sys_bytes", "Bytes of the tables of profiles.", kindGauge, m.BuckHashSys},
		{"frees_total", "Objects that were freed.", kindCounter, m.Frees},
		{"gc_sys_bytes", "Bytes that the garbage collector keeps.", kindGauge, m.GCSys},
		{"heap_alloc_bytes", "Bytes in objects of the heap.", kindGauge, m.HeapAlloc},
		{"heap_idle_bytes", "Bytes of the heap that wait for use.", kindGauge, m.HeapIdle},
		{"heap_inuse_bytes", "Bytes of the heap in use.", kindGauge, m.HeapInuse},
		{"heap_objects", "Objects that exist.", kindGauge, m.HeapObjects},
		{"heap_released_bytes", "Bytes that were given back to the system.", kindGauge, m.HeapReleased},
		{"heap_sys_bytes", "Bytes of the heap that came from the system.", kindGauge, m.HeapSys},
		{"mallocs_total", "Objects that were ever made.", kindCounter, m.Mallocs},
		{"mcache_inuse_bytes", "Bytes in mcache structures.", kindGauge, m.MCacheInuse},
		{"mcache_sys_bytes", "Bytes for mcache structures that came from the system.", kindGauge, m.MCacheSys},
		{"mspan_inuse_bytes", "Bytes in mspan structures.", kindGauge, m.MSpanInuse},
		{"mspan_sys_bytes", "Bytes for mspan structures that came from the system.", kindGauge, m.MSpanSys},
		{"next_gc_bytes", "Size of the heap at which garbage is collected next.", kindGauge, m.NextGC},
		{"other_sys_bytes", "Bytes for other things that came from the system.", kindGauge, m.OtherSys},
		{"stack_inuse_bytes", "Bytes in stacks.", kindGauge, m.StackInuse},
		{"stack_sys_bytes", "Bytes for stacks that came from the system.", kindGauge, m.StackSys},
		{"sys_bytes", "Bytes that came from the system.", kindGauge, m.Sys},
	} {
		out = append(out, fixed("go_memstats_"+g.name, g.help, g.kind, float64(g.n)))
	}
	out = append(out, fixed("go_memstats_last_gc_time_seconds", "When garbage was last collected, as Unix time.", kindGauge, float64(m.LastGC)/1e9))
	return append(out, pauses()...)
}

// pauses are how long the collector stopped the program.
func pauses() []*Vec {
	stats := debug.GCStats{PauseQuantiles: make([]time.Duration, 5)}
	debug.ReadGCStats(&stats)
	const name = "go_gc_duration_seconds"
	v := &Vec{name: name, help: "Pauses of the program while garbage is collected.", kind: kindSummary, series: map[string]*Series{}}
	if stats.NumGC > 0 {
		v.series[""] = &Series{value: stats.PauseTotal.Seconds(), count: uint64(stats.NumGC)}
	}
	for i, pause := range stats.PauseQuantiles {
		v.series[`quantile="`+strconv.FormatFloat(float64(i)/4, 'g', -1, 64)+`",`] = &Series{value: pause.Seconds()}
	}
	return []*Vec{v}
}

//go:build race

package sidecar

// reloads under the race detector, which makes them ten times as dear.
const reloads = 100

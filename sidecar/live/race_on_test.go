//go:build race

package live

// reloads under the race detector, which makes them ten times as dear.
const reloads = 100

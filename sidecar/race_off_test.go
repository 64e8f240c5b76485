//go:build !race

package sidecar

// reloads that must leave nothing behind; see RELOADS.
const reloads = 300

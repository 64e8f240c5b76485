//go:build !race

package live

// reloads that must leave nothing behind; see RELOADS.
const reloads = 300

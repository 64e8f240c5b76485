//go:build unix && race

package handover_test

// raced are the flags with which the program under test is built.
var raced = []string{"-race"}

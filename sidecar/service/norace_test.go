//go:build unix && !race

package service_test

// raced are the flags with which the program under test is built.
var raced []string

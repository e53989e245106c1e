// Package process holds the processes of a recording: which thread ran where and
// when, what each process had mapped, and whose code a user address is.
package process

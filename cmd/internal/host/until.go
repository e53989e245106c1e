package host

import "context"

// Until returns what do returns, or the error of ctx once that is cancelled. Then do may go on, in
// a read of a pipe that nothing comes from: the command must end.
func Until[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := do()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

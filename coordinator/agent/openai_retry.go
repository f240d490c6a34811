package agent

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// maxTries is how often a request is sent at most.
	maxTries = 6
	// defaultRetryWait is the time before the first retry. It doubles with each.
	defaultRetryWait = time.Second
)

// retried are the statuses of a request that may succeed later. From 520 on they are those of proxies, and of an
// overloaded API.
var retried = []int{
	http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests, http.StatusInternalServerError,
	http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, 520, 521, 522, 523, 524, 529,
}

// client follows no redirects.
var client = http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// post sends the request until it is served or has failed for good, and yields a Retry before each
// repetition. more is false if the consumer has left the loop. The caller closes the response.
func (a *api) post(
	ctx context.Context, prompt string, yield func(Event, error) bool,
) (response *http.Response, more bool, err error) {
	started := time.Now()
	for try := 1; ; try++ {
		wait, after := a.wait<<(try-1), http.Header(nil)
		response, err = a.send(ctx, prompt)
		temporary := isTemporary(err)
		switch {
		case err == nil && response.StatusCode == http.StatusOK:
			a.lastRetry = ""
			return response, true, nil
		case err == nil:
			after, temporary = response.Header, slices.Contains(retried, response.StatusCode)
			switch err = a.refusal(response); err {
			case errNoStreamOptions:
				a.plain, try = true, try-1
				continue
			case errNoEffort:
				a.effort, try = false, try-1
				if !yield(unsupportedThinking, nil) {
					return nil, false, nil
				}
				continue
			case errNoImages:
				if try--; !yield(Unsupported{SettingImages}, nil) {
					return nil, false, nil
				}
				a.images = nil
				continue
			}
		default:
			advice := "check the member's endpoint, and that its server, such as Ollama, runs"
			err = a.failure(urlReason(err), Remedy{Advice: advice})
		}
		temporary = temporary && !isNoCredit(err)
		wait += rand.N(wait/2 + 1)
		if asked, ok := retryAfter(after, time.Now()); ok {
			wait = asked
		}
		if !temporary || try == maxTries || ctx.Err() != nil || a.limit > 0 && time.Since(started)+wait > a.limit {
			return nil, true, err
		}
		a.lastRetry = err.(*FailureError).Reason
		if !yield(Retry{Reason: a.lastRetry, Wait: wait, Try: try, Max: maxTries}, nil) {
			return nil, false, nil
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, true, err
		}
	}
}

func (a *api) send(ctx context.Context, prompt string) (*http.Response, error) {
	request, err := a.request(ctx, prompt)
	if err != nil {
		return nil, err
	}
	return client.Do(request)
}

// The errors of an API that does not know an option.
var (
	errNoStreamOptions = errors.New("stream_options is unknown")
	errNoEffort        = errors.New("reasoning_effort is unknown")
	errNoImages        = errors.New("the model takes no pictures")
)

// withoutImages are the statuses with which servers refuse pictures that a model does not take. Their texts differ, so
// that the request is sent without the pictures: if that is refused too, the error is the one of that request.
var withoutImages = []int{
	http.StatusBadRequest, http.StatusNotFound, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity,
	http.StatusRequestEntityTooLarge, http.StatusInternalServerError, http.StatusNotImplemented,
}

// refusal returns the error of a response other than 200, and closes the response.
func (a *api) refusal(response *http.Response) error {
	defer response.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxReason))
	invalid := response.StatusCode == http.StatusBadRequest || response.StatusCode == http.StatusUnprocessableEntity
	switch {
	case invalid && !a.plain && strings.Contains(string(body), "stream_options"):
		return errNoStreamOptions
	case invalid && a.effort && strings.Contains(string(body), "reasoning_effort"):
		return errNoEffort
	case len(a.images) > 0 && slices.Contains(withoutImages, response.StatusCode):
		return errNoImages
	}
	return a.statusError(response, body)
}

// isTemporary reports whether a request without a response may succeed later.
func isTemporary(err error) bool {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return !dns.IsNotFound
	}
	_, network := errors.AsType[*net.OpError](err)
	return network || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// retryAfter returns the time for which a response asks: by Retry-After, which is a number of seconds or a date, or by
// retry-after-ms.
func retryAfter(header http.Header, now time.Time) (wait time.Duration, ok bool) {
	for _, field := range []struct {
		name string
		unit time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}} {
		if n, err := strconv.ParseFloat(header.Get(field.name), 64); err == nil && n >= 0 && n < 1<<31 {
			return time.Duration(n * float64(field.unit)), true
		}
	}
	if at, err := http.ParseTime(header.Get("Retry-After")); err == nil {
		return max(0, at.Sub(now)), true
	}
	return 0, false
}

// noCredit reports whether the body of a refusal says that the account has no credit: a retry does not help.
func noCredit(body []byte) bool {
	text := strings.ToLower(string(body))
	return strings.Contains(text, "insufficient_quota") || strings.Contains(text, "billing_hard_limit") ||
		strings.Contains(text, "insufficient balance") || strings.Contains(text, "credit balance")
}

// isNoCredit reports whether err is that of an account without credit.
func isNoCredit(err error) bool {
	failure, ok := errors.AsType[*FailureError](err)
	return ok && failure.Remedy.Advice == remedyCredit.Advice
}

package flock

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// A service that asks for more patience is not waited for.
	patience   = time.Minute
	pauseFirst = 500 * time.Millisecond
	pauseMost  = 8 * time.Second
	answerMax  = 64 << 20
	// What is left of a body that is not wanted is read up to here, so that its connection can be used again.
	drainMax = 64 << 10
)

var (
	// Blanks at its ends would be lost on the way, and two keys be one.
	idempotencyKeyForm = regexp.MustCompile(`^[!-~]([ -~]{0,253}[!-~])?$`)
	secondsForm        = regexp.MustCompile(`^[0-9]{1,9}$`)
	jsonType           = regexp.MustCompile(`(?i)^application/(?:[\w.-]+\+)?json\b`)
)

// operation of the table. marks: k takes an Idempotency-Key, b has a body, d answers a document; c, e: served by the
// cloud or an edge alone.
type operation struct{ id, method, path, marks string }

// failure is how an attempt went wrong, and whether another one may go right.
type failure struct {
	Error
	mayRepeat bool
}

func broken(code, message, reason string, mayRepeat bool) *failure {
	return &failure{Error{Code: code, Message: message, Details: reasonOf(reason)}, mayRepeat}
}

func call[T any](ctx context.Context, c *Client, its operation, params any, how how) (*T, error) {
	return answered[T](c.core.send(ctx, its, params, how, nil))
}

// answered reads what came into its type.
func answered[T any](data []byte, about Error, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	value := new(T)
	if json.Unmarshal(data, value) != nil {
		about.Code, about.Message, about.Details = CodeClientNetwork, "the answer is of another form", reasonOf("unreadable")
		return nil, &about
	}
	return value, nil
}

func document[T string | json.RawMessage](ctx context.Context, c *Client, its operation, params any, how how) (T, error) {
	data, _, err := c.core.send(ctx, its, params, how, nil)
	return T(data), err
}

// send makes the attempts of one call: the data of its answer, and what an error about that data would say.
func (c *core) send(ctx context.Context, its operation, params any, how how, after *string) ([]byte, Error, error) {
	about := Error{Details: noDetails}
	if c.key != "loc" {
		about.DocURL = c.base + "/docs#" + its.id
	}
	isKeyed := strings.Contains(its.marks, "k")
	if isKeyed {
		about.IdempotencyKey = newKey()
		if how.key != nil {
			about.IdempotencyKey = *how.key
		}
	}
	fail := func(with Error) ([]byte, Error, error) {
		with.Attempts, with.IdempotencyKey, with.DocURL = about.Attempts, about.IdempotencyKey, about.DocURL
		return nil, about, &with
	}
	place, body, err := requestOf(c.base, its, params, how.nulls, after)
	if wrong := c.problemOf(its, about.IdempotencyKey, isKeyed, err); wrong != "" {
		return fail(Error{Code: CodeClientInvalid, Message: wrong, Details: noDetails})
	}
	endsAt := c.clock.Now().Add(orElse(how.deadline, c.deadline))
	mayRepeat := its.method == http.MethodGet || isKeyed
	for {
		if ctx.Err() != nil {
			return fail(ended(ctx).Error)
		}
		about.Attempts++
		limit := orElse(how.timeout, c.timeout)
		if left := endsAt.Sub(c.clock.Now()); left < limit {
			limit = left
		}
		data, failed := c.attempt(ctx, its, place, body, about.IdempotencyKey, limit)
		if failed == nil {
			about.Status = http.StatusOK
			return data, about, nil
		}
		if !failed.mayRepeat || !mayRepeat || about.Attempts > c.retries || failed.RetryAfter > patience {
			return fail(failed.Error)
		}
		pause := pauseOf(about.Attempts-1, c.clock.Random())
		if pause < failed.RetryAfter {
			pause = failed.RetryAfter
		}
		if !c.clock.Now().Add(pause).Before(endsAt) {
			return fail(failed.Error)
		}
		c.clock.Sleep(ctx, pause)
	}
}

func (c *core) problemOf(its operation, key string, isKeyed bool, err error) string {
	switch {
	case c.key == "loc" && strings.Contains(its.marks, "c"):
		return its.id + " is served by the cloud alone: give its address as BaseURL, and an flk_ key"
	case c.key == "flk" && strings.Contains(its.marks, "e"):
		return its.id + " is served by an edge alone: give its address as BaseURL, and a loc_ key"
	case isKeyed && !idempotencyKeyForm.MatchString(key):
		return "the idempotency key is 1 to 255 printable characters of ASCII, without blanks at its ends"
	case err != nil:
		return err.Error()
	}
	return ""
}

// attempt is one request and its whole answer within the limit. Its body is read or drained, and closed, on every path.
func (c *core) attempt(ctx context.Context, its operation, place string, body []byte, key string, limit time.Duration) ([]byte, *failure) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	request, err := c.newRequest(limited, its, place, body, key)
	if err != nil {
		return nil, broken(CodeClientNetwork, "no request can be made of it", "connection", false)
	}
	response, err := c.httpClient.Do(request)
	if err != nil {
		return nil, whyNot(ctx, limited, limit, err)
	}
	defer func() {
		_, _ = io.CopyN(io.Discard, response.Body, drainMax)
		_ = response.Body.Close()
	}()
	if response.StatusCode >= 300 && response.StatusCode < 400 {
		failed := broken(CodeClientNetwork, "a redirect is not followed: give the address itself as BaseURL", "redirect", false)
		failed.Status = response.StatusCode
		return nil, failed
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, answerMax+1))
	if err != nil {
		return nil, whyNot(ctx, limited, limit, err)
	}
	if len(text) > answerMax {
		return nil, broken(CodeClientNetwork, "the answer is larger than 64 MiB", "too_large", false)
	}
	return c.answerOf(response, text, strings.Contains(its.marks, "d"))
}

func (c *core) newRequest(ctx context.Context, its operation, place string, body []byte, key string) (*http.Request, error) {
	// A reader of bytes gives the request its GetBody: a connection that was closed before a byte left is replaced.
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	request, err := http.NewRequestWithContext(ctx, its.method, place, reader)
	if err != nil {
		return nil, err
	}
	request.Header = http.Header{"Accept": {"application/json"}, "User-Agent": {"flock-go/" + Version}}
	c.authorize(request.Header)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		// In small letters net/http does not see it, and sends no write a second time by itself: attempts are counted here.
		request.Header["idempotency-key"] = []string{key}
	}
	return request, nil
}

// ended is how a call ends whose context has.
func ended(ctx context.Context) *failure {
	failed := broken(CodeClientAborted, "the context of the caller was cancelled", "aborted", false)
	failed.Details = noDetails
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		failed = broken(CodeClientTimeout, "the deadline of the caller's context is over", "timeout", false)
	}
	failed.cause = ctx.Err()
	return failed
}

func whyNot(ctx, limited context.Context, limit time.Duration, err error) *failure {
	if ctx.Err() != nil {
		return ended(ctx)
	}
	if limited.Err() != nil {
		message := fmt.Sprintf("no whole answer within %d ms", limit.Milliseconds())
		return broken(CodeClientTimeout, message, "timeout", true)
	}
	return broken(CodeClientNetwork, "no whole answer came", systemWord(err), true)
}

var words = map[syscall.Errno]string{
	syscall.ECONNREFUSED: "ECONNREFUSED", syscall.ECONNRESET: "ECONNRESET", syscall.EPIPE: "EPIPE",
	syscall.ETIMEDOUT: "ETIMEDOUT", syscall.EHOSTUNREACH: "EHOSTUNREACH", syscall.ENETUNREACH: "ENETUNREACH",
}

// systemWord is the system's word, never its text: that may have the address in it.
func systemWord(err error) string {
	var number syscall.Errno
	if errors.As(err, &number) && words[number] != "" {
		return words[number]
	}
	var lookup *net.DNSError
	if errors.As(err, &lookup) {
		return "ENOTFOUND"
	}
	return "connection"
}

func (c *core) answerOf(response *http.Response, text []byte, isDocument bool) ([]byte, *failure) {
	status := response.StatusCode
	isOk := status >= 200 && status < 300
	// Not of JSON Lines, which are a text of many of them.
	isJSON := jsonType.MatchString(response.Header.Get("Content-Type"))
	if isDocument && isOk && (!isJSON || json.Valid(text)) {
		return text, nil
	}
	var envelope map[string]json.RawMessage
	_ = json.Unmarshal(text, &envelope)
	if isOk && string(envelope["success"]) == "true" {
		return orNull(envelope["data"]), nil
	}
	failed := broken(CodeClientNetwork, fmt.Sprintf("status %d without an answer of Flock: is BaseURL right?", status), "no_envelope", isOk || isRepeated(status))
	var refusal struct {
		Code    *string
		Message string
		Details json.RawMessage
	}
	if !isOk && json.Unmarshal(envelope["error"], &refusal) == nil && refusal.Code != nil {
		failed = &failure{Error{Code: *refusal.Code, Message: refusal.Message, Details: noDetails}, isRepeated(status)}
		if bytes.HasPrefix(refusal.Details, []byte("{")) {
			failed.Details = refusal.Details
		}
	}
	failed.Status, failed.RequestID = status, response.Header.Get("X-Request-Id")
	failed.RetryAfter = retryAfterOf(response.Header.Get("Retry-After"), c.clock.Now())
	return nil, failed
}

func orNull(data json.RawMessage) json.RawMessage {
	if data == nil {
		return json.RawMessage("null")
	}
	return data
}

func isRepeated(status int) bool {
	switch status {
	case 429, 500, 502, 503, 504:
		return true
	}
	return false
}

// retryAfterOf a number of seconds, or a date. 0 for anything else, and for what is over.
func retryAfterOf(text string, now time.Time) time.Duration {
	if secondsForm.MatchString(text) {
		seconds, _ := strconv.Atoi(text)
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil || !at.After(now) {
		return 0
	}
	return time.Duration(math.Ceil(at.Sub(now).Seconds())) * time.Second
}

// pauseOf is full jitter below what doubles with each attempt.
func pauseOf(doublings int, chance float64) time.Duration {
	most := pauseMost
	if doublings < 5 && pauseFirst<<doublings < most {
		most = pauseFirst << doublings
	}
	return time.Duration(math.Ceil(float64(most.Milliseconds())*(1-chance))) * time.Millisecond
}

// newKey is a UUID of version 4.
func newKey() string {
	var bits [16]byte
	if _, err := rand.Read(bits[:]); err != nil {
		panic(err) // a system without random numbers makes no key that is its own
	}
	bits[6], bits[8] = bits[6]&15|64, bits[8]&63|128
	return fmt.Sprintf("%x-%x-%x-%x-%x", bits[:4], bits[4:6], bits[6:8], bits[8:10], bits[10:])
}

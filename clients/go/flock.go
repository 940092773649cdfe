// Package flock is the client of Flock, on the standard library alone. A Client has a method for each operation and is
// safe for several goroutines.
package flock

import (
	"context"
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

const (
	retriesDefault  = 2
	timeoutDefault  = 30 * time.Second
	deadlineDefault = time.Minute
	pagesMaxDefault = 10000
	// A service keeps an idle connection for five seconds at least.
	idleConnection = 4 * time.Second
)

// Options of a Client. BaseURL is needed, and one of APIKey, Bearer and Anonymous.
type Options struct {
	// BaseURL is the address of your edge, or of the cloud: http://127.0.0.1:8081.
	BaseURL string
	// APIKey is loc_… at an edge, flk_… at the cloud.
	APIKey string `json:"-"`
	// Bearer is the access token of a person, in place of a key.
	Bearer string `json:"-"`
	// Anonymous is for the few operations that need neither.
	Anonymous bool
	// Environment, live or sandbox, is the one that a person works in. A key has its own.
	Environment string
	// Expect, live or sandbox: a key of the other environment is refused at once.
	Expect string
	// Retries are the attempts beside the first, of a read and of a write with a key: 2 where it is nil.
	Retries *int
	// Timeout is that of one attempt, its body included: 30 s where it is 0.
	Timeout time.Duration
	// Deadline is that of a whole call: 60 s where it is 0.
	Deadline time.Duration
	// PagesMax is how many pages All of a list asks for at most: 10,000 where it is 0.
	PagesMax int
	// Transport sends requests in place of the client's own. Proxies of the environment are not used unless it does.
	Transport http.RoundTripper
	// Clock is for tests.
	Clock Clock `json:"-"`
}

// Format hides the key and the token whatever the verb.
func (o Options) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "flock.Options{%s}", baseShown(o.BaseURL))
}

// Clock is what passes and what is random.
type Clock interface {
	Now() time.Time
	// Random is in [0, 1).
	Random() float64
	// Sleep ends early when the context does.
	Sleep(ctx context.Context, pause time.Duration)
}

// Client calls one edge, or the cloud.
type Client struct{ core *core }

// core is behind a pointer, and its secrets in a function, so that nothing which prints a Client comes to them.
type core struct {
	base       string
	authorize  func(http.Header)
	key        string // flk or loc; empty without a key
	retries    int
	timeout    time.Duration
	deadline   time.Duration
	pagesMax   int
	clock      Clock
	httpClient *http.Client
}

var (
	keyForm   = regexp.MustCompile(`^(flk|loc)_(live|test)_[!-~]*$`)
	tokenForm = regexp.MustCompile(`^[!-~]+$`)
)

// New makes a client. Its error is an Error with CodeClientInvalid, without the value that cannot work.
func New(options Options) (*Client, error) {
	key := keyForm.FindStringSubmatch(options.APIKey)
	if options.APIKey != "" && key == nil {
		return nil, invalidOption("apiKey", "APIKey begins with flk_live_, flk_test_, loc_live_ or loc_test_, and has no spaces")
	}
	if options.APIKey == "" && options.Bearer == "" && !options.Anonymous {
		return nil, invalidOption("apiKey", "APIKey is empty: give it or Bearer, or Anonymous for operations that need neither")
	}
	if options.Bearer != "" && !tokenForm.MatchString(options.Bearer) {
		return nil, invalidOption("bearer", "Bearer is a token without spaces")
	}
	its, what := options.Environment, "environment"
	if key != nil {
		its, what = map[string]string{"live": "live", "test": "sandbox"}[key[2]], "key"
	}
	if options.Expect != "" && its != options.Expect {
		return nil, invalidOption("expect", options.Expect+" is expected, and the "+what+" is another one")
	}
	base, ok := baseOf(options.BaseURL)
	if !ok {
		return nil, invalidOption("baseUrl", "BaseURL is an http or https address without user, password, query and fragment")
	}
	made := &core{
		base:      base,
		authorize: authorizing(options.APIKey, options.Bearer, options.Environment),
		retries:   retriesDefault,
		timeout:   orElse(options.Timeout, timeoutDefault),
		deadline:  orElse(options.Deadline, deadlineDefault),
		pagesMax:  orElse(options.PagesMax, pagesMaxDefault),
		clock:     options.Clock,
	}
	if key != nil {
		made.key = key[1]
	}
	if options.Retries != nil {
		made.retries = *options.Retries
	}
	if made.clock == nil {
		made.clock = systemClock{}
	}
	transport := options.Transport
	if transport == nil {
		transport = ownTransport()
	}
	// A redirect is an answer like any other: what it leads to must not get the key.
	refuse := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	made.httpClient = &http.Client{Transport: transport, CheckRedirect: refuse}
	return &Client{made}, nil
}

func ownTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: timeoutDefault, KeepAlive: 15 * time.Second}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        idleConnection,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

func authorizing(key, bearer, environment string) func(http.Header) {
	return func(header http.Header) {
		if key != "" {
			header.Set("X-Api-Key", key)
		}
		if bearer != "" {
			header.Set("Authorization", "Bearer "+bearer)
		}
		if environment != "" {
			header.Set("X-Environment", environment)
		}
	}
}

func baseOf(text string) (string, bool) {
	place, err := url.Parse(text)
	if err != nil || (place.Scheme != "http" && place.Scheme != "https") || place.Hostname() == "" {
		return "", false
	}
	if place.User != nil || place.RawQuery != "" || place.ForceQuery || place.Fragment != "" {
		return "", false
	}
	return place.Scheme + "://" + place.Host + strings.TrimRight(place.EscapedPath(), "/"), true
}

func baseShown(text string) string {
	base, _ := baseOf(text)
	return base
}

// CloseIdleConnections closes connections that are not in use; the client may be used again.
func (c *Client) CloseIdleConnections() { c.core.httpClient.CloseIdleConnections() }

// Format shows the address alone, whatever the verb.
func (c Client) Format(state fmt.State, _ rune) {
	base := ""
	if c.core != nil {
		base = c.core.base
	}
	_, _ = io.WriteString(state, "flock.Client{"+base+"}")
}

// Ptr is for arguments that may be absent: Tag: flock.Ptr("vip").
func Ptr[T any](value T) *T { return &value }

func orElse[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

// CallOption changes one call.
type CallOption interface {
	WriteOption
	ofCall()
}

// WriteOption changes one call of an operation that takes an Idempotency-Key.
type WriteOption interface{ applyTo(*how) }

type how struct {
	key      *string
	timeout  time.Duration
	deadline time.Duration
	nulls    []string
}

type callOption func(*how)
type writeOption func(*how)

func (o callOption) applyTo(its *how)  { o(its) }
func (o callOption) ofCall()           {}
func (o writeOption) applyTo(its *how) { o(its) }

// WithIdempotencyKey has a key of yours in place of a new one: with the same arguments it has its effect once, whoever
// repeats it. 1 to 255 printable characters of ASCII.
func WithIdempotencyKey(key string) WriteOption {
	return writeOption(func(its *how) { its.key = &key })
}

// WithTimeout limits each attempt of the call, its body included.
func WithTimeout(limit time.Duration) CallOption {
	return callOption(func(its *how) { its.timeout = limit })
}

// WithDeadline limits the whole call.
func WithDeadline(limit time.Duration) CallOption {
	return callOption(func(its *how) { its.deadline = limit })
}

// WithNull sends null for arguments that may be absent, by their names in the API: nil alone leaves them away.
func WithNull(names ...string) CallOption {
	return callOption(func(its *how) { its.nulls = append(its.nulls, names...) })
}

func howOf[O WriteOption](options []O) how {
	var its how
	for _, option := range options {
		option.applyTo(&its)
	}
	return its
}

type systemClock struct{}

func (systemClock) Now() time.Time  { return time.Now() }
func (systemClock) Random() float64 { return rand.Float64() }
func (systemClock) Sleep(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

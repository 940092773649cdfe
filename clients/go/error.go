package flock

import (
	"encoding/json"
	"errors"
	"time"
)

// The client's own codes; those of the service are in types.go.
const (
	// CodeClientNetwork: no answer came, or none of Flock. DecodeDetails reads ClientDetails.
	CodeClientNetwork = "CLIENT_NETWORK"
	// CodeClientTimeout: no whole answer came within the limit.
	CodeClientTimeout = "CLIENT_TIMEOUT"
	// CodeClientAborted: the context was cancelled; errors.Is finds context.Canceled.
	CodeClientAborted = "CLIENT_ABORTED"
	// CodeClientInvalid: it was refused before anything was sent.
	CodeClientInvalid = "CLIENT_INVALID"
)

// ClientDetails is what DecodeDetails reads of the client's own errors.
type ClientDetails struct {
	// Reason of CodeClientNetwork: timeout, redirect, no_envelope, unreadable, too_large, cursor_repeats, pages, or the
	// system's word for it (ECONNREFUSED), else connection.
	Reason string `json:"reason"`
	// Field is the option of New that cannot work.
	Field string `json:"field"`
}

// Error is the one error of every call. Branch on Code, found by errors.As or IsCode; a newer service may have codes and
// details that this version does not know. Nothing of what was asked is in it but the key of the write.
type Error struct {
	Code    string
	Message string
	// Status is that of HTTP; 0 where there was no answer.
	Status int
	// Details is a JSON object, {} where there is nothing to say.
	Details json.RawMessage
	// RequestID is the service's name for the request; empty where there is none.
	RequestID string
	// RetryAfter is what the service asks to wait; 0 where it asks nothing.
	RetryAfter time.Duration
	// Attempts are the requests that were sent.
	Attempts int
	// IdempotencyKey of the write, empty without one: sent again with the same arguments it has the same effect, once.
	IdempotencyKey string
	// DocURL is the operation at a cloud's /docs; empty at an edge, which has no such page.
	DocURL string

	cause error
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Unwrap is context.Canceled or context.DeadlineExceeded where the context ended the call, else nil.
func (e *Error) Unwrap() error { return e.cause }

// DecodeDetails reads Details into one of the types for it, such as InsufficientFundsDetails.
func (e *Error) DecodeDetails(into any) error { return json.Unmarshal(e.Details, into) }

// IsCode is whether the error, or one that it wraps, is an Error with one of the codes.
func IsCode(err error, codes ...string) bool {
	var found *Error
	if !errors.As(err, &found) {
		return false
	}
	for _, code := range codes {
		if found.Code == code {
			return true
		}
	}
	return false
}

var noDetails = json.RawMessage("{}")

func reasonOf(reason string) json.RawMessage { return json.RawMessage(`{"reason":"` + reason + `"}`) }

func invalidOption(field, message string) *Error {
	return &Error{Code: CodeClientInvalid, Message: message, Details: json.RawMessage(`{"field":"` + field + `"}`)}
}

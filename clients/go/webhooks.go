package flock

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	toleranceDefault = 5 * time.Minute
	signaturesMax    = 8
)

var momentForm = regexp.MustCompile(`^[0-9]{1,12}$`)

// Event is what a delivery says. A newer service may send events that this version does not know: let them pass.
type Event struct {
	ID            string          `json:"id"`
	Event         string          `json:"event"`
	Environment   string          `json:"environment"`
	Confirmations *int64          `json:"confirmations"`
	Threshold     *int64          `json:"threshold"`
	Timestamp     string          `json:"timestamp"`
	Data          json.RawMessage `json:"data"`
	// Raw is the whole body, as it was signed.
	Raw json.RawMessage `json:"-"`
}

// Decode reads Data into the type of the event, which stands beside its name: DepositData of EventDepositConfirmed.
func (e *Event) Decode(into any) error { return json.Unmarshal(e.Data, into) }

// CreditKey is what a deposit is credited by: unique in your table. A later deposit_confirmed of the same key, with a
// higher incarnation, is the same money again and credits nothing. An error: the event is of no deposit.
func (e *Event) CreditKey() (string, error) {
	var data struct {
		Chain       string      `json:"chain"`
		Txid        string      `json:"txid"`
		OutputIndex json.Number `json:"outputIndex"`
	}
	if err := e.Decode(&data); err != nil || data.Chain == "" || data.Txid == "" || data.OutputIndex == "" {
		return "", errors.New("flock: " + strconv.Quote(e.Event) + " has no chain, txid and outputIndex to credit by")
	}
	return data.Chain + ":" + data.Txid + ":" + data.OutputIndex.String(), nil
}

// VerifyError is why a delivery is none.
type VerifyError struct {
	// Reason is headers, too_old, too_new, signature or body.
	Reason string
}

var meanings = map[string]string{
	"headers":   "a webhook- header is missing or malformed",
	"too_old":   "too old, or this clock is ahead",
	"too_new":   "too new, or this clock is behind",
	"signature": "of another secret, or altered: the body has to be the bytes that came",
	"body":      "not an event",
}

func (e *VerifyError) Error() string { return "flock: " + e.Reason + ": " + meanings[e.Reason] }

// VerifyOptions change how a delivery is verified; the zero value is right for receivers.
type VerifyOptions struct {
	// Tolerance between the delivery's time and Now: five minutes where it is 0.
	Tolerance time.Duration
	// Now is this moment where it is zero.
	Now time.Time
	// IgnoreTimestamp is for recordings.
	IgnoreTimestamp bool
}

// VerifyWebhook is the event of a delivery, or a *VerifyError. body as it came, from io.ReadAll(request.Body); secrets:
// one, or all that are in use while one is rotated.
func VerifyWebhook(body []byte, header http.Header, secrets ...string) (*Event, error) {
	return VerifyWebhookWith(VerifyOptions{}, body, header, secrets...)
}

// VerifyWebhookWith is VerifyWebhook with options.
func VerifyWebhookWith(options VerifyOptions, body []byte, header http.Header, secrets ...string) (*Event, error) {
	id, moment, signatures := only(header, "Webhook-Id"), only(header, "Webhook-Timestamp"), only(header, "Webhook-Signature")
	given := strings.Split(signatures, " ")
	// A dot in the id would let a part of one field be read as another.
	if id == "" || strings.Contains(id, ".") || !momentForm.MatchString(moment) || signatures == "" || len(given) > signaturesMax {
		return nil, &VerifyError{"headers"}
	}
	if !options.IgnoreTimestamp {
		now := options.Now
		if now.IsZero() {
			now = time.Now()
		}
		seconds, _ := strconv.ParseInt(moment, 10, 64)
		age, tolerance := now.Sub(time.Unix(seconds, 0)), orElse(options.Tolerance, toleranceDefault)
		if age > tolerance {
			return nil, &VerifyError{"too_old"}
		}
		if -age > tolerance {
			return nil, &VerifyError{"too_new"}
		}
	}
	if !isSigned(id+"."+moment+".", body, given, secrets) {
		return nil, &VerifyError{"signature"}
	}
	event := &Event{Raw: append(json.RawMessage(nil), body...)}
	if json.Unmarshal(body, event) != nil || event.Event == "" || event.ID != id || !strings.HasPrefix(string(event.Data), "{") {
		return nil, &VerifyError{"body"}
	}
	return event, nil
}

// only the value of a header that came once.
func only(header http.Header, name string) string {
	if values := header.Values(name); len(values) == 1 {
		return values[0]
	}
	return ""
}

func isSigned(prefix string, body []byte, given, secrets []string) bool {
	for _, secret := range secrets {
		key := fromBase64(strings.TrimPrefix(secret, "whsec_"))
		if len(key) == 0 {
			continue
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(prefix))
		mac.Write(body)
		wanted := mac.Sum(nil)
		for _, one := range given {
			if strings.HasPrefix(one, "v1,") && hmac.Equal(fromBase64(one[3:]), wanted) {
				return true
			}
		}
	}
	return false
}

// fromBase64 is nil for what is none.
func fromBase64(text string) []byte {
	bytes, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return nil
	}
	return bytes
}

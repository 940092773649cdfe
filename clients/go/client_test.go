package flock

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const key = "loc_test_CANARY"

func clientOf(t *testing.T, options Options) *Client {
	t.Helper()
	options.APIKey = key
	client, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	return client
}

func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// counting is a transport whose bodies are counted.
type counting struct {
	own          http.RoundTripper
	open, closed int64
}

type countedBody struct {
	io.ReadCloser
	closed *int64
	once   sync.Once
}

func (b *countedBody) Close() error {
	b.once.Do(func() { atomic.AddInt64(b.closed, 1) })
	return b.ReadCloser.Close()
}

func (c *counting) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := c.own.RoundTrip(request)
	if err == nil {
		atomic.AddInt64(&c.open, 1)
		response.Body = &countedBody{ReadCloser: response.Body, closed: &c.closed}
	}
	return response, err
}

// X18, fault 18.
func TestBodiesAreClosedOnEachPath(t *testing.T) {
	large := `{"success":true,"data":"` + strings.Repeat("a", 1<<20) + `"}`
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/addresses/redirect":
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(302)
			fmt.Fprint(w, large)
		case "/v1/addresses/refused":
			w.WriteHeader(404)
			fmt.Fprint(w, `{"success":false,"error":{"code":"NOT_FOUND","message":"said"}}`)
		case "/v1/addresses/html":
			fmt.Fprint(w, "<html>")
		case "/v1/addresses/cut":
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, `{"success":`)
		case "/v1/addresses/slow":
			w.WriteHeader(200)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case "/v1/addresses/form":
			fmt.Fprint(w, `{"success":true,"data":[1]}`)
		default:
			fmt.Fprint(w, `{"success":true,"data":{"id":"adr_1"}}`)
		}
	})
	transport := &counting{own: ownTransport()}
	client := clientOf(t, Options{BaseURL: base, Transport: transport, Retries: Ptr(0)})
	for id, code := range map[string]string{
		"ok": "", "redirect": CodeClientNetwork, "refused": CodeNotFound, "html": CodeClientNetwork,
		"cut": CodeClientNetwork, "slow": CodeClientTimeout, "form": CodeClientNetwork,
	} {
		limit := time.Minute
		if id == "slow" {
			limit = 50 * time.Millisecond
		}
		_, err := client.GetAddress(context.Background(), GetAddressParams{ID: id}, WithTimeout(limit))
		if (code == "") != (err == nil) || (code != "" && !IsCode(err, code)) {
			t.Errorf("%s: %v, not %s", id, err, code)
		}
	}
	if transport.open != 7 || transport.closed != transport.open {
		t.Errorf("%d of %d bodies are closed", transport.closed, transport.open)
	}
}

func TestOneConnectionIsUsedAgainAfterARefusal(t *testing.T) {
	var connections int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(302)
		fmt.Fprint(w, strings.Repeat("a", 2000))
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			atomic.AddInt64(&connections, 1)
		}
	}
	server.Start()
	defer server.Close()
	client := clientOf(t, Options{BaseURL: server.URL})
	for n := 0; n < 5; n++ {
		if _, err := client.GetAddress(context.Background(), GetAddressParams{ID: "a"}); !IsCode(err, CodeClientNetwork) {
			t.Fatal(err)
		}
	}
	if connections != 1 {
		t.Errorf("%d connections", connections)
	}
}

// X4: net/http repeats requests by itself when a connection that was idle breaks. No write may be among them.
func TestNoWriteIsRepeatedByTheTransport(t *testing.T) {
	var writes int64
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"success":true,"data":{}}`)
			return
		}
		atomic.AddInt64(&writes, 1)
		connection, _, _ := w.(http.Hijacker).Hijack()
		connection.Close()
	})
	client := clientOf(t, Options{BaseURL: base, Retries: Ptr(0)})
	ctx := context.Background()
	for name, write := range map[string]func() error{
		"with a body": func() error {
			_, err := client.CreateAddress(ctx, CreateAddressParams{Chain: "eth", UserRef: "a"})
			return err
		},
		"without a body": func() error {
			_, err := client.DeleteWebhook(ctx, DeleteWebhookParams{WebhookID: "a"})
			return err
		},
		"without a key": func() error {
			_, err := client.MintLocalKey(ctx, MintLocalKeyParams{Label: "a"})
			return err
		},
	} {
		if _, err := client.GetAddress(ctx, GetAddressParams{ID: "warm"}); err != nil {
			t.Fatal(err)
		}
		before := atomic.LoadInt64(&writes)
		if err := write(); !IsCode(err, CodeClientNetwork) {
			t.Errorf("%s: %v", name, err)
		}
		if sent := atomic.LoadInt64(&writes) - before; sent != 1 {
			t.Errorf("%s: it was sent %d times", name, sent)
		}
	}
}

func TestOneClientForSeveralGoroutines(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		id := strings.TrimPrefix(r.URL.Path, "/v1/addresses/")
		fmt.Fprintf(w, `{"success":true,"data":{"id":%q}}`, id)
	})
	client := clientOf(t, Options{BaseURL: base})
	var all sync.WaitGroup
	for at := 0; at < 8; at++ {
		all.Add(1)
		go func(at int) {
			defer all.Done()
			for n := 0; n < 50; n++ {
				id := fmt.Sprintf("%d-%d", at, n)
				address, err := client.GetAddress(context.Background(), GetAddressParams{ID: id})
				if err != nil || address.ID != id {
					t.Errorf("%s: %v, %v", id, address, err)
				}
			}
		}(at)
	}
	all.Wait()
}

// X10, fault 12.
func TestNothingPrintsAKey(t *testing.T) {
	options := Options{BaseURL: "http://user:CANARY@127.0.0.1:1", APIKey: key, Bearer: "CANARY"}
	_, refused := New(options)
	options.BaseURL = "http://127.0.0.1:1"
	client, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	_, failed := client.CreateAddress(context.Background(), CreateAddressParams{Chain: "eth", UserRef: "CANARY"})
	for _, value := range []any{options, &options, client, *client, refused, failed, struct{ Client any }{client}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
			if text := fmt.Sprintf(verb, value); strings.Contains(text, "CANARY") || strings.Contains(text, fmt.Sprintf("%x", "CANARY")) {
				t.Errorf("%s of %T: %s", verb, value, text)
			}
		}
		if text, _ := json.Marshal(value); bytes.Contains(text, []byte("CANARY")) {
			t.Errorf("JSON of %T: %s", value, text)
		}
	}
}

func TestErrorsOfAContext(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	client := clientOf(t, Options{BaseURL: base})
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	_, err := client.GetAddress(ctx, GetAddressParams{ID: "a"})
	var its *Error
	if !errors.As(fmt.Errorf("wrapped: %w", err), &its) || its.Code != CodeClientTimeout || its.Attempts != 1 {
		t.Errorf("%+v", err)
	}
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		t.Errorf("%+v", its)
	}
	ctx, cancel = context.WithCancel(context.Background())
	cancel()
	if _, err = client.GetAddress(ctx, GetAddressParams{ID: "a"}); !IsCode(err, CodeClientAborted) || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v", err)
	}
	if IsCode(errors.New(CodeClientAborted), CodeClientAborted) || IsCode(nil, CodeClientAborted) {
		t.Error("another error has no code")
	}
}

func TestArguments(t *testing.T) {
	var seen string
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen = string(body)
		fmt.Fprint(w, `{"success":true,"data":{}}`)
	})
	client := clientOf(t, Options{BaseURL: base, Retries: Ptr(0)})
	ctx := context.Background()
	for want, send := range map[string]func() error{
		// A list that is needed is empty where it is nil: null of it would be refused.
		`{"url":"https://a.example/?a=1&b=<c>","events":[]}`: func() error {
			_, err := client.CreateWebhook(ctx, CreateWebhookParams{URL: "https://a.example/?a=1&b=<c>"})
			return err
		},
		`{"chain":"eth","userRef":"","tag":""}`: func() error {
			_, err := client.CreateAddress(ctx, CreateAddressParams{Chain: "eth", Tag: Ptr("")})
			return err
		},
		`{"chain":"eth","userRef":"","tag":null}`: func() error {
			_, err := client.CreateAddress(ctx, CreateAddressParams{Chain: "eth"}, WithNull("tag"))
			return err
		},
	} {
		if err := send(); err != nil || seen != want {
			t.Errorf("%s, not %s: %v", seen, want, err)
		}
	}
	for name, send := range map[string]func() error{
		"an id that is empty": func() error {
			_, err := client.GetAddress(ctx, GetAddressParams{})
			return err
		},
		"no UTF-8": func() error {
			_, err := client.BuildTransaction(ctx, BuildTransactionParams{Chain: "eth", To: "0x\xff"})
			return err
		},
		"null of what may not be null": func() error {
			_, err := client.CreateAddress(ctx, CreateAddressParams{Chain: "eth"}, WithNull("chain"))
			return err
		},
		"a page of a walk": func() error {
			return client.ListAddressesAll(ctx, ListAddressesParams{Page: Ptr[int64](2)}, func(Address) error { return nil })
		},
	} {
		seen = "nothing"
		if err := send(); !IsCode(err, CodeClientInvalid) || seen != "nothing" {
			t.Errorf("%s: %v, sent %s", name, err, seen)
		}
	}
	if _, err := New(Options{BaseURL: base}); !IsCode(err, CodeClientInvalid) {
		t.Errorf("without a key: %v", err)
	}
	if _, err := New(Options{BaseURL: base, Anonymous: true}); err != nil {
		t.Error(err)
	}
}

func TestAnErrorOfTheCallbackEndsAWalk(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"success":true,"data":{"content":[{"id":"a"},{"id":"b"}],"next":"c"}}`)
	})
	full, rows := errors.New("full"), 0
	err := clientOf(t, Options{BaseURL: base}).ListAddressesAll(context.Background(), ListAddressesParams{}, func(Address) error {
		rows++
		return full
	})
	if err != full || rows != 1 {
		t.Errorf("%v after %d rows", err, rows)
	}
}

// X7.
func TestNumbersKeepTheirDigits(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"success":true,"data":{"amount":"1000000000000000000000000000001","decimals":18}}`)
	})
	balance, err := clientOf(t, Options{BaseURL: base}).GetBalance(context.Background(), GetBalanceParams{Chain: "eth", Address: "0x1"})
	if err != nil {
		t.Fatal(err)
	}
	units, err := ParseUnits(balance.Amount)
	want, _ := new(big.Int).SetString("1000000000000000000000000000001", 10)
	if err != nil || units.Cmp(want) != 0 {
		t.Errorf("%v %v", units, err)
	}
	for _, text := range []string{"+1", "0x1", "1_0", "1e3", " 1", "", "-", "1.0"} {
		if _, err := ParseUnits(text); err == nil {
			t.Errorf("%q is no amount", text)
		}
	}
}

func TestAnEventOfNoDepositHasNoCreditKey(t *testing.T) {
	for _, data := range []string{`{}`, `{"chain":"eth","txid":"0x1"}`, `{"chain":"eth","outputIndex":0}`, `[]`} {
		if found, err := (&Event{Event: "edge_offline", Data: json.RawMessage(data)}).CreditKey(); err == nil {
			t.Errorf("%s: %s", data, found)
		}
	}
	header := http.Header{"Webhook-Id": {"a", "b"}, "Webhook-Timestamp": {"1"}, "Webhook-Signature": {"v1,a"}}
	var its *VerifyError
	if _, err := VerifyWebhook([]byte("{}"), header, "whsec_YQ=="); !errors.As(err, &its) || its.Reason != "headers" {
		t.Errorf("a header that comes twice: %v", err)
	}
}

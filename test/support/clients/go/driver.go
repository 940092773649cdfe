// Runs cases of the behaviour suite with the client of Go as it is installed: a JSON line in, a JSON line out. With an
// argument it is a first integration (story), or verifies a delivery of standard input (verify).
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"reflect"
	"runtime/debug"
	"strings"
	"time"

	"flock.example/flock"
)

const (
	now        = 1_700_000_000_000
	abortAfter = 30 * time.Millisecond
)

type object = map[string]any

type run struct {
	N    int    `json:"n"`
	Base string `json:"base"`
	Case struct {
		Call    *callCase       `json:"call"`
		Verify  *verifyCase     `json:"verify"`
		Units   *unitsCase      `json:"units"`
		Options json.RawMessage `json:"options"`
		Random  float64         `json:"random"`
		Calls   int             `json:"calls"`
		Expect  struct {
			Value any   `json:"value"`
			Items []any `json:"items"`
		} `json:"expect"`
	} `json:"case"`
}

type callCase struct {
	Operation      string          `json:"operation"`
	Args           json.RawMessage `json:"args"`
	IdempotencyKey *string         `json:"idempotencyKey"`
	TimeoutMs      int             `json:"timeoutMs"`
	All            bool            `json:"all"`
	Take           int             `json:"take"`
	Abort          string          `json:"abort"`
	AbortAfterMs   int             `json:"abortAfterMs"`
}

type verifyCase struct {
	Body    string            `json:"body"`
	Headers map[string]string `json:"headers"`
	Secrets any               `json:"secrets"`
	Options struct {
		Now              int64 `json:"now"`
		ToleranceSeconds int64 `json:"toleranceSeconds"`
		IgnoreTimestamp  bool  `json:"ignoreTimestamp"`
	} `json:"options"`
}

type unitsCase struct {
	To   []any `json:"to"`
	From []any `json:"from"`
}

type caseClock struct {
	passed  time.Duration
	chance  float64
	waits   []int64
	atPause func()
}

func (c *caseClock) Now() time.Time  { return time.UnixMilli(now).Add(c.passed) }
func (c *caseClock) Random() float64 { return c.chance }
func (c *caseClock) Sleep(_ context.Context, pause time.Duration) {
	c.waits = append(c.waits, pause.Milliseconds())
	c.passed += pause
	c.atPause()
}

func main() {
	if len(os.Args) > 1 {
		map[string]func(){"story": story, "verify": verifyInput}[os.Args[1]]()
		return
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var its run
		decoder := json.NewDecoder(strings.NewReader(lines.Text()))
		decoder.UseNumber()
		must(decoder.Decode(&its))
		result := resultOf(its)
		result["n"] = its.N
		must(out.Encode(result))
	}
	must(lines.Err())
}

func resultOf(its run) (result object) {
	defer func() {
		if why := recover(); why != nil {
			result = object{"crashed": fmt.Sprintf("%v %s", why, debug.Stack())}
		}
	}()
	switch {
	case its.Case.Verify != nil:
		return verified(*its.Case.Verify)
	case its.Case.Units != nil:
		return converted(*its.Case.Units)
	}
	return called(its)
}

func verified(its verifyCase) object {
	header := http.Header{}
	for name, value := range its.Headers {
		header.Set(name, value)
	}
	var secrets []string
	switch given := its.Secrets.(type) {
	case string:
		secrets = []string{given}
	case []any:
		for _, one := range given {
			secrets = append(secrets, one.(string))
		}
	}
	options := flock.VerifyOptions{
		Now:             time.UnixMilli(its.Options.Now),
		Tolerance:       time.Duration(its.Options.ToleranceSeconds) * time.Second,
		IgnoreTimestamp: its.Options.IgnoreTimestamp,
	}
	event, err := flock.VerifyWebhookWith(options, []byte(its.Body), header, secrets...)
	var refused *flock.VerifyError
	if errors.As(err, &refused) {
		return object{"reason": refused.Reason}
	}
	must(err)
	result := object{"event": event.Raw}
	if key, err := event.CreditKey(); err == nil {
		result["creditKey"] = key
	}
	return result
}

func converted(its unitsCase) object {
	if its.To != nil {
		units, err := flock.ToUnits(its.To[0].(string), intOf(its.To[1]))
		if err != nil {
			return object{"refused": true}
		}
		return object{"value": units.String()}
	}
	units, err := flock.ParseUnits(its.From[0].(string))
	if err != nil {
		return object{"refused": true}
	}
	decimal, err := flock.FromUnits(units, intOf(its.From[1]))
	if err != nil {
		return object{"refused": true}
	}
	return object{"value": decimal}
}

func intOf(number any) int {
	value, err := number.(json.Number).Int64()
	must(err)
	return int(value)
}

func called(its run) object {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var abortedAt time.Time
	abort := func() {
		abortedAt = time.Now()
		cancel()
	}
	call := its.Case.Call
	clock := &caseClock{chance: its.Case.Random, atPause: func() {}}
	if call.Abort == "pause" {
		clock.atPause = abort
	}
	result := object{}
	client, err := flock.New(optionsOf(its, clock))
	if err == nil {
		defer client.CloseIdleConnections()
		switch call.Abort {
		case "before":
			abort()
		case "request":
			after := abortAfter
			if call.AbortAfterMs > 0 {
				after = time.Duration(call.AbortAfterMs) * time.Millisecond
			}
			time.AfterFunc(after, abort)
		}
		err = invoked(ctx, its, client, result)
	}
	if err == nil {
		text, _ := json.Marshal(client)
		result["shown"] = fmt.Sprintf("%v %+v %#v %s", client, *client, client, text)
	} else {
		if !abortedAt.IsZero() {
			result["abortedWithinMs"] = float64(time.Since(abortedAt).Microseconds()) / 1_000
		}
		shownOf(err, result)
	}
	result["waits"] = append([]int64{}, clock.waits...)
	return result
}

func optionsOf(its run, clock flock.Clock) flock.Options {
	options := flock.Options{BaseURL: its.Base, APIKey: "loc_test_" + strings.Repeat("a", 39), Clock: clock}
	var given map[string]any
	if its.Case.Options != nil {
		must(json.Unmarshal(its.Case.Options, &given))
	}
	for name, value := range given {
		text, _ := value.(string)
		number, _ := value.(float64)
		switch name {
		case "basePath":
			options.BaseURL += text
		case "baseUrl":
			options.BaseURL = text
		case "apiKey":
			options.APIKey = text
		case "bearer":
			options.Bearer = text
		case "environment":
			options.Environment = text
		case "expect":
			options.Expect = text
		case "retries":
			options.Retries = flock.Ptr(int(number))
		case "timeoutMs":
			options.Timeout = msOf(number)
		case "deadlineMs":
			options.Deadline = msOf(number)
		case "pagesMax":
			options.PagesMax = int(number)
		default:
			panic("no option " + name)
		}
	}
	return options
}

func msOf(number float64) time.Duration {
	return time.Duration(math.Min(number*float64(time.Millisecond), math.MaxInt64/2))
}

// invoked calls the method of the operation, with its arguments in its own type.
func invoked(ctx context.Context, its run, client *flock.Client, result object) error {
	call := its.Case.Call
	name := strings.ToUpper(call.Operation[:1]) + call.Operation[1:]
	if call.All {
		name += "All"
	}
	method := reflect.ValueOf(client).MethodByName(name)
	params := reflect.New(method.Type().In(1))
	must(json.Unmarshal(call.Args, params.Interface()))
	meant(params.Elem())
	in := []reflect.Value{reflect.ValueOf(ctx), params.Elem()}
	if call.All {
		items := []any{}
		in = append(in, reflect.MakeFunc(method.Type().In(2), func(rows []reflect.Value) []reflect.Value {
			var wanted any
			if len(items) < len(its.Case.Expect.Items) {
				wanted = its.Case.Expect.Items[len(items)]
			}
			items = append(items, asGiven(rows[0].Interface(), wanted))
			stop := reflect.Zero(method.Type().In(2).Out(0))
			if len(items) == call.Take {
				stop = reflect.ValueOf(flock.Stop)
			}
			return []reflect.Value{stop}
		}))
		defer func() { result["items"] = items }()
	}
	for _, option := range howOf(*call) {
		in = append(in, reflect.ValueOf(option))
	}
	for n := 0; n < its.Case.Calls || n == 0; n++ {
		out := method.Call(in)
		if err, _ := out[len(out)-1].Interface().(error); err != nil {
			return err
		}
		if len(out) == 2 {
			result["value"] = asGiven(out[0].Interface(), its.Case.Expect.Value)
		}
	}
	return nil
}

// meant puts what no JSON has in place of what stands for it.
func meant(value reflect.Value) {
	switch value.Kind() {
	case reflect.String:
		if value.String() == "$lone" {
			value.SetString("a\xed\xa0\x80b")
		}
	case reflect.Pointer:
		if !value.IsNil() {
			meant(value.Elem())
		}
	case reflect.Struct:
		for at := 0; at < value.NumField(); at++ {
			meant(value.Field(at))
		}
	case reflect.Map:
		for _, key := range value.MapKeys() {
			if text, ok := value.MapIndex(key).Interface().(json.RawMessage); ok && string(text) == `"$lone"` {
				value.SetMapIndex(key, reflect.ValueOf(json.RawMessage("\"a\xed\xa0\x80b\"")))
			}
		}
	}
}

// howOf are the options of the call; null arguments are one, since nil of Go leaves an argument away.
func howOf(call callCase) []any {
	var options []any
	if call.IdempotencyKey != nil {
		options = append(options, flock.WithIdempotencyKey(*call.IdempotencyKey))
	}
	if call.TimeoutMs > 0 {
		options = append(options, flock.WithTimeout(msOf(float64(call.TimeoutMs))))
	}
	var args map[string]json.RawMessage
	must(json.Unmarshal(call.Args, &args))
	for name, value := range args {
		if string(value) == "null" {
			options = append(options, flock.WithNull(name))
		}
	}
	return options
}

// asGiven is the value without the fields that are empty and that the case does not name: a struct has them all.
func asGiven(value, wanted any) any {
	text, err := json.Marshal(value)
	must(err)
	var plain any
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	must(decoder.Decode(&plain))
	fields, ok := plain.(object)
	if !ok {
		return plain
	}
	named, _ := wanted.(object)
	for name, its := range fields {
		if _, ok := named[name]; !ok && isEmpty(its) {
			delete(fields, name)
		}
	}
	return fields
}

func isEmpty(value any) bool {
	switch its := value.(type) {
	case nil:
		return true
	case string:
		return its == ""
	case bool:
		return !its
	case json.Number:
		return its == "0"
	case []any:
		return len(its) == 0
	case object:
		for _, one := range its {
			if !isEmpty(one) {
				return false
			}
		}
		return true
	}
	return false
}

func shownOf(err error, result object) {
	var its *flock.Error
	if !errors.As(err, &its) {
		panic(err)
	}
	orNil := func(value any, isNone bool) any {
		if isNone {
			return nil
		}
		return value
	}
	result["error"] = object{
		"code":           its.Code,
		"message":        its.Error(),
		"status":         its.Status,
		"details":        its.Details,
		"requestId":      orNil(its.RequestID, its.RequestID == ""),
		"retryAfter":     orNil(int64(its.RetryAfter.Seconds()), its.RetryAfter == 0),
		"attempts":       its.Attempts,
		"idempotencyKey": orNil(its.IdempotencyKey, its.IdempotencyKey == ""),
		"docUrl":         orNil(its.DocURL, its.DocURL == ""),
	}
	text, _ := json.Marshal(its)
	result["shown"] = fmt.Sprintf("%v %+v %#v %s", err, *its, its, text)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// story is a first integration: an endpoint, an address, a deposit. It writes what the receiver needs to know.
func story() {
	ctx := context.Background()
	client, err := flock.New(flock.Options{BaseURL: os.Getenv("EDGE"), APIKey: os.Getenv("KEY"), Expect: "sandbox"})
	must(err)
	webhook, err := client.CreateWebhook(ctx, flock.CreateWebhookParams{
		URL: os.Getenv("HOOK"), Events: []string{flock.EventDepositConfirmed},
	})
	must(err)
	address, err := client.CreateAddress(ctx, flock.CreateAddressParams{Chain: "eth", UserRef: "customer-é go"})
	must(err)
	rows := []string{}
	must(client.ListAddressesAll(ctx, flock.ListAddressesParams{UserRef: flock.Ptr("customer-é go"), Size: flock.Ptr[int64](1)},
		func(row flock.Address) error {
			rows = append(rows, row.ID)
			return nil
		}))
	_, err = client.SimulateDeposit(ctx, flock.SimulateDepositParams{
		Chain: "eth", Address: address.Address, Amount: "0.5", AutoConfirm: flock.Ptr(true),
	})
	must(err)
	_, err = client.GetAddress(ctx, flock.GetAddressParams{ID: "adr_24pgoiqkv6buxq5cnqlkjmhx4e"})
	must(json.NewEncoder(os.Stdout).Encode(object{
		"secret": webhook.Secret, "address": address, "rows": rows, "isNotFound": flock.IsCode(err, flock.CodeNotFound),
	}))
}

// verifyInput verifies a delivery as a receiver does.
func verifyInput() {
	var given struct {
		Headers map[string]string
		Body    string
		Secret  string
	}
	must(json.NewDecoder(os.Stdin).Decode(&given))
	header := http.Header{}
	for name, value := range given.Headers {
		header.Set(name, value)
	}
	event, err := flock.VerifyWebhook([]byte(given.Body), header, given.Secret)
	var refused *flock.VerifyError
	if errors.As(err, &refused) {
		must(json.NewEncoder(os.Stdout).Encode(object{"ok": false, "reason": refused.Reason}))
		return
	}
	must(err)
	var data flock.DepositData
	must(event.Decode(&data))
	key, err := event.CreditKey()
	must(err)
	must(json.NewEncoder(os.Stdout).Encode(object{"ok": true, "reason": nil, "key": key, "data": data}))
}

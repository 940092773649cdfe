package flock

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

const userRefMax = 255 // as the service counts: units of UTF-16

// field of a struct that travels, by its name in the API.
type field struct {
	name       string
	at         int
	isOptional bool
}

var fieldsByType sync.Map // reflect.Type to []field

func fieldsOf(of reflect.Type) []field {
	if known, ok := fieldsByType.Load(of); ok {
		return known.([]field)
	}
	var found []field
	for at := 0; at < of.NumField(); at++ {
		name, options, _ := strings.Cut(of.Field(at).Tag.Get("json"), ",")
		found = append(found, field{name, at, options == "omitempty"})
	}
	fieldsByType.Store(of, found)
	return found
}

// argument is one that is sent; an invalid value is null.
type argument struct {
	name  string
	value reflect.Value
}

// argumentsOf are the arguments that were given, in their order. nil of one that may be absent leaves it away; of a
// list that may not, it is the empty list.
func argumentsOf(params any, nulls []string) ([]argument, error) {
	value := reflect.ValueOf(params)
	var given []argument
	unknown := append([]string(nil), nulls...)
	for _, its := range fieldsOf(value.Type()) {
		one := value.Field(its.at)
		for at, name := range unknown {
			if name == its.name && isNil(one) {
				unknown = append(unknown[:at], unknown[at+1:]...)
				given = append(given, argument{name: name})
				break
			}
		}
		if !its.isOptional || !isNil(one) {
			given = append(given, argument{its.name, one})
		}
	}
	if len(unknown) > 0 {
		return nil, errors.New(unknown[0] + " is no argument that may be null, or it has a value")
	}
	return given, nil
}

func isNil(value reflect.Value) bool {
	switch value.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return value.IsNil()
	}
	return false
}

// requestOf is where the operation is, and its body. The error is without what was given.
func requestOf(base string, its operation, params any, nulls []string, after *string) (string, []byte, error) {
	given, err := argumentsOf(params, nulls)
	if err != nil {
		return "", nil, err
	}
	if after != nil {
		given = append(without(given, "after"), argument{"after", reflect.ValueOf(*after)})
	}
	path := its.path
	rest := given[:0:0]
	for _, one := range given {
		place := "{" + one.name + "}"
		if !strings.Contains(path, place) {
			rest = append(rest, one)
			continue
		}
		text, err := textOf(one)
		if err != nil {
			return "", nil, err
		}
		// Dots alone are steps in the tree of addresses: the request would be of another operation.
		if strings.Trim(text, ".") == "" && len(text) < 3 {
			return "", nil, errors.New(one.name + " is a part of the path: text, and not only dots")
		}
		path = strings.Replace(path, place, escaped(text), 1)
	}
	if strings.Contains(its.marks, "b") {
		body, err := bodyOf(rest)
		return base + path, body, err
	}
	query, err := queryOf(rest)
	if query != "" {
		query = "?" + query
	}
	return base + path + query, nil, err
}

func without(given []argument, name string) []argument {
	rest := given[:0:0]
	for _, one := range given {
		if one.name != name {
			rest = append(rest, one)
		}
	}
	return rest
}

func escaped(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

func queryOf(given []argument) (string, error) {
	var parts []string
	for _, one := range given {
		if !one.value.IsValid() {
			return "", errors.New(one.name + " is text, a number or a boolean: a query has no null")
		}
		text, err := textOf(one)
		if err != nil {
			return "", err
		}
		parts = append(parts, escaped(one.name)+"="+escaped(text))
	}
	return strings.Join(parts, "&"), nil
}

// textOf is the argument as it stands in an address.
func textOf(one argument) (string, error) {
	var buffer bytes.Buffer
	if err := encode(&buffer, one.name, one.value); err != nil {
		return "", err
	}
	var text string
	if json.Unmarshal(buffer.Bytes(), &text) == nil {
		return text, nil
	}
	return buffer.String(), nil
}

func bodyOf(given []argument) ([]byte, error) {
	var buffer bytes.Buffer
	buffer.WriteByte('{')
	for at, one := range given {
		if at > 0 {
			buffer.WriteByte(',')
		}
		if err := encodeNamed(&buffer, one); err != nil {
			return nil, err
		}
	}
	buffer.WriteByte('}')
	return buffer.Bytes(), nil
}

func encodeNamed(buffer *bytes.Buffer, one argument) error {
	if err := encodeText(buffer, one.name, one.name); err != nil {
		return err
	}
	buffer.WriteByte(':')
	return encode(buffer, one.name, one.value)
}

// encode writes JSON in which a list that is needed is never null, and what is no text is refused instead of replaced.
func encode(buffer *bytes.Buffer, name string, value reflect.Value) error {
	if !value.IsValid() {
		buffer.WriteString("null")
		return nil
	}
	if raw, ok := value.Interface().(json.Marshaler); ok && !(value.Kind() == reflect.Pointer && value.IsNil()) {
		return encodeOther(buffer, name, raw)
	}
	switch value.Kind() {
	case reflect.Pointer, reflect.Interface:
		return encode(buffer, name, value.Elem())
	case reflect.String:
		if number, ok := value.Interface().(json.Number); ok {
			return encodeOther(buffer, name, number)
		}
		return encodeText(buffer, name, value.String())
	case reflect.Slice, reflect.Array:
		return encodeList(buffer, name, value)
	case reflect.Map:
		return encodeMap(buffer, name, value)
	case reflect.Struct:
		return encodeStruct(buffer, value)
	}
	return encodeOther(buffer, name, value.Interface())
}

func encodeText(buffer *bytes.Buffer, name, text string) error {
	if !utf8.ValidString(text) {
		return errors.New(name + " is not UTF-8, or has half of a surrogate pair in it")
	}
	if name == "userRef" && len(text) > userRefMax && len(utf16.Encode([]rune(text))) > userRefMax {
		return errors.New("userRef has more than 255 characters")
	}
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return errors.New(name + " cannot be sent")
	}
	buffer.Truncate(buffer.Len() - 1) // the encoder ends each value with a line
	return nil
}

func encodeList(buffer *bytes.Buffer, name string, value reflect.Value) error {
	buffer.WriteByte('[')
	for at := 0; at < value.Len(); at++ {
		if at > 0 {
			buffer.WriteByte(',')
		}
		if err := encode(buffer, name, value.Index(at)); err != nil {
			return err
		}
	}
	buffer.WriteByte(']')
	return nil
}

func encodeMap(buffer *bytes.Buffer, name string, value reflect.Value) error {
	if value.Type().Key().Kind() != reflect.String {
		return errors.New(name + " has keys that are no text")
	}
	var given []argument
	for _, key := range value.MapKeys() {
		given = append(given, argument{key.String(), value.MapIndex(key)})
	}
	body, err := bodyOf(given)
	buffer.Write(body)
	return err
}

func encodeStruct(buffer *bytes.Buffer, value reflect.Value) error {
	given, err := argumentsOf(value.Interface(), nil)
	if err != nil {
		return err
	}
	body, err := bodyOf(given)
	buffer.Write(body)
	return err
}

func encodeOther(buffer *bytes.Buffer, name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil || !utf8.Valid(text) {
		return errors.New(name + " cannot be sent: it is no JSON, or no UTF-8")
	}
	buffer.Write(text)
	return nil
}

package flock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// Stop, returned by what takes the rows of a list, ends the walk without an error.
var Stop = errors.New("flock: stop")

type page[R any] struct {
	Content []R     `json:"content"`
	Next    *string `json:"next"`
}

// walk takes each row of each page once. An error of take ends it and is returned as it is. That the rows come by a
// callback is on purpose: a list that breaks off is an error of the walk, which cannot be taken for its end.
func walk[R any](ctx context.Context, c *Client, its operation, params any, how how, take func(R) error) error {
	if number := reflect.ValueOf(params).FieldByName("Page"); number.IsValid() && !number.IsNil() {
		return &Error{Code: CodeClientInvalid, Message: "a walk has no page: go on with After", Details: noDetails}
	}
	seen := map[string]bool{}
	var after *string
	for pages := 0; pages < c.core.pagesMax; pages++ {
		its, err := answered[page[R]](c.core.send(ctx, its, params, how, after))
		if err != nil {
			return err
		}
		for _, row := range its.Content {
			if err := take(row); errors.Is(err, Stop) {
				return nil
			} else if err != nil {
				return err
			}
		}
		if its.Next == nil {
			return nil
		}
		if seen[*its.Next] {
			return endless("cursor_repeats", "the list goes in a circle: a cursor came twice")
		}
		seen[*its.Next] = true
		after = its.Next
	}
	return endless("pages", fmt.Sprintf("the list has more than %d pages: go on with After, or ask for larger ones", c.core.pagesMax))
}

func endless(reason, message string) *Error {
	return &Error{Code: CodeClientNetwork, Message: message, Details: json.RawMessage(reasonOf(reason))}
}

package flock

import (
	"errors"
	"math/big"
	"regexp"
	"strings"
)

const digitsMax = 78 // of any 256-bit amount

var (
	decimalForm = regexp.MustCompile(`^([0-9]+)(?:\.([0-9]+))?$`)
	unitsForm   = regexp.MustCompile(`^-?[0-9]{1,78}$`)
)

// ToUnits makes whole units of decimal text: ToUnits("1.5", 6) is 1500000. It is exact: anything but a decimal with at
// most as many places is an error, never rounded.
func ToUnits(decimal string, decimals int) (*big.Int, error) {
	match := decimalForm.FindStringSubmatch(decimal)
	if len(decimal) > digitsMax+1 || match == nil || decimals < 0 || decimals > digitsMax || len(match[2]) > decimals {
		return nil, errors.New("flock: expected decimal text with at most as many places as decimals")
	}
	units, _ := new(big.Int).SetString(match[1]+match[2]+strings.Repeat("0", decimals-len(match[2])), 10)
	return units, nil
}

// FromUnits makes decimal text of whole units: FromUnits(big.NewInt(1500000), 6) is "1.5".
func FromUnits(units *big.Int, decimals int) (string, error) {
	if units == nil || decimals < 0 || decimals > digitsMax {
		return "", errors.New("flock: expected whole units, and decimals from 0 to 78")
	}
	digits := new(big.Int).Abs(units).String()
	if short := decimals + 1 - len(digits); short > 0 {
		digits = strings.Repeat("0", short) + digits
	}
	whole, places := digits[:len(digits)-decimals], strings.TrimRight(digits[len(digits)-decimals:], "0")
	if units.Sign() < 0 {
		whole = "-" + whole
	}
	if places == "" {
		return whole, nil
	}
	return whole + "." + places, nil
}

// ParseUnits reads an amount as it travels: text of whole units.
func ParseUnits(text string) (*big.Int, error) {
	if !unitsForm.MatchString(text) {
		return nil, errors.New("flock: expected text of a whole number")
	}
	units, _ := new(big.Int).SetString(text, 10)
	return units, nil
}

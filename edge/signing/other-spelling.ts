/**
 * Field names in other letter case. Some parsers read `Amount` as `amount`, the last one winning: the edge would check
 * one field and the application read the other. Source: Go encoding/json, "preferring exact but accepting
 * case-insensitive".
 */
const folded = (name: string): string => name.toUpperCase().toLowerCase(); // folds ſ to s and the Kelvin sign to k too

/** Whether an object has one of these names in other letters only, or beside it. */
export function otherSpellingOf(names: readonly string[]): (value: object) => boolean {
  const exact = new Set(names),
    anyway = new Set(names.map(folded));
  return (value) => Object.keys(value).some((name) => !exact.has(name) && anyway.has(folded(name)));
}

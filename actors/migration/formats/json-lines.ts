/**
 * JSON Lines: one flat object a line, the names of CSV columns as its keys. Numbers are kept as their text, since a
 * double changes long ones. Of a file of labels (BIP-329) the addresses are rows of btc; its other lines are passed
 * over.
 */
import { fieldOf, type ImportField } from '../../../protocol/migration/imports.ts';
import { wrongLine } from './csv.ts';
import { fault, shown, type Fault, type Found, type LineReader } from './entry.ts';
import { FIELD_CHARACTERS_MAX } from './limits.ts';

/** Each alternative begins with another character: a text is read once, without going back. */
const STRING = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.+-])/y;
const WORD = /(?:true|false|null)(?!\w)/y;
const BLANK = /[ \t]*/y;

type Pairs = [name: string, value: string | null][];
interface Malformed {
  readonly column: number;
  readonly message: string;
}

export function createJsonLinesReader(): LineReader {
  const unknown = new Set<string>();

  function found(line: number, pairs: Pairs): Found[] {
    const label = labelOf(pairs);
    if (label !== null) return label.type === 'addr' ? [{ kind: 'row', line, fields: label.fields }] : [];
    const fields: Partial<Record<ImportField, string>> = {},
      faults: Fault[] = [];
    for (const [name, value] of pairs) {
      const field = fieldOf(name);
      if (field === null) {
        if (unknown.has(name) || unknown.size >= UNKNOWN_NAMES_MAX) continue;
        unknown.add(name);
        faults.push(fault(line, 'unknown_column', `the name ${shown(name)} is passed over`, { isWarning: true }));
      } else if (Object.hasOwn(fields, field)) {
        return [fault(line, 'two_columns', `a second name for ${field}`, { field })];
      } else if (value !== null && value.length > FIELD_CHARACTERS_MAX) {
        return [fault(line, 'columns', `a value has at most ${FIELD_CHARACTERS_MAX} characters`, { field })];
      } else if (value !== null && value !== '') fields[field] = value;
    }
    return [...faults, { kind: 'row', line, fields }];
  }

  return {
    line(line) {
      if (line.wrong !== null) return [wrongLine(line)];
      const text = line.text.trimEnd();
      if (text.trimStart() === '' || text.startsWith('#')) return [];
      const read = flatObject(text);
      if ('message' in read) return [fault(line.number, 'malformed_json', read.message, { column: read.column })];
      return found(line.number, read.pairs);
    },
    end: () => [],
  };
}

/** Names that a warning is given for. */
const UNKNOWN_NAMES_MAX = 64;

function flatObject(text: string): { pairs: Pairs } | Malformed {
  const pairs: Pairs = [],
    names = new Set<string>();
  let at = 0;
  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const [taken] = pattern.exec(text) ?? [];
    if (taken === undefined) return null;
    at += taken.length;
    return taken;
  };
  const takes = (character: string): boolean => {
    take(BLANK);
    if (text[at] !== character) return false;
    at += 1;
    take(BLANK);
    return true;
  };
  const malformed = (message: string): Malformed => ({ column: at + 1, message });
  if (!takes('{')) return malformed('expected one object');
  if (takes('}')) return at === text.length ? { pairs } : malformed('text behind the object');
  for (;;) {
    const quoted = take(STRING);
    if (quoted === null) return malformed('expected a name in quotes');
    const name = JSON.parse(quoted) as string;
    if (names.has(name)) return malformed(`the name ${shown(name)} is there twice`);
    names.add(name);
    if (!takes(':')) return malformed('expected a colon');
    if (text[at] === '{' || text[at] === '[') return malformed('a value within a value: objects are flat');
    const string = take(STRING),
      plain = string ?? take(NUMBER) ?? take(WORD);
    if (plain === null) return malformed('expected a text, a number, true, false or null');
    const value = string === null ? (plain === 'null' ? null : plain) : (JSON.parse(string) as string);
    if (value !== null && !value.isWellFormed()) return malformed('half of a surrogate pair');
    if (value?.includes('\u0000') === true) return malformed('a zero character');
    pairs.push([name, value]);
    if (takes('}')) return at === text.length ? { pairs } : malformed('text behind the object');
    if (!takes(',')) return malformed('expected a comma or the end of the object');
  }
}

/** A line of a BIP-329 file: `type`, `ref` and what belongs to them. */
function labelOf(pairs: Pairs): { type: string; fields: Partial<Record<ImportField, string>> } | null {
  const of = (name: string) => pairs.find(([one]) => one === name)?.[1] ?? null;
  const type = of('type'),
    ref = of('ref'),
    label = of('label');
  if (type === null || ref === null || of('address') !== null) return null;
  const named = label === null || label === '' ? {} : { label };
  return { type, fields: { address: ref, chain: 'btc', ...named } };
}

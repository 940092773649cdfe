/**
 * Blocks of `key: value` or `key = value`, parted by blank lines: a branch below an extended public key, and which of
 * its indexes.
 *
 *   chain: eth
 *   xpub: xpub6DCoC…
 *   path: m/44'/60'/0'
 *   range: 0-49999
 */
import { foldedName, KEYED_FIELDS, type KeyedField } from '../../../protocol/migration/imports.ts';
import { wrongLine } from './csv.ts';
import { fault, shown, type Fault, type Found, type LineReader } from './entry.ts';
import { FIELD_CHARACTERS_MAX } from './limits.ts';

const REQUIRED: readonly KeyedField[] = ['chain', 'xpub', 'path', 'range'];

interface Block {
  readonly line: number;
  readonly fields: Partial<Record<KeyedField, string>>;
  isWrong: boolean;
}

export function createKeyValueReader(): LineReader {
  let block: Block | null = null;

  function closed(): Found[] {
    const ended = block;
    block = null;
    if (ended === null || ended.isWrong) return [];
    const { line, fields } = ended;
    const missing = REQUIRED.find((field) => fields[field] === undefined);
    return missing === undefined
      ? [{ kind: 'keyed', line, fields }]
      : [fault(line, 'columns', `the block has no ${missing}`, { field: missing })];
  }

  /** A block with a line that is not understood gives no addresses: it may have been the one that bounds them. */
  function spoil(line: number, wrong: Fault): Found[] {
    (block ??= { line, fields: {}, isWrong: true }).isWrong = true;
    return [wrong];
  }

  return {
    line(line) {
      if (line.wrong !== null) return spoil(line.number, wrongLine(line));
      const { number, text } = line;
      if (text.trim() === '') return closed();
      if (text.trimStart().startsWith('#')) return [];
      const pair = pairOf(text);
      if (pair === null) return spoil(number, fault(number, 'columns', 'expected `key: value`'));
      const [name, value] = pair,
        field = keyedFieldOf(name);
      if (field === null) {
        block ??= { line: number, fields: {}, isWrong: false };
        return [fault(number, 'unknown_column', `the key ${shown(name)} is passed over`, { isWarning: true })];
      }
      block ??= { line: number, fields: {}, isWrong: false };
      if (Object.hasOwn(block.fields, field))
        return spoil(number, fault(number, 'two_columns', `a second ${field} in one block`, { field }));
      if (value.length > FIELD_CHARACTERS_MAX)
        return spoil(
          number,
          fault(number, 'columns', `a value has at most ${FIELD_CHARACTERS_MAX} characters`, { field }),
        );
      block.fields[field] = value;
      return [];
    },
    end: closed,
  };
}

/** Name and value around the first colon or equals sign; null without one. */
export function pairOf(text: string): [name: string, value: string] | null {
  const at = text.search(/[:=]/);
  return at <= 0 ? null : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

export function keyedFieldOf(name: string): KeyedField | null {
  const folded = foldedName(name);
  return KEYED_FIELDS.find((field) => field === folded) ?? (folded === 'extendedpublickey' ? 'xpub' : null);
}

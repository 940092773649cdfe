/** What the readers of import files give: entries in the order of the file, and what is wrong with it. */
import type { Descriptor } from '../../../chains/btc/descriptor.ts';
import type { ImportField, ImportFormat, KeyedField, ParseCode } from '../../../protocol/migration/imports.ts';

export type { ImportField, ImportFormat, KeyedField };

/** One address, or a range of them that is not derived yet. Lines are counted from one. */
export type Entry =
  | { readonly kind: 'row'; readonly line: number; readonly fields: Readonly<Partial<Record<ImportField, string>>> }
  /** Of a scan: the address was derived from the extended key. */
  | {
      readonly kind: 'scanned';
      readonly line: number;
      readonly xpub: string;
      readonly fields: Readonly<Partial<Record<ImportField, string>>>;
    }
  | {
      readonly kind: 'descriptor';
      readonly line: number;
      readonly descriptor: Descriptor;
      readonly range: Range;
      /** Of the address at the first index of branch 0, where the file states it. */
      readonly firstAddress: string | null;
    }
  | { readonly kind: 'keyed'; readonly line: number; readonly fields: Readonly<Partial<Record<KeyedField, string>>> };

/** Both ends are part of it. */
export interface Range {
  readonly first: number;
  readonly last: number;
}

/** Why a line, or the rest of a file, is not read; or, as a warning, what was passed over. */
export interface Fault {
  readonly kind: 'fault';
  readonly line: number;
  /** Number of the cell, or of the character in a line that has no cells; from one. Null: the line as a whole. */
  readonly column: number | null;
  readonly field: string | null;
  readonly code: ParseCode;
  readonly message: string;
  readonly isWarning: boolean;
  /** Nothing after it is read. */
  readonly ends: boolean;
}

export type Found = Entry | Fault;

export function fault(line: number, code: ParseCode, message: string, more: Partial<Fault> = {}): Fault {
  return { kind: 'fault', line, column: null, field: null, code, message, isWarning: false, ends: false, ...more };
}

const SHOWN_CHARACTERS_MAX = 64;
/** A text of the file as a message may repeat it. */
export const shown = (text: string): string =>
  text.length <= SHOWN_CHARACTERS_MAX ? text : `${text.slice(0, SHOWN_CHARACTERS_MAX - 1).toWellFormed()}…`;

/** One of the formats: a reader of lines. */
export interface LineReader {
  line(line: Line): Found[];
  /** After the last line. */
  end(): Found[];
}

export interface Line {
  readonly number: number;
  readonly text: string;
  /** The characters that ended it; none at the end of the file. */
  readonly end: '\n' | '\r\n' | '\r' | '';
  readonly wrong: 'encoding' | 'line_too_long' | null;
}

/**
 * A file of addresses as it is handed on, record by record: header, form and end as the cloud writes them, each address
 * in its canonical text, and of a reconciliation derived again. What is false ends the file before its last line, which
 * says how many rows there are: a copy without it is not whole. Migration M-E1, M-E2, M-E4.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { withoutGuard } from '../../protocol/formulas.ts';
import { sheetLine } from '../../protocol/sheet.ts';
import { CHAINS, type Chain } from '../../protocol/slugs.ts';
import { falseDerivation } from './address-rules.ts';
import { STEPS_PER_TURN } from './checked.ts';
import { isCanonical, type Known } from './known.ts';

export type SheetForm = 'reconciliation' | 'csv' | 'jsonl';

const EXPORTED = ['address', 'chain', 'derivation_path', 'user_ref', 'tag', 'label'] as const;
const RECONCILED = [
  ...EXPORTED,
  ...['spendable', 'reason', 'key_source', 'batch', 'recorded_height', 'deposits_observed', 'historical_recorded'],
  'straddling',
];
/** Longer than the longest row: six texts of 255 characters, each escaped. */
const RECORD_CHARACTERS_MAX = 64 * 1_024;
const END = /^# end, ([0-9]{1,9}) rows$/;
const REMARK = /^# gap limit of a restored wallet, [a-z]+: (?:[0-9]+|not counted yet)$/;

/** Thrown where a file says what this edge knows to be otherwise. */
export class FalseSheet extends Error {
  readonly field: string;
  constructor(field: string) {
    super(`the file is not handed on: ${field}`);
    this.field = field;
  }
}

/** The file as it came, each record once it was looked at. Throws: FalseSheet. */
export async function* checkedSheet(
  form: SheetForm,
  chunks: AsyncIterable<Uint8Array>,
  known: Pick<Known, 'own'>,
): AsyncGenerator<string> {
  const sheet = new Sheet(form, known);
  let { steps } = known.own;
  for await (const record of recordsOf(form, chunks)) {
    sheet.take(record);
    if (known.own.steps - steps >= STEPS_PER_TURN) {
      await turn();
      ({ steps } = known.own);
    }
    yield `${record}\n`;
  }
  sheet.end();
}

class Sheet {
  readonly #form: SheetForm;
  readonly #known: Pick<Known, 'own'>;
  #rows = 0;
  #isHeadRead: boolean;
  #isEnded = false;

  constructor(form: SheetForm, known: Pick<Known, 'own'>) {
    this.#form = form;
    this.#known = known;
    this.#isHeadRead = form === 'jsonl';
  }

  take(record: string): void {
    if (this.#isEnded) throw new FalseSheet('end');
    if (!this.#isHeadRead) return this.#head(record);
    const end = END.exec(record);
    if (end !== null) {
      if (Number(end[1]) !== this.#rows) throw new FalseSheet('rows');
      this.#isEnded = true;
      return;
    }
    if (this.#form === 'reconciliation' && REMARK.test(record)) return;
    const field = this.#falseField(record);
    if (field !== null) throw new FalseSheet(`rows.${this.#rows}.${field}`);
    this.#rows += 1;
  }

  /** Nothing comes any more. */
  end(): void {
    if (!this.#isEnded) throw new FalseSheet('end');
  }

  #head(record: string): void {
    const wanted = this.#form === 'reconciliation' ? RECONCILED : EXPORTED;
    if (record !== wanted.join(',')) throw new FalseSheet('header');
    this.#isHeadRead = true;
  }

  #falseField(record: string): string | null {
    const row = this.#form === 'jsonl' ? objectOf(record) : cellsOf(record, this.#form);
    if (row === null) return 'form';
    const { chain, address } = row,
      derivationPath = row['derivation_path'] ?? '';
    if (!CHAINS.some((one) => one === chain)) return 'chain';
    if (!isCanonical(chain as Chain, address ?? '')) return 'address';
    // The path of an export is a claim as a file makes it, below whatever key: it is traced where it is read again.
    if (this.#form !== 'reconciliation') return null;
    const path = derivationPath === '' ? null : derivationPath;
    return falseDerivation({ chain: chain as Chain, address: address!, derivationPath: path }, this.#known);
  }
}

type Row = Readonly<Record<string, string | undefined>>;

/** A cell with what ends it, from where the last one ended: nothing of a record is passed over. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|$)/y;

function cellsOf(record: string, form: SheetForm): Row | null {
  const names = form === 'reconciliation' ? RECONCILED : EXPORTED,
    cells: string[] = [];
  CELL.lastIndex = 0;
  for (let end: string | undefined = ','; end === ',';) {
    const found = CELL.exec(record);
    if (found === null) return null;
    const [, quoted, plain] = found;
    cells.push(withoutGuard(quoted === undefined ? plain! : quoted.replaceAll('""', '"')));
    end = found[3];
  }
  // Written as the cloud has to write it, so that every reader finds these cells, and a spreadsheet runs none of them.
  if (cells.length !== names.length || sheetLine(cells) !== record) return null;
  return Object.fromEntries(names.map((name, at) => [name, cells[at]!]));
}

function objectOf(record: string): Row | null {
  try {
    const row: unknown = JSON.parse(record);
    if (typeof row !== 'object' || row === null || Array.isArray(row)) return null;
    const isKnown = Object.entries(row).every(
      ([name, value]) => EXPORTED.some((one) => one === name) && typeof value === 'string',
    );
    // What was read must be what the caller reads: no name twice.
    return isKnown && JSON.stringify(row) === record ? (row as Row) : null;
  } catch {
    return null;
  }
}

/** Lines; in a CSV a line feed in quotes ends none. Throws: FalseSheet for a record without an end. */
async function* recordsOf(form: SheetForm, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let open = '';
  for await (const chunk of chunks) {
    const parts = decoded(text, chunk).split('\n');
    for (const [at, part] of parts.entries()) {
      open += part;
      if (open.length > RECORD_CHARACTERS_MAX) throw new FalseSheet('form');
      if (at === parts.length - 1) break;
      if (form !== 'jsonl' && isQuoteOpen(open)) open += '\n';
      else {
        yield open;
        open = '';
      }
    }
  }
  if (open !== '') throw new FalseSheet('end');
}

function decoded(text: { decode(bytes: Uint8Array, options: { stream: true }): string }, chunk: Uint8Array): string {
  try {
    return text.decode(chunk, { stream: true });
  } catch {
    throw new FalseSheet('encoding');
  }
}

function isQuoteOpen(record: string): boolean {
  let quotes = 0;
  for (let at = record.indexOf('"'); at !== -1; at = record.indexOf('"', at + 1)) quotes += 1;
  return quotes % 2 === 1;
}

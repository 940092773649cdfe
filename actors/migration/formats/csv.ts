/**
 * CSV. Source: RFC 4180. The delimiter is the one under which the header has the most known names: counting delimiters
 * in the data takes commas inside of texts for columns. A file without any known name and with one column is a list of
 * addresses.
 *
 * A quote opens a cell at its beginning only; elsewhere it is a character like any other. Behind a quote that closes a
 * cell comes a delimiter or the end of the line.
 */
import { fieldOf, type ImportField } from '../../../protocol/migration/imports.ts';
import { fault, shown, type Fault, type Found, type Line, type LineReader } from './entry.ts';
import { COLUMNS_MAX, FIELD_CHARACTERS_MAX, LINE_BYTES_MAX } from './limits.ts';
import { withoutGuard } from '../../../protocol/formulas.ts';
import { isRemark } from '../../../protocol/sheet.ts';

const DELIMITERS = [',', ';', '\t', '|'] as const;
type Delimiter = (typeof DELIMITERS)[number];
/** The line in which spreadsheets name the delimiter. */
const SEPARATOR_LINE = /^sep=([,;\t|])$/i;
/** Fields whose characters are the customer's own: blanks around them count. */
const VERBATIM: readonly ImportField[] = ['userRef', 'tag', 'label', 'memo'];

/** A record that has been read so far. */
interface Open {
  readonly line: number;
  cells: string[];
  /** Of the quoted cell that is open; null outside of one. */
  quoted: { text: string; readonly line: number; readonly column: number } | null;
}

export function createCsvReader(): LineReader {
  let delimiter: Delimiter | null = null,
    columns: readonly (ImportField | null)[] | null = null,
    /** Lines of a header that a quote keeps open. */
    header: Line[] = [],
    quotes = 0,
    size = 0,
    open: Open | null = null,
    isOver = false;

  function headerFound(): Found[] {
    const text = header.map((line, at) => (at === header.length - 1 ? line.text : line.text + line.end)).join('');
    const line = header[0]!.number;
    header = [];
    const { one, names, fields } = bestOf(text, delimiter === null ? DELIMITERS : [delimiter]);
    delimiter = one;
    if (knownIn(fields) === 0 && names.length === 1) {
      columns = ['address'];
      return row(line, names);
    }
    columns = fields.map((field, at) => (fields.indexOf(field) < at ? null : field));
    return headerFaults(line, names, fields, () => {
      isOver = true;
    });
  }

  function row(line: number, cells: readonly string[]): Found[] {
    if (cells.every((cell) => cell.trim() === '')) return [];
    const wrong = cellsFault(line, cells, columns!);
    if (wrong !== null) return [wrong];
    const fields: Partial<Record<ImportField, string>> = {};
    columns!.forEach((field, at) => {
      if (field === null) return;
      const text = withoutGuard(cells[at]!),
        kept = VERBATIM.includes(field) ? text : text.trim();
      if (kept !== '') fields[field] = kept;
    });
    return [{ kind: 'row', line, fields }];
  }

  function record(line: Line): Found[] {
    if (open === null) {
      if (isRemark(line.text)) return [];
      if (!line.text.includes('"')) return row(line.number, line.text.split(delimiter!));
      open = { line: line.number, cells: [], quoted: null };
      return scan(line, 0);
    }
    return scan(line, 0);
  }

  /** Reads on in the record that is open, up to the end of the line or a quote that stays open. */
  function scan(line: Line, from: number): Found[] {
    const { text } = line,
      current = open!;
    for (let at = from; ;) {
      if (current.quoted !== null) {
        const close = closingQuote(text, at);
        current.quoted.text += text.slice(at, close === -1 ? undefined : close);
        if (close === -1) return stillOpen(line, current);
        current.cells.push(current.quoted.text.replaceAll('""', '"'));
        current.quoted = null;
        at = close + 1;
        if (at === text.length) return finished(current);
        if (!text.startsWith(delimiter!, at)) {
          open = null;
          return [
            fault(line.number, 'columns', 'text behind the quote that closes a cell', { column: current.cells.length }),
          ];
        }
        at += 1;
      }
      if (text[at] === '"') {
        current.quoted = { text: '', line: line.number, column: current.cells.length + 1 };
        at += 1;
        continue;
      }
      const end = text.indexOf(delimiter!, at);
      current.cells.push(text.slice(at, end === -1 ? undefined : end));
      if (end === -1) return finished(current);
      at = end + 1;
    }
  }

  function finished(current: Open): Found[] {
    open = null;
    return row(current.line, current.cells);
  }

  function stillOpen(line: Line, current: Open): Found[] {
    const quoted = current.quoted!;
    quoted.text += line.end;
    return quoted.text.length > LINE_BYTES_MAX ? unclosed(quoted.line, quoted.column) : [];
  }

  function unclosed(line: number, column: number): Found[] {
    isOver = true;
    return [
      fault(line, 'unclosed_quote', 'a quote opens here and does not close: nothing behind it is read', {
        column,
        ends: true,
      }),
    ];
  }

  return {
    line(line) {
      if (isOver) return [];
      if (line.wrong !== null) {
        open = null;
        return [wrongLine(line)];
      }
      if (columns !== null) return record(line);
      const [, named] = SEPARATOR_LINE.exec(line.text) ?? [];
      if (named !== undefined && header.length === 0 && delimiter === null) {
        delimiter = named as Delimiter;
        return [];
      }
      header.push(line);
      quotes += countOf(line.text, '"');
      size += line.text.length;
      if (quotes % 2 === 0) return headerFound();
      return size > LINE_BYTES_MAX ? unclosed(header[0]!.number, 1) : [];
    },
    end() {
      if (isOver) return [];
      if (header.length > 0) return unclosed(header[0]!.number, 1);
      return open?.quoted == null ? [] : unclosed(open.quoted.line, open.quoted.column);
    },
  };
}

/** The fault of a line that is not read. */
export function wrongLine({ number, wrong }: Line): Fault {
  return wrong === 'encoding'
    ? fault(number, 'encoding', 'not UTF-8: save the file as UTF-8')
    : fault(number, 'line_too_long', `longer than ${LINE_BYTES_MAX} bytes`);
}

const knownIn = (fields: readonly (ImportField | null)[]): number => new Set(fields.filter((one) => one !== null)).size;

/** The delimiter under which a header has the most known names, and then the most names. */
export const delimiterOf = (header: string): Delimiter => bestOf(header, DELIMITERS).one;

function bestOf(header: string, delimiters: readonly Delimiter[]) {
  const [best] = delimiters
    .map((one) => ({ one, names: cellsOf(header, one) ?? [] }))
    .map(({ one, names }) => ({ one, names, fields: names.map((name) => fieldOf(withoutGuard(name))) }))
    .toSorted((left, right) => knownIn(right.fields) - knownIn(left.fields) || right.names.length - left.names.length);
  return best!;
}

const countOf = (text: string, character: string): number => text.split(character).length - 1;

/** Cells of one whole record; null where its quotes are not those of RFC 4180. */
export function cellsOf(text: string, delimiter: string): string[] | null {
  const cells: string[] = [];
  for (let at = 0; ;) {
    if (text[at] === '"') {
      const close = closingQuote(text, at + 1);
      if (close === -1) return null;
      cells.push(text.slice(at + 1, close).replaceAll('""', '"'));
      if (close + 1 === text.length) return cells;
      if (text[close + 1] !== delimiter) return null;
      at = close + 2;
      continue;
    }
    const end = text.indexOf(delimiter, at);
    cells.push(text.slice(at, end === -1 ? undefined : end));
    if (end === -1) return cells;
    at = end + 1;
  }
}

/** Place of the quote that ends a quoted cell: two of them are one character of it. -1: it goes on. */
function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 2)) {
    if (text[at + 1] !== '"') return at;
  }
  return -1;
}

function headerFaults(
  line: number,
  names: readonly string[],
  fields: readonly (ImportField | null)[],
  over: () => void,
): Found[] {
  const ends = (message: string): Found[] => {
    over();
    return [fault(line, 'columns', message, { ends: true })];
  };
  if (names.length > COLUMNS_MAX) return ends(`more than ${COLUMNS_MAX} columns`);
  if (!fields.includes('address')) return ends('no column is an address: name one `address`');
  return fields.flatMap((field, at) => {
    const column = at + 1,
      name = shown(names[at]!);
    if (field === null) {
      const warning = { column, isWarning: true };
      return name.trim() === '' ? [] : [fault(line, 'unknown_column', `the column ${name} is passed over`, warning)];
    }
    return fields.indexOf(field) === at
      ? []
      : [fault(line, 'two_columns', `a second column for ${field}`, { column, field })];
  });
}

/** Cells behind the last column have to be empty; missing ones are none. */
function cellsFault(line: number, cells: readonly string[], columns: readonly (ImportField | null)[]): Fault | null {
  const extra = cells.findIndex((cell, at) => at >= columns.length && cell.trim() !== '');
  if (extra !== -1 || cells.length < columns.length) {
    const message = `expected ${columns.length} cells, found ${cells.length}`;
    return fault(line, 'columns', message, { column: extra === -1 ? cells.length : extra + 1 });
  }
  const long = cells.findIndex((cell) => cell.length > FIELD_CHARACTERS_MAX);
  if (long === -1) return null;
  const message = `a cell has at most ${FIELD_CHARACTERS_MAX} characters`;
  return fault(line, 'columns', message, { column: long + 1, field: columns[long] ?? null });
}

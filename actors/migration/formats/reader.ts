/**
 * An import file, whatever its format: bytes in chunks of any size in, entries and faults in the order of the file out.
 * The format is that of the first line which is neither blank nor a comment. Memory is bounded by a line and what a
 * quote keeps open.
 */
import { fieldOf } from '../../../protocol/migration/imports.ts';
import { createCsvReader, wrongLine } from './csv.ts';
import { createDescriptorReader } from './descriptors.ts';
import { fault, type Found, type ImportFormat, type Line, type LineReader } from './entry.ts';
import { createJsonLinesReader } from './json-lines.ts';
import { createKeyValueReader, keyedFieldOf, pairOf } from './key-values.ts';
import { createLines } from './lines.ts';
import { ROWS_MAX } from './limits.ts';

export interface ImportReader {
  /** Null before the first line that has one, and for a file that has none. */
  readonly format: ImportFormat | null;
  push(bytes: Uint8Array): Found[];
  end(): Found[];
}

const DESCRIPTOR = /^(?:(?:pk|pkh|wpkh|sh|wsh|tr|combo|multi|sortedmulti|addr|raw)\(|BSMS 1\.0\s*$)/;

const READERS: Readonly<Record<ImportFormat, () => LineReader>> = {
  csv: createCsvReader,
  json_lines: createJsonLinesReader,
  descriptors: createDescriptorReader,
  key_value: createKeyValueReader,
};

/** The format of a file by its first line that says something; `json_array` is none that is read. */
export function formatOf(line: string): ImportFormat | 'json_array' {
  const text = line.trim();
  if (text.startsWith('{')) return 'json_lines';
  if (text.startsWith('[')) return 'json_array';
  if (DESCRIPTOR.test(text)) return 'descriptors';
  const [name] = pairOf(text) ?? [];
  return name !== undefined && keyedFieldOf(name) !== null && !isHeader(text) ? 'key_value' : 'csv';
}

/** Names of columns, although one of them has a colon in it. */
const isHeader = (text: string): boolean => text.split(/[,;\t|]/).some((name) => fieldOf(name) === 'address');

/** A reader of one file with at most `rowsMax` entries. */
export function createImportReader(rowsMax = ROWS_MAX): ImportReader {
  const lines = createLines();
  let format: ImportFormat | null = null,
    reader: LineReader | null = null,
    rows = 0,
    isOver = false;

  function read(line: Line): Found[] {
    if (reader === null) {
      if (line.wrong !== null) return [wrongLine(line)];
      const text = line.text.trim();
      if (text === '' || text.startsWith('#')) return [];
      const found = formatOf(line.text);
      if (found === 'json_array') {
        const message = 'a JSON array: write one object a line';
        return [fault(line.number, 'json_array', message, { ends: true })];
      }
      format = found;
      reader = READERS[found]();
    }
    return reader.line(line);
  }

  /** What counts, up to the fault that ends the file. */
  function counted(found: Found[]): Found[] {
    const kept: Found[] = [];
    for (const one of found) {
      if (isOver) break;
      if (one.kind !== 'fault') rows += 1;
      const isTooMany = rows > rowsMax;
      kept.push(
        isTooMany
          ? fault(one.line, 'IMPORT_TOO_LARGE', `more than ${rowsMax} rows: split the file, or ask our staff`, {
              ends: true,
            })
          : one,
      );
      isOver = isTooMany || (one.kind === 'fault' && one.ends);
    }
    return kept;
  }

  return {
    get format() {
      return format;
    },
    push(bytes) {
      const found: Found[] = [];
      if (isOver) return found;
      for (const line of lines.push(bytes)) {
        found.push(...counted(read(line)));
        if (isOver) break;
      }
      return found;
    },
    end() {
      if (isOver) return [];
      const last = lines.end().flatMap((line) => counted(read(line)));
      return [...last, ...(reader === null ? [] : counted(reader.end()))];
    },
  };
}

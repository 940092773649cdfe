/** The list of references by index that comes with a scan: read whole, or refused with its line. Migration M-D10. */
import type { Mapped } from '../../../model/ports/scan-store.ts';
import { refuse, type Refusal } from '../../../protocol/errors.ts';
import type { MappingReason } from '../../../protocol/migration/words.ts';

const COLUMNS = ['derivation_index', 'user_ref'] as const;
const INDEX_MAX = 2 ** 31 - 1;
const USER_REF_CHARS_MAX = 255;
const BOM = '\ufeff';

interface Record_ {
  /** Where it begins, counted from one. */
  readonly line: number;
  readonly cells: readonly string[] | null;
}

/** Indexes with their references, in the order of the list. Refuses: INVALID_INPUT with `line` and `reason`. */
export function readMapping(text: string): Mapped[] | Refusal {
  const no = (reason: MappingReason, line: number): Refusal =>
    refuse('INVALID_INPUT', { field: 'userRefMappingCsv', reason, line });
  const mapped: Mapped[] = [],
    seen = new Set<number>();
  let hasHeader = false;
  for (const { line, cells } of recordsOf(text.startsWith(BOM) ? text.slice(1) : text)) {
    if (cells === null) return no('columns', line);
    if (cells.length === 1 && cells[0]!.trim() === '') continue;
    if (cells.length !== COLUMNS.length) return no('columns', line);
    const [first, second] = cells as [string, string];
    if (!hasHeader && mapped.length === 0 && COLUMNS.every((name, at) => cells[at]!.trim().toLowerCase() === name)) {
      hasHeader = true;
      continue;
    }
    const index = Number(first);
    if (!/^(?:0|[1-9][0-9]*)$/.test(first) || index > INDEX_MAX) return no('bad_index', line);
    if (second === '') return no('empty_user_ref', line);
    if ([...second].length > USER_REF_CHARS_MAX) return no('user_ref_length', line);
    if (seen.has(index)) return no('duplicate_index', line);
    seen.add(index);
    mapped.push({ index, userRef: second });
  }
  return mapped;
}

/** Records of RFC 4180; a quote that never closes, or text behind a closing one, has no cells. */
function* recordsOf(text: string): Generator<Record_> {
  let at = 0,
    line = 1;
  while (at < text.length) {
    const began = line;
    const cells: string[] = [];
    for (;;) {
      let cell = '';
      if (text[at] === '"') {
        at += 1;
        for (;;) {
          const close = text.indexOf('"', at);
          if (close === -1) return yield { line: began, cells: null };
          const part = text.slice(at, close);
          line += part.split(/\r\n|\r|\n/).length - 1;
          cell += part;
          at = close + 1;
          if (text[at] !== '"') break;
          cell += '"';
          at += 1;
        }
        if (at < text.length && !/[,\r\n]/.test(text[at]!)) return yield { line: began, cells: null };
      } else {
        const end = endOfCell(text, at);
        cell = text.slice(at, end);
        if (cell.includes('"')) return yield { line: began, cells: null };
        at = end;
      }
      cells.push(cell);
      if (text[at] !== ',') break;
      at += 1;
    }
    yield { line: began, cells };
    if (text[at] === '\r' && text[at + 1] === '\n') at += 2;
    else at += 1;
    line += 1;
  }
}

function endOfCell(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== ',' && text[at] !== '\n' && text[at] !== '\r') at += 1;
  return at;
}

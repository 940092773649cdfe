/**
 * `flock imports read`: what an import file says, before it is uploaded and without the cloud. One JSON line for each
 * thing that is wrong and one for the whole; `--as` writes the rows anew, as CSV or JSON Lines.
 */
import { createReadStream } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Found } from '../../actors/migration/formats/entry.ts';
import { FIRST_BYTES, notText } from '../../actors/migration/formats/first-bytes.ts';
import { createGuard, type Judged } from '../../actors/migration/guard/guard.ts';
import { createImportReader } from '../../actors/migration/formats/reader.ts';
import { sheetLine, endLine, jsonLine } from '../../protocol/sheet.ts';
import { IMPORT_FIELDS } from '../../protocol/migration/imports.ts';

interface Output {
  write(text: string): unknown;
}

const WRITTEN = ['csv', 'jsonl'] as const;
type Written = (typeof WRITTEN)[number];

/** The exit code: 0 every line is understood, 1 some are not, 2 it is not read. Throws: what `parseArgs` throws. */
export async function importsRead(args: readonly string[], out: Output, err: Output): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    options: { file: { type: 'string' }, as: { type: 'string' } },
  });
  const { file } = values,
    as = WRITTEN.find((one) => one === values.as) ?? null;
  if (file === undefined || (values.as !== undefined && as === null)) {
    err.write('usage: flock imports read --file F [--as csv|jsonl]\n');
    return 2;
  }
  try {
    return await readFile(file, as, out, err);
  } catch (error) {
    err.write(`imports read: ${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
}

/** Rows go to standard output where they are wanted, and then what is wrong goes to standard error. */
async function readFile(file: string, as: Written | null, out: Output, err: Output): Promise<number> {
  const reader = createImportReader(),
    guard = createGuard(),
    says = as === null ? out : err,
    count = { rows: 0, ranges: 0, errors: 0, warnings: 0 };
  const take = (found: readonly Found[]): void => {
    for (const one of found) {
      if (one.kind === 'fault') {
        const { kind: _, isWarning, ends: _ends, ...fault } = one;
        count[isWarning ? 'warnings' : 'errors'] += 1;
        says.write(`${JSON.stringify({ [isWarning ? 'warning' : 'error']: fault })}\n`);
      } else if (one.kind !== 'row') count.ranges += 1;
      else {
        count.rows += 1;
        const cells = IMPORT_FIELDS.map((field) => one.fields[field] ?? '');
        if (as !== null) out.write(`${as === 'csv' ? sheetLine(cells) : jsonLine(one.fields)}\n`);
      }
    }
  };
  /** Of a file with a secret nothing behind it is read, and nothing of it is repeated. */
  const judged = (found: Judged): void => {
    if ('clean' in found) return take(reader.push(found.clean));
    const { line, rule } = found.secret;
    throw new Error(`KEY_MATERIAL_REJECTED: line ${line} (${rule}); take it out of the file, and out of its copies`);
  };
  let isFirst = true;
  for await (const chunk of createReadStream(file)) {
    const bytes = chunk as Buffer;
    const other = isFirst ? notText(bytes.subarray(0, FIRST_BYTES)) : null;
    if (other !== null) throw new Error(`${file} is no text but ${other}: save it as CSV in UTF-8`);
    if (isFirst && as === 'csv') out.write(`${IMPORT_FIELDS.join(',')}\n`);
    isFirst = false;
    judged(guard.push(bytes));
  }
  judged(guard.end());
  take(reader.end());
  if (as === 'csv') out.write(`${endLine(count.rows)}\n`);
  says.write(`${JSON.stringify({ format: reader.format, ...count })}\n`);
  return count.errors === 0 ? 0 : 1;
}

/** Rows as text, in the two formats that can say everything of a row. What is written reads back as it was. */
import { withGuard } from './formulas.ts';

/** One record without its end; every cell that a spreadsheet would run is guarded, and quoted where RFC 4180 asks. */
export function sheetLine(cells: readonly string[], delimiter = ','): string {
  return cells
    .map(withGuard)
    .map((cell) => (mustQuote(cell, delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell))
    .join(delimiter);
}

function mustQuote(cell: string, delimiter: string): boolean {
  return cell.includes(delimiter) || /["\r\n]/.test(cell) || cell.startsWith('#') || cell.startsWith('\ufeff');
}

/** One object without its end; names without a value are left out. */
export const jsonLine = (row: Readonly<Record<string, string | null | undefined>>): string =>
  JSON.stringify(Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null && value !== undefined)));

/** How a CSV export ends: a copy that was cut short has no such line. The importer passes it over. */
export const endLine = (rows: number): string => `# end, ${rows} rows`;
/** What a wallet needs that is restored, said in a reconciliation before its end. payments S18. */
export const gapLimitLine = (family: string, needed: number | null): string =>
  `# gap limit of a restored wallet, ${family}: ${needed ?? 'not counted yet'}`;
/** Whether a line says something of a file of ours, and no row. */
export const isRemark = (line: string): boolean =>
  /^# (?:end, [0-9]+ rows|gap limit of a restored wallet, [a-z]+: (?:[0-9]+|not counted yet))$/.test(line);

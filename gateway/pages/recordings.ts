/** Answers that were recorded in a real run, for the description and the documentation. X38. */
import { readFileSync } from 'node:fs';

/** One request and what it was answered; ids and times are replaced, secrets too. */
export interface Recorded {
  readonly path: string;
  /** With its question mark; empty where there was none. */
  readonly query: string;
  readonly body: unknown;
  readonly status: number;
  readonly answer: unknown;
}
/** By operation. */
export type Recordings = Readonly<Record<string, { readonly answers: readonly Recorded[] }>>;

/** `npm run -s docs:record` writes the file. */
export const readRecordings = (): Recordings =>
  JSON.parse(readFileSync(new URL('recorded.json', import.meta.url), 'utf8')) as Recordings;

/** Fenced blocks of documents as the tests run, compile and read them. */
import { filesOf } from './tree.ts';

export interface Fence {
  readonly file: string;
  /** Line of its first mark, from one. */
  readonly line: number;
  /** First word behind the mark; empty where there is none. */
  readonly language: string;
  readonly code: string;
}

const FENCE = /^```([^\n]*)\n([\s\S]*?)^```$/gm;

/** Blocks of one text. */
export function fencesIn(file: string, text: string): Fence[] {
  return [...text.matchAll(FENCE)].map(({ 1: info, 2: code, index }) => ({
    file,
    line: text.slice(0, index).split('\n').length,
    language: info!.trim().split(/\s/)[0]!,
    code: code!,
  }));
}

/** Blocks of every document that is on the site. */
export const fences = (): Fence[] =>
  filesOf(['docs', 'README.md', 'SECURITY.md', 'clients'], '.md').flatMap(({ path, text }) => fencesIn(path, text));

/** The block of a language in a document. Throws: there is none. */
export function fenceOf(file: string, language: string): string {
  const found = fences().find((fence) => fence.file === file && fence.language === language);
  if (found === undefined) throw new Error(`${file} has no block of ${language}`);
  return found.code;
}

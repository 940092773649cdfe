/**
 * `npm run -s flock-edge -- phrase FILE`: makes a recovery phrase of 24 words in a new file that only its owner may
 * read. It is shown nowhere: for a copy on paper, read the file.
 */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { generateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';

const STRENGTH_BITS = 256;
const USAGE = 'usage: flock-edge phrase FILE    makes a recovery phrase in a new file (mode 600)';

interface Output {
  write(text: string): void;
}

/** Answers the exit code: 0 done, 1 refused, 2 not understood. An existing file is never replaced. */
export function phraseCommand(args: readonly string[], out: Output, err: Output): number {
  const [file, ...rest] = args;
  if (file === undefined || rest.length > 0 || file.startsWith('-')) {
    err.write(`${USAGE}\n`);
    return 2;
  }
  let handle: number;
  try {
    handle = openSync(file, 'wx', 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    err.write(
      code === 'EEXIST'
        ? `${file} exists; a phrase is never written over: name another file\n`
        : `${file} cannot be made (${code})\n`,
    );
    return 1;
  }
  try {
    writeSync(handle, `${generateMnemonic(wordlist, STRENGTH_BITS)}\n`);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  out.write(`${JSON.stringify({ file, words: 24 })}\n`);
  err.write(
    'keep a copy of it on paper, off this machine: with it all addresses can be derived again, and without it nothing can be signed\n',
  );
  return 0;
}

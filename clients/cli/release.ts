/** `flock release verify`: whether the files of a release are whole and of the release key, offline. Ecosystem X72. */
import { readFileSync, statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Flags } from '../../protocol/node/commands.ts';
import { releaseKeyOf, verifyRelease, type ReleaseProblem } from '../../protocol/node/release.ts';
import { answer, CommandFailed, EXIT, running } from './answer.ts';

const WORDS: Readonly<Record<ReleaseProblem['problem'], string>> = {
  missing: 'it is missing',
  changed: 'it is not what was released',
  unlisted: 'it is not of this release',
  signature: 'its signature is not of this key',
  malformed: 'it is not what such a file is',
};

export function releaseVerify(args: readonly string[], flags: Flags): Promise<number> {
  const { positionals, values } = parseArgs({
    args: [...args],
    strict: true,
    allowPositionals: true,
    options: { 'key-file': { type: 'string' } },
  });
  return running(flags, async () => {
    const [folder, ...more] = positionals;
    const keyFile = values['key-file'];
    if (folder === undefined || more.length > 0 || keyFile === undefined)
      throw new CommandFailed('USAGE', 'release verify needs the folder of a release, and --key-file with its key');
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
      throw new CommandFailed('NO_FOLDER', 'there is no folder of that name');
    const found = await verifyRelease(folder, keyIn(keyFile));
    const ok = found.problems.length === 0;
    const lines = ok
      ? [`ok: ${found.files} files of ${found.version}, made of commit ${found.commit}`]
      : found.problems.map(({ file, problem }) => `fail  ${file}  ${WORDS[problem]}`);
    answer(flags, { ok, ...found }, lines.join('\n'));
    return ok ? EXIT.done : EXIT.failed;
  });
}

function keyIn(file: string) {
  try {
    return releaseKeyOf(readFileSync(file, 'latin1'));
  } catch (error) {
    const why = error instanceof RangeError ? `it holds ${error.message}` : 'it cannot be read';
    throw new CommandFailed('RELEASE_KEY', `--key-file: ${why}; give the public half of the release key`);
  }
}

/** `flock audit verify`: checks an exported audit log without the cloud. Console U6. */
import { createReadStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { isCheckpoint, verifyExport, type Checkpoint } from '../../protocol/node/audit-chain.ts';

interface Output {
  write(text: string): unknown;
}

/**
 * The exit code: 0 the log is whole, 1 it is not, 2 a file is none of its kind. One JSON line says what was found.
 * Throws: what `parseArgs` throws.
 */
export async function auditVerify(args: readonly string[], out: Output, err: Output): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    options: { file: { type: 'string' }, jwks: { type: 'string' }, checkpoint: { type: 'string', multiple: true } },
  });
  if (values.file === undefined) {
    err.write('--file is needed: the export, as JSON Lines\n');
    return 2;
  }
  try {
    const keys = values.jwks === undefined ? undefined : keysOf(values.jwks);
    const earlier = (values.checkpoint ?? []).map(checkpointOf);
    const lines = createInterface({ input: createReadStream(values.file, 'utf8'), crlfDelay: Infinity });
    const verdict = await verifyExport(lines, { ...(keys === undefined ? {} : { keys }), earlier });
    out.write(`${JSON.stringify(verdict)}\n`);
    if (keys === undefined)
      err.write("the signature was not checked: give the cloud's /.well-known/jwks.json as --jwks FILE\n");
    return verdict.ok ? 0 : 1;
  } catch (error) {
    err.write(`audit verify: ${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
}

function keysOf(file: string): readonly object[] {
  const { keys } = JSON.parse(readFileSync(file, 'utf8')) as { keys?: unknown };
  if (!Array.isArray(keys)) throw new Error('--jwks: no JWKS, which has "keys"');
  return keys as object[];
}

/** A checkpoint as the cloud answered it, with or without its envelope. */
function checkpointOf(file: string): Checkpoint {
  const value = JSON.parse(readFileSync(file, 'utf8')) as { data?: unknown };
  const checkpoint = value.data ?? value;
  if (!isCheckpoint(checkpoint)) throw new Error(`--checkpoint: ${file} holds no checkpoint`);
  return checkpoint;
}

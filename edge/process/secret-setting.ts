/** Secrets among the settings: in the environment, or in a file that the environment names. */
import { readPlainFile } from './plain-file.ts';
import { cannotBeRead } from '../../protocol/node/settings-in-files.ts';

const BYTES_MAX = 1_048_576;

/**
 * `EDGE_SECRET_FILES=mounted`: an orchestrator mounts them, readable by all, into a container that is nobody else's.
 * Elsewhere what group or others may read is no secret.
 */
export const SECRET_FILES = 'EDGE_SECRET_FILES';

/** Text of `NAME` or of the file `NAME_FILE`; undefined when neither is set, null when a problem was named. */
export function readSecret(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  problems: string[],
): string | undefined | null {
  const text = env[name];
  const file = env[`${name}_FILE`];
  if (text !== undefined && file !== undefined) {
    problems.push(`${name}_FILE and ${name}: set one of them, not both`);
    return null;
  }
  if (file === undefined) return text;
  try {
    const bytes = readPlainFile(file, BYTES_MAX, { secret: env[SECRET_FILES] !== 'mounted' });
    if (typeof bytes !== 'string') return bytes.toString('utf8').replace(/\r?\n$/, '');
    problems.push(
      bytes === "not its owner's alone"
        ? `${name}_FILE: others than its owner may read or change the file; chmod 600 it, or set ${SECRET_FILES}=mounted where an orchestrator mounts it into this container alone`
        : `${name}_FILE: cannot be read (${bytes === 'too large' ? `larger than ${BYTES_MAX} bytes` : bytes})`,
    );
    return null;
  } catch (error) {
    problems.push(`${name}_FILE: ${cannotBeRead(error)}`);
    return null;
  }
}

/** What the nodes of one cluster know and nobody else, as a node's settings say it. */
import { readFileSync } from 'node:fs';

/** Choice: as long as a key of HMAC-SHA256. */
const CLUSTER_SECRET_CHARS_MIN = 32;

/** The secrets of CLUSTER_SECRET or CLUSTER_SECRET_FILE: one a line or comma; none for a node that serves alone. */
export function readClusterSecrets(env: Readonly<Record<string, string | undefined>>, problems: string[]): string[] {
  const { CLUSTER_SECRET, CLUSTER_SECRET_FILE } = env;
  if (CLUSTER_SECRET === undefined && CLUSTER_SECRET_FILE === undefined) return [];
  if (CLUSTER_SECRET !== undefined && CLUSTER_SECRET_FILE !== undefined) {
    problems.push('CLUSTER_SECRET or CLUSTER_SECRET_FILE: at most one');
    return [];
  }
  try {
    const text = CLUSTER_SECRET ?? readFileSync(CLUSTER_SECRET_FILE!, 'utf8');
    const secrets = text.split(/[\s,]+/).filter((part) => part !== '');
    if (secrets.length === 0 || secrets.some(({ length }) => length < CLUSTER_SECRET_CHARS_MIN)) {
      problems.push(
        `CLUSTER_SECRET: has at least ${CLUSTER_SECRET_CHARS_MIN} characters, the same on every node ("openssl rand -hex 32" makes one)`,
      );
    }
    return secrets;
  } catch (error) {
    problems.push(`CLUSTER_SECRET_FILE: cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
    return [];
  }
}

/**
 * `npm run -s flock-edge -- doctor [--strict]`: looks at what an edge needs, with the edge's own settings, whether
 * it runs or not. Reads only. Ecosystem X34, X35.
 */
import { answerOf, isStrict } from '../../protocol/node/doctor/answer.ts';
import type { Flags } from '../../protocol/node/commands.ts';
import { ConfigurationError, forgetSecrets, readConfig, type Environ } from '../config.ts';
import { edgeChecks, type Read } from '../doctor/checks.ts';
import { thisMachine } from '../doctor/machine.ts';
import { isMnemonic } from '../keystore/keys.ts';

export async function doctorCommand(args: readonly string[], env: Environ, flags: Flags): Promise<number> {
  const strict = isStrict(args);
  const read = readOrProblems(env);
  const checks = edgeChecks(read, thisMachine());
  forgetSecrets(process.env);
  return answerOf(checks, flags, strict);
}

function readOrProblems(env: Environ): Read | readonly string[] {
  try {
    return readConfig(env, isMnemonic);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

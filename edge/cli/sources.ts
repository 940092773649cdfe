/**
 * `npm run -s flock-edge -- sources …`: phrases and keys from elsewhere, in the encrypted keystore. Answers are JSON
 * lines on standard output, questions go to standard error. Secrets are asked for without echo or are lines of standard
 * input, in the order in which they would be asked for; never an argument. Spec §4.8.
 */
import { parseArgs } from 'node:util';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import { ConfigurationError, type Environ } from '../config.ts';
import { CORE_WARNING, coreFilesPossible } from '../process/core-files.ts';
import { KeystoreError } from '../keystore/keystore-error.ts';
import { looksSecret, SECRET_ARGUMENT } from './secret-arguments.ts';
import { createSecretPrompt, PromptEnded, type SecretPrompt } from '../../protocol/node/secret-prompt.ts';
import { OPTIONS, type Asked, type Output } from './source-session.ts';
import { type Verb, VERBS } from './source-verbs.ts';

const USAGE = `usage: flock-edge sources import phrase --label NAME [--bip39-passphrase] [--own]
       flock-edge sources import key --family evm|btc|tron|xrp --label NAME
       flock-edge sources import keys --family evm|btc|tron|xrp --label NAME < FILE
       flock-edge sources list
       flock-edge sources check [FINGERPRINT]
       flock-edge sources detect FINGERPRINT --chain CHAIN --address A [--indexes N]
       flock-edge sources register FINGERPRINT --chains C,C [--path M --count N [--from I]] [--address A]…
       flock-edge sources purge FINGERPRINT --yes
       flock-edge sources rewrap --to passphrase|token
  --keystore FILE     the keystore (EDGE_KEYSTORE_FILE)
  secrets             asked for without echo, or one line each on standard input; never arguments`;

/** Runs one command; answers the exit code: 0 done, 1 refused, 2 not understood. */
export async function sourcesCommand(
  args: readonly string[],
  env: Environ,
  out: Output,
  err: Output,
  prompt: SecretPrompt = createSecretPrompt(process.stdin, process.stderr),
): Promise<number> {
  try {
    if (looksSecret(args)) {
      err.write(`${SECRET_ARGUMENT}\n`);
      return 2;
    }
    const parsed = parse(args);
    if (parsed === null) {
      err.write(`${USAGE}\n`);
      return 2;
    }
    if (coreFilesPossible()) err.write(`warning: ${CORE_WARNING}\n`);
    const refusal = await parsed.verb({
      ...parsed.asked,
      env,
      prompt,
      print: (value) => void out.write(`${JSON.stringify(value)}\n`),
      say: (text) => void err.write(`${text}\n`),
    });
    if (refusal === null) return 0;
    if (isRefusal(refusal)) err.write(`${refusal.code}: ${refusal.message}${detailsOf(refusal)}\n`);
    return 1;
  } catch (error) {
    return explained(error, err);
  } finally {
    prompt.close();
  }
}

function parse(args: readonly string[]): { verb: Verb; asked: Pick<Asked, 'operands' | 'options'> } | null {
  try {
    const {
      positionals: [name = '', ...operands],
      values: options,
    } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const known = VERBS[name];
    if (known === undefined || !known.takes(operands, options)) return null;
    return { verb: known.run, asked: { operands, options } };
  } catch {
    return null;
  }
}

/** Public facts of a refusal: chain, index, reason. */
function detailsOf({ details }: Refusal): string {
  const facts = Object.entries(details).filter(([, value]) => ['string', 'number'].includes(typeof value));
  return facts.length === 0 ? '' : ` (${facts.map(([name, value]) => `${name} ${String(value)}`).join(', ')})`;
}

/** Only texts that were written for people leave: an error of a library may quote what it was given. */
function explained(error: unknown, err: Output): number {
  if (error instanceof ConfigurationError) err.write(`${error.problems.join('\n')}\n`);
  else if (error instanceof KeystoreError || error instanceof PromptEnded) err.write(`${error.message}\n`);
  else err.write(`the command failed: ${error instanceof Error ? error.name : 'unknown'}\n`);
  return 1;
}

/**
 * Commands for the operator of the cloud: people, organizations, keys, sealed secrets and a stopped chain, straight on
 * the database.
 * They touch nothing that an account actor owns, so they may run beside a running node.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { initialAccount } from '../../../model/account/state.ts';
import { mintApiKey } from '../../http/auth/api-keys.ts';
import { emailOf } from '../../http/auth/email-address.ts';
import { passwordRefusal } from '../../http/auth/password-rules.ts';
import { hashPassword } from '../../http/auth/passwords.ts';
import { withFiles } from '../../../protocol/node/settings-in-files.ts';
import { createIdentityStore } from '../../../persistence/postgres/identity.ts';
import { TokensInForce } from '../../../chains/tokens.ts';
import { createAuditStore } from '../../../persistence/postgres/audit-store.ts';
import { createWatchStore } from '../../../persistence/postgres/watch-store.ts';
import { createSealedSecrets, createUnreadableHooks } from '../../../persistence/postgres/sealed-secrets.ts';
import { openDatabase, type Sql } from '../../../persistence/postgres/sql.ts';
import { applicationFault } from '../../../persistence/postgres/sign-in-fault.ts';
import type { IdentityStore } from '../../../model/ports/identity-store.ts';
import { accountIdOf } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { BANDS, CHAINS, ENVIRONMENTS, TIERS } from '../../../protocol/slugs.ts';
import { resealAll } from './reseal.ts';
import { createSecretBox, readSealKeys, sealedPrefix } from '../../../persistence/secret-box.ts';

export interface Output {
  write(text: string): void;
}

interface Work {
  readonly sql: Sql;
  readonly identity: IdentityStore;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly out: Output;
  readonly err: Output;
  readonly nowMs: number;
}

const PASSWORD_BYTES = 18;

function choice<T extends string>(name: string, text: string | undefined, choices: readonly T[]): T {
  const chosen = choices.find((one) => one === text);
  if (chosen === undefined) throw new RangeError(`--${name} must be one of ${choices.join(', ')}`);
  return chosen;
}

function required(name: string, text: string | undefined): string {
  if (text === undefined || text.trim() === '') throw new RangeError(`--${name} is needed`);
  return text.trim();
}

/** An empty setting is none, as at the boot of a node. */
const present = (env: NodeJS.ProcessEnv) => Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));

const answer = (out: Output, value: object): void => {
  out.write(`${JSON.stringify(value)}\n`);
};

/** `users create --email E [--admin]`: the password is read from standard input, or made and shown once. */
async function createUser({ identity, args, out, nowMs }: Work): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    options: { email: { type: 'string' }, admin: { type: 'boolean', default: false } },
  });
  const email = emailOf(required('email', values.email));
  if (email === null) throw new RangeError('--email must be an email address');
  if ((await identity.userByEmail(email)) !== null) throw new RangeError('a user with that email exists');
  const typed = process.stdin.isTTY ? '' : readFileSync(0, 'utf8').split('\n')[0]!.trim();
  const weak = typed === '' ? null : passwordRefusal(typed, [email]);
  if (weak !== null)
    throw new RangeError(`the password is ${String(weak.details['reason'])}: ${String(weak.details['next'])}`);
  const password = typed === '' ? randomBytes(PASSWORD_BYTES).toString('base64url') : typed;
  const id = newId('usr', nowMs);
  await identity.insertUser({
    id,
    email,
    passwordHash: await hashPassword(password),
    sealedTotpSecret: null,
    totpConfirmed: false,
    platformRole: values.admin ? 'admin' : null,
  });
  answer(out, { id, email, admin: values.admin, ...(typed === '' ? { password } : {}) });
}

/**
 * `organizations create --name N --owner EMAIL --tier T --band B`: the organization, its two accounts, its first owner.
 */
async function createOrganization({ identity, args, out, nowMs }: Work): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    options: {
      name: { type: 'string' },
      owner: { type: 'string' },
      tier: { type: 'string', default: 'free' },
      band: { type: 'string', default: 'launch' },
    },
  });
  const name = required('name', values.name);
  const owner = await identity.userByEmail(required('owner', values.owner));
  if (owner === null) throw new RangeError('--owner: no user has that email; create the user first');
  const id = newId('org', nowMs);
  const plan = {
    tier: choice('tier', values.tier, TIERS),
    band: choice('band', values.band, BANDS),
    subscription: 'active' as const,
    paymentsActive: false,
  };
  await identity.createOrganization({ id, name, createdAtMs: nowMs }, owner.id, plan);
  answer(out, { id, name, owner: owner.email, ...plan });
}

/** `api-keys mint --organization ID --environment live --label L`: the key is shown once. */
async function mintKey({ identity, args, out, nowMs }: Work): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    options: { organization: { type: 'string' }, environment: { type: 'string' }, label: { type: 'string' } },
  });
  const organization = await identity.organization(required('organization', values.organization));
  if (organization === null) throw new RangeError('--organization: no such organization');
  const environment = choice('environment', values.environment, ENVIRONMENTS);
  const { key, hash, maskedPrefix } = mintApiKey(environment);
  const id = newId('key', nowMs);
  await identity.insertApiKey({
    id,
    accountId: accountIdOf(organization.id, environment),
    organizationId: organization.id,
    environment,
    label: required('label', values.label),
    hash,
    maskedPrefix,
    createdAtMs: nowMs,
    revokedAtMs: null,
  });
  answer(out, { id, environment, key });
}

/** `secrets reseal`: everything sealed under an older key of SECRET_KEY, again under the first one. */
async function resealSecrets({ sql, args, env, out }: Work): Promise<void> {
  parseArgs({ args: [...args], strict: true, options: {} });
  const problems: string[] = [];
  const keys = readSealKeys(present(env), problems);
  const [first] = keys;
  if (first === undefined || problems.length > 0) throw new RangeError(problems.join('; '));
  const { resealed, released, left } = await resealAll({
    columns: createSealedSecrets(sql),
    unreadable: createUnreadableHooks(sql),
    secrets: createSecretBox(keys),
    prefix: sealedPrefix(first),
  });
  answer(out, { ...resealed, released, left });
  if (left.length > 0) throw new Error(`${left.length} left: no key of SECRET_KEY opens them, or they change just now`);
}

/** `chains rebuild --chain C [--above HEIGHT]`: rebuild.ts. */
async function rebuild({ sql, args, env, out, err, nowMs }: Work): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    options: { chain: { type: 'string' }, above: { type: 'string' } },
  });
  const chain = choice('chain', values.chain, CHAINS);
  if (values.above !== undefined && !/^(?:0|[1-9][0-9]{0,11})$/.test(values.above))
    throw new RangeError('--above must be the height of a block');
  const [watch, audit] = [createWatchStore(sql), createAuditStore(sql)];
  const say = (line: string) => err.write(`${line}\n`);
  const { rebuildChain } = await import('./rebuild.ts'); // the chains' own libraries are large
  const rebuilding = { watch, audit, tokens: new TokensInForce(), env: present(env), nowMs: () => nowMs, say };
  answer(out, await rebuildChain(rebuilding, chain, values.above === undefined ? null : Number(values.above)));
}

export const OPERATOR_COMMANDS = {
  'chains rebuild': rebuild,
  'users create': createUser,
  'organizations create': createOrganization,
  'api-keys mint': mintKey,
  'secrets reseal': resealSecrets,
} as const;
export type OperatorCommand = keyof typeof OPERATOR_COMMANDS;

/**
 * Runs one command against DATABASE_URL; the exit code: 0 done, 1 refused, 2 not understood. Throws: what `parseArgs`
 * throws.
 */
export async function runOperatorCommand(
  command: OperatorCommand,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  out: Output,
  err: Output,
): Promise<number> {
  const problems: string[] = [];
  const { DATABASE_URL: url } = withFiles(env, ['DATABASE_URL'], problems);
  if (url === undefined || problems.length > 0) {
    err.write(`${problems[0] ?? "DATABASE_URL is needed: the address of the cloud's database"}\n`);
    return 2;
  }
  const sql: Sql = openDatabase({ url, connections: 1, name: 'flock-operator' });
  try {
    await OPERATOR_COMMANDS[command]({
      sql,
      identity: createIdentityStore(sql, initialAccount),
      args,
      env,
      out,
      err,
      nowMs: Date.now(),
    });
    return 0;
  } catch (error) {
    const { code } = error as { code?: string };
    // the command line answers with what the command takes
    if (code?.startsWith('ERR_PARSE_ARGS') === true) throw error;
    err.write(`${command}: ${applicationFault(error) ?? (error instanceof Error ? error.message : String(error))}\n`);
    return error instanceof RangeError ? 2 : 1;
  } finally {
    await sql.end({ timeout: 5 });
  }
}

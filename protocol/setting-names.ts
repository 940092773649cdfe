/**
 * Settings under a name that nobody reads: a bound that is misspelt does not hold, and a misspelt passphrase makes
 * other addresses.
 */
import { nearestOf, stepsBetween } from './nearest.ts';

/** Names that orchestrators put into an environment for services beside this one (Kubernetes, container links). */
const INJECTED =
  /_(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT(?:_[0-9]+_(?:TCP|UDP)(?:_(?:PROTO|PORT|ADDR))?)?|NAME|ENV_[A-Z0-9_]+)$/;
/** Shorter names are near to those of other programs by chance. */
const CHARACTERS_MIN = 11;
const STEPS_MAX = 2;

export interface SettingNames {
  /** Every name that this process reads. */
  readonly known: readonly string[];
  /** Names that can only be meant for this process. */
  readonly own: (name: string) => boolean;
  /** What to do about a name of this process, where its nearest neighbour is the wrong hint; null elsewhere. */
  readonly advice?: (name: string) => string | null;
  /** Names that are judged elsewhere, or are settings of the other process, which one file for both may hold. */
  readonly others?: (name: string) => boolean;
}

/** One problem for each name that is set and not read, with the setting that is meant. No value is in it. */
export function unreadSettings(
  env: Readonly<Record<string, string | undefined>>,
  { known, own, advice = () => null, others = () => false }: SettingNames,
): string[] {
  const read = new Set(known);
  return Object.entries(env).flatMap(([name, value]) => {
    if (value === undefined || value === '' || read.has(name) || others(name) || INJECTED.test(name)) return [];
    const meant = known.find((each) => each.startsWith(`${name}_`)) ?? nearestOf(name, known);
    if (
      !own(name) &&
      !(
        meant !== null &&
        name.length >= CHARACTERS_MIN &&
        env[meant] === undefined &&
        stepsBetween(name, meant) <= STEPS_MAX
      )
    )
      return [];
    return [
      `${name}: is not read by this process; ${
        advice(name) ?? (meant === null ? 'the settings are in docs/configuration.md' : `did you mean ${meant}?`)
      }`,
    ];
  });
}

/** Any text is one of these, also one in quotes. */
const FREE = /(?:PASSPHRASE|_PIN|_PASSWORD)$/;
/** One name, place or label, in which white space at an end is a slip that nothing else would name. */
const PLAIN = /^(?:NODE_NAME|HOST|INTERNAL_HOST|MAIL_DIR|EDGE_DATA_DIR|EDGE_PKCS11_TOKEN|EDGE_PKCS11_KEY|POD_HINT)$/;

/**
 * The problems of an environment, one of each setting that is in quotes or in a file that cannot be read. An env file
 * of containers hands quotes over as they are, and `"/data"` is another directory.
 */
export function withWrapped(
  problems: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): string[] {
  const wrapped = new Map(
    known.flatMap((name) => {
      const problem = FREE.test(name) ? null : wrappingOf(name, env[name] ?? '');
      return problem === null ? [] : [[name, problem]];
    }),
  );
  // What is wrong with a setting that its file could not give follows from that.
  const files = problems.flatMap((problem) => /^([A-Z0-9_]+)_FILE:/.exec(problem)?.slice(1, 2) ?? []);
  const named = [...wrapped.keys(), ...files].map((name) => `${name}:`);
  const rest = problems.filter((problem) => !named.some((name) => problem.startsWith(name)));
  return [...rest, ...[...wrapped].map(([name, problem]) => `${name}: ${problem}`)];
}

function wrappingOf(name: string, value: string): string | null {
  if (/^(["']).*\1$/s.test(value.trim()) && value.trim().length > 1)
    return 'is in quotes, which are a part of it here: write it without them';
  return PLAIN.test(name) && value !== value.trim() ? 'begins or ends with white space: write it without' : null;
}

/** Settings of the cloud that carry a credential, each of which may be in a file; not those of each chain. */
export const CLOUD_SECRETS_IN_FILES = [
  'DATABASE_URL',
  'REDIS_URL',
  'SMTP_URL',
  'STRIPE_SECRET_KEY',
  'STRIPE_WEBHOOK_SECRET',
] as const;
/** What a cloud node's process forgets once it was read. */
export const CLOUD_SECRETS = [...CLOUD_SECRETS_IN_FILES, 'SECRET_KEY', 'DATABASE_OWNER_URL', 'CLUSTER_SECRET'] as const;

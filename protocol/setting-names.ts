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

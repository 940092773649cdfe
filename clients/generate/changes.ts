/**
 * `npm run -s changes`: drafts the CHANGELOG of the version from what differs between it and the release before, and
 * fails on a difference that its section does not mention. Ecosystem X73.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { breaksBetween } from './breaks.ts';
import { contractNow, type Contract } from './contract.ts';
import { surfaceNow, type Surface } from './surface.ts';

/** All that a release promises. */
export interface Release {
  readonly contract: Contract;
  readonly surface: Surface;
}

export interface Difference {
  /** What the CHANGELOG has to name. */
  readonly name: string;
  readonly text: string;
  /** Somebody has to do something about it. */
  readonly breaks: boolean;
}

const GONE = / is gone$/;

/** Every difference once, those that break first. */
export function differencesBetween(before: Release, after: Release): Difference[] {
  const found = [
    ...breaksBetween(before.contract, after.contract).map((text) => ofContract(text, true)),
    // What would be gone on the way back is new.
    ...breaksBetween(after.contract, before.contract)
      .filter((text) => GONE.test(text))
      .map((text) => ofContract(text.replace(GONE, ' is new'), false)),
    ...ofSurface(before.surface, after.surface),
  ];
  return found.sort((a, b) => Number(b.breaks) - Number(a.breaks));
}

/** The name is the smallest thing that the sentence is about: a value, a field, else where it begins. */
function ofContract(text: string, breaks: boolean): Difference {
  const [, place, about] = /^([^:]+): (.*)$/.exec(text)!;
  const value = /^the value (\S+) /.exec(about!)?.[1];
  const field = /\.([A-Za-z0-9_]+)(?:\[\]|\{\})*$/.exec(place!)?.[1];
  return { name: value ?? field ?? place!.split(' ')[0]!, text, breaks };
}

function ofSurface(before: Surface, after: Surface): Difference[] {
  const listed = (what: string, was: readonly string[], is: readonly string[]): Difference[] => [
    ...was
      .filter((name) => !is.includes(name))
      .map((name) => ({ name, text: `${what} ${name} is gone`, breaks: true })),
    ...is
      .filter((name) => !was.includes(name))
      .map((name) => ({ name, text: `${what} ${name} is new`, breaks: false })),
  ];
  const kept = (what: string, was: Readonly<Record<string, unknown>>, is: Readonly<Record<string, unknown>>) => [
    ...listed(what, Object.keys(was), Object.keys(is)),
    ...Object.keys(was)
      .filter((name) => name in is && was[name] !== is[name])
      .map((name) => ({ name, text: `${what} ${name}: ${was[name]} became ${is[name]}`, breaks: true })),
  ];
  return [
    ...kept('the metric', before.metrics, after.metrics),
    ...listed('the setting', before.settings, after.settings),
    ...kept('the exit code', before.exitCodes, after.exitCodes),
    ...listed('the log field', before.logFields, after.logFields),
  ];
}

/** The part of the CHANGELOG that is about a version; empty where it has none. */
export function sectionOf(changelog: string, version: string): string {
  const sections = changelog.split(/^(?=## )/m);
  return sections.find((one) => one.startsWith(`## ${version} `)) ?? '';
}

export function unmentioned(differences: readonly Difference[], section: string): Difference[] {
  const words = new Set(section.match(/<?[A-Za-z0-9_]+>?[A-Za-z0-9_<>]*/g));
  return differences.filter(({ name }) => !words.has(name));
}

/** Lines for the CHANGELOG. */
export function draftOf(differences: readonly Difference[]): string {
  const lines = (breaks: boolean): string[] =>
    differences.filter((one) => one.breaks === breaks).map(({ text }) => `- ${text}.`);
  const part = (title: string, list: readonly string[]): string[] => (list.length === 0 ? [] : [title, ...list, '']);
  return [...part('### What breaks, and what to do', lines(true)), ...part('### New', lines(false))].join('\n');
}

/** The newest version before this one, of those that are frozen; null where there is none. */
export function versionBefore(frozen: readonly string[], version: string): string | null {
  const parts = (one: string): number[] => one.split('.').map(Number);
  const order = (a: string, b: string): number => {
    const [x, y] = [parts(a), parts(b)];
    const at = x.findIndex((part, index) => part !== y[index]);
    return at < 0 ? 0 : x[at]! - y[at]!;
  };
  return (
    frozen
      .filter((one) => order(one, version) < 0)
      .sort(order)
      .at(-1) ?? null
  );
}

const ROOT = new URL('../../', import.meta.url);
const textOf = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');
const VERSIONED = /^(\d+\.\d+\.\d+)\.json$/;

/** Answers the exit code. */
function main(): number {
  const now: Release = { contract: contractNow(), surface: surfaceNow() };
  const { version } = now.surface;
  const frozen = readdirSync(new URL('clients/contract/surface/', ROOT)).flatMap(
    (name) => VERSIONED.exec(name)?.[1] ?? [],
  );
  const earlier = versionBefore(frozen, version);
  if (earlier === null) {
    process.stdout.write(`no release before ${version} is frozen: there is nothing to compare\n`);
    return 0;
  }
  const before: Release = {
    contract: JSON.parse(textOf(`clients/contract/${earlier}.json`)) as Contract,
    surface: JSON.parse(textOf(`clients/contract/surface/${earlier}.json`)) as Surface,
  };
  const differences = differencesBetween(before, now);
  const missing = unmentioned(differences, sectionOf(textOf('CHANGELOG.md'), version));
  process.stderr.write(`${differences.length} differences from ${earlier}, ${missing.length} of them not mentioned\n`);
  process.stdout.write(draftOf(missing));
  return missing.length === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = main();

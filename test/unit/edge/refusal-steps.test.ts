/** Every refusal to sign says what decides and what to do; the sweep reads the sources. */
import test from 'ava';
import { overCap, overTokenCap } from '../../../edge/spend/caps.ts';
import {
  DEFAULT_FEE_SETTINGS,
  feeBoundsOf,
  checkFeeBounds,
  isOwnBound,
} from '../../../edge/signing/signers/fee-bounds.ts';
import { noSigner, STEPS, stepIn } from '../../../edge/signing/signers/refusal-steps.ts';
import { refusePayload, refuseToSign } from '../../../edge/signing/signers/signer.ts';
import type { Refusal } from '../../../protocol/errors.ts';
import { documentText } from '../../support/documents.ts';
import { filesOf } from '../../support/tree.ts';

const matchesIn = (text: string, ...patterns: RegExp[]) =>
  patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, reason]) => reason!));

/** Reasons that the edge refuses to sign for, wherever they are written. */
const REASONS = [
  ...new Set([
    ...filesOf(['edge'], '.ts').flatMap(({ text }) =>
      matchesIn(text, /(?:refuseToSign|refusePayload)\(\s*'([a-z_]+)'/g),
    ),
    // Facts that readers yield, and the rules' own tables of refusals.
    ...filesOf(['edge/signing/signers'], '.ts').flatMap(({ text }) =>
      matchesIn(
        text,
        /\b(?:part|same)\(\s*'([a-z_]+)'/g,
        /\b(?:reason|early|late|nonce|sequence|outpoints|expiry): '([a-z_]+)'/g,
      ),
    ),
  ]),
];

const CONFIGURATION = documentText('configuration.md');

function saysWhatToDo(refusal: Refusal): string[] {
  const { setting, next } = refusal.details;
  return [
    ...(typeof next === 'string' && next.length > 20 ? [] : ['no next step']),
    ...(setting === null || setting === 'clock' || (typeof setting === 'string' && isDocumented(setting))
      ? []
      : [`setting ${String(setting)}`]),
  ];
}

const isDocumented = (setting: string): boolean =>
  CONFIGURATION.includes(`\`${setting}\``) || CONFIGURATION.includes(`\`${setting.replace(/_[A-Z]+$/, '_<CHAIN>')}\``);

test('found F76: every reason for which the edge refuses to sign has the setting that decides, or none, and a next step', (t) => {
  t.true(REASONS.length > 90, `${REASONS.length} found`);
  t.deepEqual(
    REASONS.filter((reason) => !Object.hasOwn(STEPS, reason)),
    [],
    'each has an entry of its own: a new one is thought about',
  );
  t.deepEqual(
    Object.keys(STEPS).filter((reason) => !REASONS.includes(reason)),
    [],
    'and none is left over',
  );
  for (const reason of REASONS) t.deepEqual(saysWhatToDo(refuseToSign(reason, { expected: 1 })), [], reason);
  for (const flaw of ['not_base64', 'a_flaw_of_tomorrow']) t.deepEqual(saysWhatToDo(refusePayload(flaw)), [], flaw);
});

test('found F76: bounds, caps and chains without a signer say it too; only a bound is no alarm', (t) => {
  const bounds = feeBoundsOf('eth', DEFAULT_FEE_SETTINGS);
  const costs = { chain: 'eth', feeMax: 1n, amount: null, price: null, isSweep: false } as const;
  const caps = {
    spendCaps: new Map(),
    withdrawalCaps: new Map(),
    spendWindowMs: 1_000,
  } as never;
  const spend = { chain: 'eth', purpose: 'cloud', amount: 5n } as never;
  const own = [
    checkFeeBounds({ ...costs, feeMax: bounds.feeCap + 1n }, bounds),
    checkFeeBounds({ ...costs, price: bounds.feePriceCap + 1n }, bounds),
    checkFeeBounds({ ...costs, nativeGas: bounds.nativeGasLimit + 1n }, bounds),
    checkFeeBounds({ ...costs, feeMax: bounds.feeFloor + 1n, amount: 1n }, bounds),
    checkFeeBounds({ ...costs, feeMax: 2n, amount: 1n, isSweep: true }, feeBoundsOf('eth', DEFAULT_FEE_SETTINGS, true)),
  ];
  for (const refusal of own) {
    t.deepEqual(saysWhatToDo(refusal!), []);
    t.true(isOwnBound(refusal!));
    t.truthy(stepIn(refusal!).setting);
  }
  for (const refusal of [
    overCap(spend, caps, 0n),
    overTokenCap(spend, { contract: '0x1', amount: 5n } as never, caps, 0n),
    noSigner('eth'),
  ])
    t.deepEqual(saysWhatToDo(refusal), []);
  for (const reason of REASONS) t.false(isOwnBound(refuseToSign(reason)), `${reason} stays an alarm`);
});

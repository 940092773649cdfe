/**
 * What a company with an old wallet has to do: its case, what will sign on each chain, the steps in their order, and
 * what to know beforehand. Spec §2.12, §4.8. The cloud answers it and the edge finds it again, since a step is a
 * command that somebody will give where the keys are.
 *
 *   route        evm                btc, tron, xrp       sol, xlm
 *   own_phrase   signs              signs                signs
 *   key_source   signs              family_not_signed    list_only
 *   watch_only   no_key             no_key               no_key
 */
import { refuse, type Refusal } from '../errors.ts';
import type { Assessed, CaseAnswers, ChainOutlook, MigrationCase, NotSignedReason, Room, RouteHome } from './words.ts';
import { FAMILY_OF, POOLED_CHAINS, type Chain } from '../slugs.ts';
import { stepsOf, type Step } from './steps.ts';
import { warningsOf, type Warning } from './warnings.ts';

/** The case, null where nobody holds a key. Unsure about the derivation is an unknown path. Spec §2.12. */
export function caseOf({
  mnemonics,
  hasRawKeys,
  providerHoldsKeys,
  standardWallet,
}: CaseAnswers): MigrationCase | null {
  const holders = [mnemonics > 0, hasRawKeys, providerHoldsKeys].filter(Boolean).length;
  if (holders === 0) return null;
  if (holders > 1) return 'E';
  if (providerHoldsKeys) return 'F';
  if (hasRawKeys) return 'D';
  if (mnemonics > 1) return 'C';
  return standardWallet === true ? 'A' : 'B';
}

export interface Assessment {
  readonly case: MigrationCase;
  readonly title: string;
  /** Answers that were taken for something. */
  readonly assumed: readonly 'standardWallet'[];
  readonly chains: readonly ChainOutlook[];
  readonly steps: readonly Step[];
  readonly warnings: readonly Warning[];
}

export const CASE_TITLES: Readonly<Record<MigrationCase, string>> = {
  A: 'One recovery phrase with a standard derivation',
  B: 'One recovery phrase whose derivation path is not known',
  C: 'Several recovery phrases',
  D: 'Individual private keys',
  E: 'A mixture: split it, and migrate each part by itself',
  F: 'A custodian holds the keys: the addresses can be watched, not signed for',
};

/** The assessment. Refuses: INVALID_INPUT `no_keys` where neither phrase nor key nor custodian is there. */
export function assess(asked: Assessed, room: Room): Assessment | Refusal {
  const found = caseOf(asked);
  if (found === null)
    return refuse('INVALID_INPUT', {
      field: 'mnemonics',
      reason: 'no_keys',
      next: 'say who holds the keys of the addresses: mnemonics, hasRawKeys or providerHoldsKeys',
    });
  const chains = asked.chains.map((chain) => outlookOf(found, chain));
  return {
    case: found,
    title: CASE_TITLES[found],
    assumed: found === 'B' && asked.standardWallet === null ? ['standardWallet'] : [],
    chains,
    steps: stepsOf(found, asked, chains),
    warnings: warningsOf(found, asked, chains, room),
  };
}

/** Whether extended public keys exist on a chain, so that its addresses can be found without a list. Spec §4.8. */
const hasExtendedKeys = (chain: Chain): boolean => !(POOLED_CHAINS as readonly Chain[]).includes(chain);

const ROUTE_OF: Readonly<Record<MigrationCase, RouteHome>> = {
  A: 'own_phrase',
  B: 'key_source',
  C: 'key_source',
  D: 'key_source',
  E: 'key_source',
  F: 'watch_only',
};
/** Cases in which an extended public key exists. */
const WITH_EXTENDED_KEYS: readonly MigrationCase[] = ['A', 'B', 'C', 'E'];

function outlookOf(found: MigrationCase, chain: Chain): ChainOutlook {
  const route = ROUTE_OF[found],
    reason = reasonOf(route, chain);
  const discovery = hasExtendedKeys(chain) && WITH_EXTENDED_KEYS.includes(found);
  return { chain, route, signs: reason === null, reason, discovery, listRequired: !discovery };
}

/** Why nothing will sign. An edge that is started with the old phrase has the paths and pools of its own. */
function reasonOf(route: RouteHome, chain: Chain): NotSignedReason | null {
  if (route === 'own_phrase') return null;
  if (route === 'watch_only') return 'no_key';
  if (!hasExtendedKeys(chain)) return 'list_only';
  return FAMILY_OF[chain] === 'evm' ? null : 'family_not_signed';
}

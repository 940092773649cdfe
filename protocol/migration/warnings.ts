/** What a company should know before it begins; none of it stops the migration. Spec §2.12, §4.8. */
import {
  SELF_SERVICE_ADDRESSES_MAX,
  type MigrationCase,
  type MigrationWarning,
  type NotSignedReason,
  type Assessed,
  type ChainOutlook,
  type Room,
} from './words.ts';
import { FAMILY_OF, type Chain, type Family } from '../slugs.ts';

export interface Warning {
  readonly code: MigrationWarning;
  readonly message: string;
  /** Those that it is about. */
  readonly chains: readonly Chain[];
}

const MESSAGES: Readonly<Record<Exclude<MigrationWarning, 'not_signed' | 'count_unlikely'>, string>> = {
  keys_known_elsewhere:
    'every copy of these keys can spend from the adopted addresses: destroy the copies, or move the funds to new addresses',
  list_required: 'no scan can find these addresses: upload a list of them',
  evm_networks:
    'one adopted address is monitored on all five EVM networks; a scan reads one network, so name one where the address was used',
  unsure_taken_as_unknown: 'standardWallet was null: the derivation path is taken as unknown, and is detected first',
  tags_not_expressible:
    'customers who share one address by memo or destination tag are one row: adopt the address once and route by chainTag',
  range_beats_scan:
    'the number of addresses is known: import their range; a scan sees only addresses that were used, up to its gap limit',
  band_exceeded: 'the adopted addresses do not fit the purchased band: the commit asks for acceptBillingChange',
  above_self_service: `more than ${SELF_SERVICE_ADDRESSES_MAX.toLocaleString('en-US')} addresses are adopted with our staff: IMPORT_TOO_LARGE`,
  standard_wallet_ignored: 'standardWallet says something about one recovery phrase: it is not used in this case',
  custodian_must_act:
    'the custodian signs until it has paid out: deposits to its addresses can be watched, withdrawals are made there',
};

const WHY_NOT_SIGNED: Readonly<Record<NotSignedReason, string>> = {
  family_not_signed: 'registered sources sign on EVM chains only',
  list_only: 'there are no extended public keys, so that addresses come from a list',
  no_key: 'the edge has no key',
};

/** All that applies, in the order of the catalogue. */
export function warningsOf(
  found: MigrationCase,
  asked: Assessed,
  chains: readonly ChainOutlook[],
  room: Room,
): Warning[] {
  const all = asked.chains;
  const plain = (code: keyof typeof MESSAGES, about: readonly Chain[] | false): Warning[] =>
    about === false || about.length === 0 ? [] : [{ code, message: MESSAGES[code], chains: about }];
  const ofFamily = (...families: Family[]) => all.filter((chain) => families.includes(FAMILY_OF[chain]));
  const scanned = chains.filter(({ discovery }) => discovery).map(({ chain }) => chain);
  const { mnemonics, addressCount, standardWallet, providerHoldsKeys } = asked;
  return [
    ...plain('keys_known_elsewhere', found !== 'F' && all),
    ...notSigned(chains),
    ...plain(
      'list_required',
      chains.filter(({ listRequired }) => listRequired).map(({ chain }) => chain),
    ),
    ...plain('evm_networks', ofFamily('evm')),
    ...plain('unsure_taken_as_unknown', found === 'B' && standardWallet === null && all),
    ...plain('tags_not_expressible', ofFamily('xrp', 'xlm')),
    ...plain('range_beats_scan', addressCount > 0 && scanned),
    ...plain('band_exceeded', room.exceeds && all),
    ...plain('above_self_service', room.projected > SELF_SERVICE_ADDRESSES_MAX && all),
    ...plain('standard_wallet_ignored', standardWallet !== null && found !== 'A' && found !== 'B' && all),
    ...countUnlikely(mnemonics, addressCount, all),
    ...plain('custodian_must_act', providerHoldsKeys && all),
  ];
}

function notSigned(chains: readonly ChainOutlook[]): Warning[] {
  const unsigned = chains.filter(({ signs }) => !signs);
  if (unsigned.length === 0) return [];
  const reasons = [...new Set(unsigned.map(({ reason }) => reason!))].map((reason) => WHY_NOT_SIGNED[reason]);
  return [
    {
      code: 'not_signed',
      message: `deposits are monitored, withdrawals are ADDRESS_WATCH_ONLY: ${reasons.join('; ')}. Spend from the old wallet, or move the funds`,
      chains: unsigned.map(({ chain }) => chain),
    },
  ];
}

function countUnlikely(mnemonics: number, addressCount: number, chains: readonly Chain[]): Warning[] {
  if (addressCount === 0)
    return [{ code: 'count_unlikely', message: 'no number of addresses is known yet: capacity shows none', chains }];
  if (addressCount >= mnemonics) return [];
  return [
    { code: 'count_unlikely', message: 'fewer addresses than recovery phrases: compare the two numbers', chains },
  ];
}

/** Everything that a build needs, asked of one server so that the figures belong together. */
import type { Endpoint, Intent, Transport } from '../chain.ts';
import { countIn, integerIn, objectIn, type Answer } from '../node-answer.ts';
import { hasFlag, lineIn, readAccount, readLines, readTickets } from './account-reader.ts';
import { assetOf } from './currency.ts';
import type { Heads } from './heads.ts';
import type { DestinationState, IssuerState, SenderState, TokenState, XrpInputs } from './inputs.ts';
import { RATE_ONE } from './issued-amount.ts';
import { ask, refusedBy, tryAsk } from './node.ts';

/** Inputs of an intent from one server. Throws: ChainUnavailable, MalformedReply. */
export async function readBuildInputs(
  transport: Transport,
  heads: Heads,
  endpoint: Endpoint,
  intent: Intent,
): Promise<XrpInputs> {
  const { height, reserves, baseFeeDrops } = await heads.feesOf(endpoint);
  const [openLedgerFee, sender, destination, token] = await Promise.all([
    readOpenLedgerFee(transport, endpoint),
    readSender(transport, endpoint, intent.from),
    readDestination(transport, endpoint, intent),
    readToken(transport, endpoint, intent),
  ]);
  return {
    readAtHeight: height,
    baseFeeDrops: baseFeeDrops.toString(),
    openLedgerFeeDrops: openLedgerFee.toString(),
    reserveBaseDrops: reserves.base.toString(),
    reserveIncrementDrops: reserves.increment.toString(),
    sender,
    destination,
    token,
  };
}

async function readOpenLedgerFee(transport: Transport, endpoint: Endpoint): Promise<bigint> {
  const { drops } = await ask(transport, endpoint, 'fee');
  return integerIn(objectIn(drops, 'drops')['open_ledger_fee'], 'open_ledger_fee');
}

async function readSender(transport: Transport, endpoint: Endpoint, address: string): Promise<SenderState | null> {
  const account = await readAccount(transport, endpoint, address, 'current');
  if (account === null) return null;
  const tickets =
    countIn(account['TicketCount'] ?? 0, 'TicketCount') === 0 ? [] : await readTickets(transport, endpoint, address);
  return {
    balanceDrops: balanceOf(account),
    sequence: countIn(account['Sequence'], 'Sequence'),
    ownerCount: countIn(account['OwnerCount'], 'OwnerCount'),
    tickets,
  };
}

const balanceOf = (account: Answer): string => integerIn(account['Balance'], 'Balance').toString();

async function readDestination(
  transport: Transport,
  endpoint: Endpoint,
  { from, to }: Intent,
): Promise<DestinationState | null> {
  const account = await readAccount(transport, endpoint, to);
  if (account === null) return null;
  const takesDeposits =
    !hasFlag(account, 'depositAuth') || from === to || (await isAuthorized(transport, endpoint, from, to));
  return {
    balanceDrops: balanceOf(account),
    requiresTag: hasFlag(account, 'requireDestTag'),
    refusesXrp: hasFlag(account, 'disallowXrp'),
    takesDeposits,
  };
}

async function isAuthorized(transport: Transport, endpoint: Endpoint, from: string, to: string): Promise<boolean> {
  const answer = await tryAsk(transport, endpoint, 'deposit_authorized', {
    source_account: from,
    destination_account: to,
    ledger_index: 'validated',
  });
  if (answer.ok) return answer.result['deposit_authorized'] === true;
  // A sender that is not on the ledger is authorised by nobody.
  if (answer.error.token === 'srcActNotFound') return false;
  throw refusedBy('deposit_authorized', answer.error);
}

async function readToken(
  transport: Transport,
  endpoint: Endpoint,
  { from, to, token }: Intent,
): Promise<TokenState | null> {
  if (token === null) return null;
  const { currency, issuer } = assetOf(token.contract);
  const [root, own, theirs] = await Promise.all([
    readAccount(transport, endpoint, issuer),
    readLines(transport, endpoint, from, { issuer, at: 'current' }),
    from === to ? null : readLines(transport, endpoint, to, { issuer, at: 'validated' }),
  ]);
  return {
    issuer: root === null ? null : issuerOf(root),
    senderLine: lineIn(own, currency, issuer),
    destinationLine: lineIn(theirs, currency, issuer),
  };
}

function issuerOf(root: Answer): IssuerState {
  // An issuer that never set a rate has no such field, one that took it back has 0.
  const rate = integerIn(root['TransferRate'] ?? 0, 'TransferRate');
  return {
    transferRate: (rate === 0n ? RATE_ONE : rate).toString(),
    requiresAuthorization: hasFlag(root, 'requireAuth'),
    globallyFrozen: hasFlag(root, 'globalFreeze'),
  };
}

/**
 * Everything that a build needs, asked of one endpoint so that the figures belong together (V36). All of it is read at
 * `confirmed`, the block hash too: a node that has not finalized it yet takes it with the same preflight level (L32).
 */
import { randomInt } from 'node:crypto';
import { ChainUnavailable, type Intent } from '../chain.ts';
import { countIn, integerIn, listIn, malformed, objectIn } from '../node-answer.ts';
import { accountIn, tokenStateOf, type Account, type Mint, type TokenAccount } from './account.ts';
import { feeOf, SALTS, UNIT_LIMIT_MAX, type Destination, type SolInputs, type TokenInputs } from './fee.ts';
import { latestOf, LATEST, type Heads, type Latest } from './heads.ts';
import { solOf } from './network.ts';
import { ask, askAll, call, contextual, CONFIRMED, FINALIZED, type Node } from './node.ts';
import { encodePayment } from './payment.ts';
import { associatedTokenAddress } from './program-address.ts';
import { SYSTEM_PROGRAM } from './programs.ts';
import { explainTransactionError, logsOf } from './rejection.ts';
import { programsOf, unsignedTransaction } from './signed.ts';
import { plannedPayment } from './unsigned.ts';

const BASE64 = { ...CONFIRMED, encoding: 'base64' } as const;
/** Size of a token account without extensions; used where the real one cannot be simulated. */
const TOKEN_ACCOUNT_BYTES = 165;

/** What is read before the token side is known. */
interface Around {
  readonly latest: Latest;
  readonly finalizedBlockHeight: number;
  readonly rentExempt: bigint;
  readonly sender: Account | null;
  readonly payer: Account | null;
  readonly destination: Account | null;
  readonly mint: Account | null;
}

/** Inputs of an intent from one endpoint. Throws: ChainUnavailable, MalformedReply. */
export async function readBuildInputs(node: Node, heads: Heads, intent: Intent): Promise<SolInputs> {
  const { from, feePayer = from, token } = intent;
  const around = await readAround(node, heads, intent, feePayer);
  const tokenSide = token === null ? null : await readTokenSide(node, intent, token.contract, around);
  const destination = destinationOf(around.destination);
  const writable =
    tokenSide === null ? [feePayer, from, intent.to] : [feePayer, tokenSide.source, tokenSide.destination];
  const [base, prices] = await readPrices(node, around.latest, feePayer, [...new Set(writable)]);
  const inputs: SolInputs = {
    readAtHeight: around.latest.slot,
    blockhash: around.latest.blockhash,
    lastValidBlockHeight: around.latest.lastValidBlockHeight,
    finalizedBlockHeight: around.finalizedBlockHeight,
    lamportsPerSignature: base.toString(),
    rentExempt: around.rentExempt.toString(),
    senderLamports: lamportsOf(around.sender),
    senderIsWallet: isWallet(around.sender),
    feePayer,
    payerLamports: lamportsOf(around.payer),
    payerIsWallet: isWallet(around.payer),
    destination,
    token: tokenSide,
    compute: token === null ? { kind: 'plain' } : { kind: 'none' },
    unitPrice: percentile75(prices).toString(),
    salt: randomInt(SALTS),
  };
  return tokenSide === null ? inputs : { ...inputs, ...(await simulate(node, intent, inputs, tokenSide)) };
}

const lamportsOf = (account: Account | null): string | null => account?.lamports.toString() ?? null;

/** The System program moves lamports out of accounts that it owns and that hold no data. */
function isWallet(account: Account | null): boolean {
  return account === null || (account.owner === SYSTEM_PROGRAM && account.space === 0 && !account.executable);
}

async function readAround(node: Node, heads: Heads, { from, to, token }: Intent, feePayer: string): Promise<Around> {
  const keys = [from, feePayer, to, ...(token === null ? [] : [token.contract])];
  const [latestAnswer, accounts, rent, final] = await askAll(node, [
    LATEST,
    call('getMultipleAccounts', keys, BASE64),
    call('getMinimumBalanceForRentExemption', 0, CONFIRMED),
    call('getBlockHeight', FINALIZED),
  ]);
  const latest = latestOf(latestAnswer);
  heads.accept(node.endpoint, latest.slot);
  const finalizedBlockHeight = countIn(final, 'block height');
  checkLifetime(node, latest, finalizedBlockHeight);
  const [sender, payer, destination, mint] = accountsIn(node, heads, accounts, keys.length);
  return {
    latest,
    finalizedBlockHeight,
    rentExempt: integerIn(rent, 'rent-exempt minimum'),
    sender: sender!,
    payer: payer!,
    destination: destination!,
    mint: mint ?? null,
  };
}

/** The state of a node that is not behind. Throws: ChainUnavailable, MalformedReply. */
function accountsIn(node: Node, heads: Heads, answer: unknown, count: number): readonly (Account | null)[] {
  const { slot, value } = contextual(answer, 'accounts');
  heads.accept(node.endpoint, slot);
  const accounts = listIn(value, 'accounts');
  if (accounts.length !== count) malformed(`${count} accounts were asked for`, value);
  return accounts.map((account) => accountIn(account, 'account'));
}

/**
 * The expiry is what a death is proven by (G27): one that is below the block height of the chain itself, or far beyond
 * a block hash's lifetime, is not believed.
 */
function checkLifetime({ network }: Node, { lastValidBlockHeight }: Latest, finalizedBlockHeight: number): void {
  const left = lastValidBlockHeight - finalizedBlockHeight;
  const { blockhashLifetime, reorgWindow } = solOf(network);
  if (left < blockhashLifetime - 1 || left > blockhashLifetime + reorgWindow) {
    const reason = `an expiry of ${lastValidBlockHeight} at block height ${finalizedBlockHeight}`;
    throw new ChainUnavailable(network.slug, reason);
  }
}

/** 7.1: what the receiver's account is. Sysvars are owned by a program of their own. */
function destinationOf(account: Account | null): Destination {
  if (account === null) return { kind: 'absent' };
  const state = tokenStateOf(account);
  if (state?.kind === 'mint') return { kind: 'dead_end', what: 'a mint' };
  if (state?.kind === 'token_account') return { kind: 'token_account', mint: state.mint, owner: state.owner };
  if (account.executable) return { kind: 'dead_end', what: 'a program' };
  if (account.owner.startsWith('Sysvar')) return { kind: 'dead_end', what: 'a sysvar' };
  return { kind: 'wallet', lamports: account.lamports.toString() };
}

/**
 * The accounts of a token payment, under the program that owns the mint. Throws: ChainUnavailable without such a mint.
 */
async function readTokenSide(node: Node, { from, to }: Intent, contract: string, around: Around): Promise<TokenInputs> {
  const mint = mintOf(node, contract, around.mint);
  const given = around.destination === null ? null : tokenStateOf(around.destination);
  const accountOf = (owner: string) => associatedTokenAddress({ owner, mint: contract, program: mint.program });
  const source = accountOf(from),
    destination = given?.kind === 'token_account' ? to : accountOf(to);
  const asked = call('getMultipleAccounts', [source, destination], BASE64);
  const { value } = contextual(await ask(node, asked), 'token accounts');
  const [held, paid] = listIn(value, 'token accounts').map((account) => accountIn(account, 'token account'));
  if (held === undefined || paid === undefined) malformed('two token accounts were asked for', value);
  const holding = holdingIn(held, contract),
    receiving = holdingIn(paid, contract);
  return {
    program: mint.program,
    decimals: mint.decimals,
    source,
    destination,
    balance: holding?.amount.toString() ?? null,
    refusal: refusalOf(holding, receiving, destination === to ? null : to),
    createRent: receiving === null ? (await readRent(node, TOKEN_ACCOUNT_BYTES)).toString() : null,
  };
}

/** Why two token accounts cannot take part; `owner` is whose the second one must be, null where it was named itself. */
function refusalOf(source: TokenAccount | null, destination: TokenAccount | null, owner: string | null): string | null {
  if (source?.frozen === true) return 'the token account of the sender is frozen';
  if (destination?.frozen === true) return 'the token account of the receiver is frozen';
  // Its owner gave it away: what is sent there is somebody else's.
  const isForeign = destination !== null && owner !== null && destination.owner !== owner;
  return isForeign ? 'the token account of the receiver has another owner' : null;
}

function holdingIn(account: Account | null, mint: string): TokenAccount | null {
  const state = account === null ? null : tokenStateOf(account);
  return state?.kind === 'token_account' && state.mint === mint ? state : null;
}

function mintOf({ network }: Node, contract: string, account: Account | null): Mint {
  const state = account === null ? null : tokenStateOf(account);
  if (state?.kind !== 'mint') throw new ChainUnavailable(network.slug, `${contract} is no mint`);
  return state;
}

async function readRent(node: Node, bytes: number): Promise<bigint> {
  return integerIn(await ask(node, call('getMinimumBalanceForRentExemption', bytes, CONFIRMED)), 'rent-exempt minimum');
}

/**
 * The base fee of one signature, asked for a message without a price, and what recent blocks took for these accounts.
 */
async function readPrices(
  node: Node,
  { blockhash }: Latest,
  feePayer: string,
  writable: readonly string[],
): Promise<readonly [base: bigint, prices: readonly bigint[]]> {
  const unpriced = encodePayment({
    feePayer,
    from: feePayer,
    blockhash,
    unitLimit: UNIT_LIMIT_MAX,
    microLamportsPerUnit: 0n,
    amount: 0n,
    asset: { kind: 'native', to: feePayer },
  });
  const [fee, recent] = await askAll(node, [
    call('getFeeForMessage', Buffer.from(unpriced).toString('base64'), CONFIRMED),
    call('getRecentPrioritizationFees', writable),
  ]);
  const { value } = contextual(fee, 'getFeeForMessage');
  if (value === null) throw new ChainUnavailable(node.network.slug, 'the node does not know its own block hash');
  const prices = listIn(recent, 'prioritization fees').map((one) =>
    integerIn(objectIn(one, 'prioritization fee')['prioritizationFee'], 'prioritization fee'),
  );
  return [integerIn(value, 'fee of a message'), prices];
}

/** L27. Zero where nobody paid any. */
function percentile75(values: readonly bigint[]): bigint {
  const sorted = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return sorted[Math.floor((sorted.length * 3) / 4)] ?? 0n;
}

/**
 * L27, L29: what the payment uses, and the rent of the account that it creates, as the chain's own program sizes it. A
 * payment that the sender cannot make anyway is not simulated: the builder refuses it with figures.
 */
async function simulate(
  node: Node,
  intent: Intent,
  inputs: SolInputs,
  token: TokenInputs,
): Promise<Pick<SolInputs, 'compute' | 'token'>> {
  const amount = intent.amount === 'all' ? BigInt(token.balance ?? '0') : intent.amount;
  const fee = feeOf(inputs, intent.from, { unitLimit: 0, microLamportsPerUnit: 0n });
  const isShort =
    amount === 0n || BigInt(token.balance ?? '0') < amount || BigInt(inputs.payerLamports ?? '0') < fee.fee + fee.rent;
  if (isShort || token.refusal !== null) return { compute: { kind: 'none' }, token };
  const compute = { unitLimit: UNIT_LIMIT_MAX, microLamportsPerUnit: 0n };
  const message = encodePayment(plannedPayment({ ...inputs, token }, intent, amount, compute));
  const asked = call('simulateTransaction', Buffer.from(unsignedTransaction(message)).toString('base64'), {
    ...BASE64,
    sigVerify: false,
    replaceRecentBlockhash: true,
    accounts: { encoding: 'base64', addresses: [token.destination] },
  });
  const result = objectIn(contextual(await ask(node, asked), 'simulation').value, 'simulation');
  if (result['err'] !== null && result['err'] !== undefined) {
    const verdict = explainTransactionError(result['err'], programsOf(message), logsOf(result['logs']));
    if (verdict.kind !== 'rejected') {
      throw new ChainUnavailable(node.network.slug, `simulation: ${JSON.stringify(result['err'])}`);
    }
    return { compute: { kind: 'failed', code: verdict.code, reason: verdict.reason }, token };
  }
  const [created] = listIn(result['accounts'], 'accounts of the simulation').map((account) =>
    accountIn(account, 'created account'),
  );
  const createRent =
    token.createRent === null || created === undefined || created === null
      ? token.createRent
      : (await readRent(node, created.space)).toString();
  const units = countIn(result['unitsConsumed'], 'unitsConsumed');
  return { compute: { kind: 'simulated', units }, token: { ...token, createRent } };
}

/**
 * What the demo shows: address → paid → detected → confirmed → balance → reorg → withdrawal → confirmed; where tokens
 * need an opt-in also opt-in → token paid → token withdrawn.
 */
import type { Receiver, ReceivedEvent } from '../gateway/cli/webhook-receiver.ts';
import type { Client } from '../protocol/client.ts';
import { isRefusal } from '../protocol/errors.ts';
import { formatAmount } from '../protocol/money.ts';
import { EVENTS, type Chain } from '../protocol/slugs.ts';
import type { StageToken } from './demo-stage.ts';
import type { Stage } from './demo-stage.ts';

export interface StoryParts {
  chain: Chain;
  stage: Stage;
  client: Client;
  receiver: Receiver;
  say(line: string): void;
}

export function check(held: boolean, claim: string): void {
  if (!held) throw new Error(`check failed: ${claim}`);
}

export const of =
  (event: string, txid: string) =>
  (got: ReceivedEvent): boolean =>
    got.event === event && got.data['txid'] === txid;

/** Waits until a read answers what is expected: polls every 50 ms, bounded. */
export async function until<T>(
  what: string,
  read: () => Promise<T>,
  good: (value: T) => boolean,
  timeoutMs = 30_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await read();
    if (good(value)) return value;
    if (performance.now() > deadline)
      throw new Error(`${what}: not within ${timeoutMs} ms; last ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Plays the story; throws at the first check that does not hold. */
export async function runStory(parts: StoryParts): Promise<void> {
  const { chain, stage, client, receiver, say } = parts;
  const unit = stage.unit ?? 10n ** BigInt(stage.decimals);
  const show = (amount: bigint) => `${formatAmount(amount, stage.decimals)} ${chain}`;

  // An edge listens before the cloud has confirmed its registration, and refuses until then.
  await until(
    'readiness',
    () => client.call('getEdgeReadiness'),
    (view) => !isRefusal(view) && view.content.some((row) => row.chain === chain && row.state === 'ready'),
  );
  const webhook = await client.must('createWebhook', { body: { url: receiver.url, events: [...EVENTS] } });
  receiver.setSecret(webhook.secret);
  say(`1. The application registers its webhook at ${receiver.url}; the secret is shown once.`);

  const address = await client.must('createAddress', {
    body: { chain, userRef: 'customer-42', tag: 'demo' },
    idempotencyKey: 'demo-address',
  });
  say(`2. The edge issues a deposit address it derived itself: ${address.address} (${address.derivationPath})`);

  const amount = unit / 2n;
  const paid = await stage.pay(address.address, amount);
  const detected = await receiver.next(of('deposit_detected', paid.txid));
  check(
    detected.data['amount'] === amount.toString() && detected.data['userRef'] === 'customer-42',
    'the detected deposit is the payment',
  );
  say(
    `3. Somebody pays ${show(amount)} from outside: deposit_detected arrived, signed and verified, ${Math.round(detected.atMs - paid.blockAtMs)} ms after the block.`,
  );

  if (stage.activates === true) {
    const activated = await receiver.next(of('address_activated', paid.txid));
    check(activated.data['address'] === address.address, 'the activated account is the address');
    say('   The payment made the account on the ledger: address_activated.');
  }

  await stage.mine(stage.threshold - 1);
  const minedAtMs = performance.timeOrigin + performance.now();
  const confirmed = await receiver.next(of('deposit_confirmed', paid.txid));
  check(receiver.received.filter(of('deposit_confirmed', paid.txid)).length === 1, 'one deposit_confirmed');
  say(
    `4. ${stage.threshold} confirmations: deposit_confirmed ${Math.round(confirmed.atMs - minedAtMs)} ms after the last block. Credit it now.`,
  );

  const balance = await client.must('getBalance', { params: { chain, address: address.address } });
  check(balance.amount === amount.toString(), `the balance is ${show(amount)}, got ${balance.amount}`);
  say(
    `5. Balance as the chain says: ${balance.amountFormatted}, available ${formatAmount(BigInt(balance.available), stage.decimals)}.`,
  );

  if (stage.reorgs) await showReorg(parts, address.address, unit / 4n);
  else say('6. What this ledger has validated is final: there is no reorg to play.');
  await showWithdrawal(parts, address.address, unit / 10n);
  if (stage.token !== undefined) await showToken(parts, stage.token, address.address);
  check(receiver.refused() === 0, 'every delivery verified');
  const ids = new Map<string, string>();
  for (const { id, raw } of receiver.received) {
    check((ids.get(id) ?? raw) === raw, `event ${id} always has the same bytes`);
    ids.set(id, raw);
  }
  say(
    `${stage.token === undefined ? 8 : 10}. ${receiver.received.length} deliveries, ${ids.size} events, all signatures verified.`,
  );
}

async function showReorg({ stage, receiver, say }: StoryParts, address: string, amount: bigint): Promise<void> {
  const paid = await stage.pay(address, amount);
  await receiver.next(of('deposit_detected', paid.txid));
  await stage.reorg(2);
  await stage.mine(1);
  const reversed = await receiver.next(of('deposit_reversed', paid.txid));
  await stage.mine(stage.threshold + 2);
  check(
    !receiver.received.some(of('deposit_confirmed', paid.txid)),
    'a payment that left the chain is never confirmed',
  );
  say(`6. A second payment is seen, then a reorg takes its block: ${reversed.event}, and it is never confirmed.`);
}

async function showWithdrawal(
  { chain, stage, client, receiver, say }: StoryParts,
  from: string,
  amount: bigint,
): Promise<void> {
  const before = await stage.balanceOf(stage.outsider);
  const built = await client.must('buildTransaction', {
    body: { chain, from, to: stage.outsider, amount: amount.toString() },
  });
  const sent = await client.must('broadcastTransaction', { params: { id: built.id } });
  await stage.mine(1);
  await receiver.next((got) => got.event === 'withdrawal_broadcast' && got.data['transactionId'] === built.id);
  await stage.mine(stage.threshold);
  const confirmed = await receiver.next(
    (got) => got.event === 'withdrawal_confirmed' && got.data['transactionId'] === built.id,
  );
  check((await stage.balanceOf(stage.outsider)) - before === amount, 'the destination got exactly the amount');
  check(confirmed.data['txid'] === sent.txid, 'the confirmed transaction is the one that the edge signed');
  say(
    `7. Withdrawal: built by the cloud, checked and signed by the edge (${sent.txid?.slice(0, 18)}…), broadcast, withdrawal_confirmed.`,
  );
}

/** Signs what was built, and waits until it is confirmed. */
async function settle({ stage, client, receiver }: StoryParts, id: string): Promise<void> {
  await client.must('broadcastTransaction', { params: { id } });
  await stage.mine(1);
  await receiver.next((got) => got.event === 'withdrawal_confirmed' && got.data['transactionId'] === id);
}

async function showToken(parts: StoryParts, token: StageToken, address: string): Promise<void> {
  const { chain, client, receiver, say } = parts,
    { contract, symbol, decimals } = token;
  const amount = 10n ** BigInt(decimals) * 25n,
    half = amount / 2n,
    show = (units: bigint) => `${formatAmount(units, decimals)} ${symbol}`;
  const opened = await client.must('createTrustline', { params: { address }, body: { chain, asset: contract } });
  await settle(parts, opened.id);
  const again = await client.call('createTrustline', { params: { address }, body: { chain, asset: contract } });
  check('code' in again && again.code === 'CONFLICT', `a second opt-in is a CONFLICT, got ${JSON.stringify(again)}`);
  say(
    `8. Trust line for ${symbol}: built by the cloud, checked and signed by the edge, confirmed; a second one is a CONFLICT.`,
  );

  const paid = await token.pay(address, amount);
  const detected = await receiver.next(of('deposit_detected', paid.txid));
  check(
    detected.data['tokenContract'] === contract && detected.data['amount'] === amount.toString(),
    'the deposit is of the token',
  );
  await receiver.next(of('deposit_confirmed', paid.txid));
  const held = await client.must('getTokenBalance', { params: { chain, address, token: contract } });
  check(held.amount === amount.toString(), `the token balance is ${show(amount)}, got ${held.amount}`);
  const before = await token.balanceOf(token.outsider);
  const body = { chain, from: address, to: token.outsider, amount: half.toString(), tokenContract: contract };
  await settle(parts, (await client.must('buildTransaction', { body })).id);
  check((await token.balanceOf(token.outsider)) - before === half, 'the destination got exactly the tokens');
  say(`9. ${show(amount)} come in, detected and confirmed; ${show(half)} go out again, signed by the edge.`);
}

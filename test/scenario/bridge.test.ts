/**
 * USDC from the treasury of one chain to that of another: real cloud and edge, two EVM nodes, contracts and attester
 * that are stand-ins (test/support/cctp). Treasury H1–H13, A14.
 */
import test from 'ava';
import { encodeMint, MESSAGE_TRANSMITTER } from '../../chains/evm/cctp.ts';
import { isRefusal } from '../../protocol/errors.ts';
import type { Fills } from '../support/cctp/attester.ts';
import type { Answer, Plan } from '../support/cctp/service.ts';
import { patiently } from '../support/patience.ts';
import { openBridgeWorld, type BridgeWorld, type Transfer } from '../support/cctp/world.ts';

const THOUSAND = 1_000_000_000n;
const ROLES = ['approve', 'burn', 'mint'];
const STRANGER = '0x00000000000000000000000000000000000000d4';

const world: BridgeWorld = await openBridgeWorld();
const { client, from, to, treasury, service } = world;
const { id: policyId } = await world.policy({ maxInFlightCount: 3 });
await from.mint(treasury, 1_000n * THOUSAND);
test.after.always(() => world.close());

const isOver = ({ endedAt }: Transfer): boolean => endedAt !== null;
const begin = async (amount = THOUSAND): Promise<string> =>
  (await client.must('createBridgeTransfer', { body: { policyId, amount: String(amount) } })).id;
const inFlight = async () => {
  const { inFlightCount, inFlightValue } = await client.must('getBridgePolicy', { params: { policyId } });
  return [inFlightCount, BigInt(inFlightValue)] as const;
};
/** What was built for the company, oldest first. */
const outgoing = (): Promise<{ kind: string; status: string }[]> =>
  world.sql`select kind, status from flock.withdrawal order by created_at, id`;
/** What both treasuries hold. */
const held = async () => [await from.balanceOf(treasury), await to.balanceOf(treasury)] as const;
const stalledFor = (reason: string) => (transfer: Transfer) => transfer.stalled?.reason === reason;

interface Message {
  readonly status: string;
  readonly message: string;
  readonly attestation: string;
}
const messageIn = (honest: Answer): Message | undefined => (honest.body as { messages?: Message[] }).messages?.[0];
/** An answer whose message or attestation is another one. */
const altered = (honest: Answer, change: (message: Message) => Partial<Message>): Answer => {
  const message = messageIn(honest);
  return message?.status === 'complete'
    ? { status: 200, body: { messages: [{ ...message, ...change(message) }] } }
    : honest;
};
const flipped = (hex: string, byte: number): string => {
  const bytes = Buffer.from(hex.slice(2), 'hex');
  bytes[byte]! ^= 0x01;
  return `0x${bytes.toString('hex')}`;
};

test.serial('treasury H3, H5, H10, H12: 1,000 USDC go from Ethereum to Base, billed to nobody', async (t) => {
  const used = await world.atCloud.must('getUsage');
  const id = await begin();
  const done = await world.reaches(id, 'it has arrived', isOver);
  t.like(done, { state: 'COMPLETED', received: String(THOUSAND), reason: null, maxFee: '0' }, JSON.stringify(done));
  t.deepEqual(await held(), [999n * THOUSAND, THOUSAND]);
  t.deepEqual(await inFlight(), [0, 0n]);
  t.like(await client.call('retryBridgeTransfer', { params: { id } }), { code: 'CONFLICT' });
  t.deepEqual(await world.atCloud.must('getUsage'), used);
  t.deepEqual([...new Set((await outgoing()).map(({ kind }) => kind))], ['sweep']);
});

test.serial('treasury H4: of fifty at once three are taken, and no limit is passed', async (t) => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, () =>
      client.call('createBridgeTransfer', { body: { policyId, amount: String(THOUSAND) } }),
    ),
  );
  const taken = answers.filter((answer) => !isRefusal(answer)) as Transfer[],
    refused = answers.filter((answer) => isRefusal(answer));
  t.is(taken.length, 3);
  t.deepEqual(
    [...new Set(refused.map(({ code, details }) => `${code} ${String(details['limit'])}`))],
    ['AMOUNT_CAP_EXCEEDED maxInFlightCount'],
  );
  t.deepEqual(await inFlight(), [3, 3n * THOUSAND]);
  for (const { id } of taken) t.is((await world.reaches(id, 'it has arrived', isOver)).state, 'COMPLETED');
  t.deepEqual(await inFlight(), [0, 0n]);
  const above = await client.call('createBridgeTransfer', { body: { policyId, amount: '5000000001' } });
  t.like(above, { code: 'AMOUNT_CAP_EXCEEDED', details: { limit: 'maxSingleTransfer' } });
});

/** What a service may say in place of the truth: each is waited out, and minted is what was burnt. */
const LIES: readonly Plan[] = [
  () => ({ status: 404, body: { error: 'Message not found' } }),
  () => ({ status: 200, body: { messages: [] } }),
  () => ({ status: 200, body: { messages: [{ status: 'pending_confirmations', message: '0x', attestation: '' }] } }),
  () => ({ status: 500, body: 'no' }),
  () => ({ status: 200, body: '{"messages":[{"status":"complete"' }),
  () => ({ status: 200, body: { messages: [{ status: 'complete', message: 'PENDING', attestation: '0x' }] } }),
  // Another recipient.
  (honest) => altered(honest, ({ message }) => ({ message: flipped(message, 215) })),
  // No attester signed it: the contract says so before anything is signed here.
  (honest) => altered(honest, ({ attestation }) => ({ attestation: flipped(attestation, 3) })),
];

test.serial(
  'C11-35, treasury H7, H8, H10, H11: no answer but the attested message of the burn is minted',
  async (t) => {
    const before = await held(),
      built = await outgoing();
    const seen = new Set<string>();
    let lie: Plan = LIES[0]!;
    service.plan = (honest, asked) => lie(honest, asked);
    const id = await begin();
    /** The transfer after it was answered so twice: the first look may have begun before. */
    const after = async (fills: Fills, told: Plan): Promise<void> => {
      lie = told;
      service.fills = fills;
      const from = service.asked;
      const { stalled, state } = await world.reaches(id, 'it was asked', () => service.asked >= from + 2);
      t.is(state, 'ATTESTING');
      seen.add(stalled?.reason ?? 'none');
    };
    for (const told of LIES) await after({}, told);
    // A fee that the burn does not allow, and a burn that is not final.
    for (const fills of [{ fee: 1n }, { finality: 1_000 }]) await after(fills, (honest) => honest);
    t.deepEqual([...seen].sort(), ['message_differs', 'none']);
    t.deepEqual(await inFlight(), [1, THOUSAND]);
    lie = (honest) => honest;
    service.fills = {};
    const done = await world.reaches(id, 'it has arrived', isOver);
    t.deepEqual([done.state, done.received, done.stalled], ['COMPLETED', String(THOUSAND), null]);
    t.deepEqual(await held(), [before[0] - THOUSAND, before[1] + THOUSAND], 'once, and whole');
    t.deepEqual(await inFlight(), [0, 0n]);
    t.deepEqual(
      (await outgoing()).slice(built.length).map(({ kind, status }) => [kind, status]),
      ROLES.map(() => ['sweep', 'confirmed']),
      'no mint was tried in vain',
    );
  },
);

test.serial('treasury H10: a mint that a stranger sent is found, and it has arrived', async (t) => {
  const before = await held();
  let seen: Message | null = null;
  service.plan = (honest) => {
    seen = messageIn(honest)?.status === 'complete' ? messageIn(honest)! : null;
    return { status: 404, body: {} };
  };
  const id = await begin();
  await world.reaches(id, 'it is attested', () => seen !== null);
  const { message, attestation } = seen! as Message;
  await to.send(STRANGER, MESSAGE_TRANSMITTER, encodeMint(message, attestation));
  service.plan = (honest) => honest;
  const done = await world.reaches(id, 'it is found', isOver);
  t.like(done, { state: 'COMPLETED', received: String(THOUSAND) });
  t.deepEqual(await held(), [before[0] - THOUSAND, before[1] + THOUSAND]);
});

test.serial('treasury H12: a burn that a reorg took out of the chain is sent again, and burns once', async (t) => {
  const before = await held();
  service.plan = () => ({ status: 404, body: {} });
  const id = await begin();
  let snapshot = '';
  await patiently(
    'it is burnt',
    async () => {
      const { state } = await world.step(id);
      if (state === 'APPROVING') snapshot = await from.node.rpc<string>('evm_snapshot');
      return state;
    },
    (state) => state === 'ATTESTING',
  );
  await from.node.rpc('evm_revert', [snapshot]);
  await from.node.rpc('anvil_dropAllTransactions');
  t.is(await from.balanceOf(treasury), before[0], 'the chain knows of no burn');
  service.plan = (honest) => honest;
  const done = await world.reaches(id, 'it has arrived', isOver);
  t.like(done, { state: 'COMPLETED', received: String(THOUSAND) });
  t.deepEqual(await held(), [before[0] - THOUSAND, before[1] + THOUSAND]);
});

test.serial('C11-34, treasury H10: a mint that brought nothing is said, not repeated, and counted on', async (t) => {
  const before = await held();
  await to.setMintsNothing(true);
  const id = await begin();
  const stuck = await world.reaches(id, 'it is said', stalledFor('minted_nothing'));
  t.is(stuck.state, 'MINTING');
  await to.setMintsNothing(false);
  await client.must('retryBridgeTransfer', { params: { id } });
  await world.mine(10);
  t.like(await client.must('getBridgeTransfer', { params: { id } }), {
    state: 'MINTING',
    mintTransactionId: stuck.mintTransactionId,
  });
  t.deepEqual(await held(), [before[0] - THOUSAND, before[1]]);
  t.deepEqual(await inFlight(), [1, THOUSAND], 'money is on its way until somebody knows where it is');
});

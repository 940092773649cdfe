/** How a token that was asked for comes into the catalogue: signed, published, watched from then on. Treasury K, Q. */
import { setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import { io, type Socket } from 'socket.io-client';
import { registrySigningText } from '../../chains/registry-signature.ts';
import { registryText, type Registry } from '../../chains/catalogue.ts';
import { eth } from '../../chains/evm/network.ts';
import { createClient } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { STREAM_PATH, type RegistryFrame } from '../../protocol/frames.ts';
import { newId } from '../../protocol/node/ids.ts';
import { startAnvil } from '../support/anvil.ts';
import { REGISTRY_KEYS, registryIn, STRANGER } from '../support/edge/registry.ts';
import { tokenCode } from '../support/evm-contracts.ts';
import { enrol, eventually, startTestCloud, type Person, type TestEdge } from '../support/gateway.ts';

const TOKEN = '0x1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c',
  PAYER = '0x00000000000000000000000000000000000000aa';
const word = (value: bigint) => value.toString(16).padStart(64, '0');
const mintCall = (to: string, amount: bigint) => `0x40c10f19${word(BigInt(to))}${word(amount)}`;
const transferCall = (to: string, amount: bigint) => `0xa9059cbb${word(BigInt(to))}${word(amount)}`;

function streamOf(url: string, edge: TestEdge, apiKey: string): Socket {
  return io(url, {
    path: STREAM_PATH,
    transports: ['websocket'],
    reconnection: false,
    auth: {
      headers: { 'x-api-key': apiKey, ...edge.sign({ method: 'GET', url: url + STREAM_PATH }) },
      sessionId: newId('ses', Date.now()),
      edgeVersion: '1.0.0',
      podHint: null,
    },
  });
}

test('treasury K7, K10, K11, K12, K13, K14, K16, Q5, Q6, Q7: a token is published by two people and two keys, and credited from then on', async (t) => {
  const anvil = await startAnvil(t, eth);
  const cloud = await startTestCloud({
    ETH_RPC_URLS: anvil.url,
    ETH_POLL_MS: '50',
    REGISTRY_KEYS: REGISTRY_KEYS.map(({ publicKey }) => publicKey).join(),
  });
  t.teardown(() => cloud.stop());
  const { live } = await cloud.organization(),
    { client } = live,
    edge = await enrol(cloud, live);
  await anvil.fund(PAYER, 10n ** 20n);
  await anvil.setCode(TOKEN, tokenCode({ decimals: 6, symbol: 'EURC' }));
  await anvil.send({ from: PAYER, to: TOKEN, data: mintCall(PAYER, 1_000_000_000n) });
  await anvil.mine();
  const clientOf = async (person: Person) => createClient({ baseUrl: cloud.url, bearer: await cloud.signIn(person) });
  const [first, second] = [
    await clientOf(await cloud.person({ admin: true })),
    await clientOf(await cloud.person({ admin: true })),
  ];
  const frames: RegistryFrame[] = [];
  const socket = streamOf(cloud.url, edge, live.apiKey);
  t.teardown(() => socket.disconnect());
  socket.on('registry', (frame: RegistryFrame) => void frames.push(frame));

  const { address } = await client.must('createAddress', { body: { chain: 'eth', userRef: 'customer-1' } });
  const pay = async (amount: bigint) => {
    await anvil.send({ from: PAYER, to: TOKEN, data: transferCall(address, amount) });
    await anvil.mine(13);
  };
  const credited = async () =>
    (await client.must('listTransactions', { query: { direction: 'in' } })).content.map(({ amount }) => amount);
  const followed = async () => {
    const head = await anvil.height();
    return eventually(
      'the blocks are read',
      () => client.must('getCoverage', { params: { chain: 'eth' } }),
      ({ completeHeight }) => completeHeight !== null && completeHeight >= head,
    );
  };
  await pay(11n);
  await followed();
  t.deepEqual(await credited(), [], 'what is in no catalogue is not seen');

  const asked = await client.must('requestToken', {
    body: { chain: 'eth', contractAddress: TOKEN, symbol: 'EURC', decimals: 6 },
  });
  const params = { id: asked.id };
  await eventually(
    'the contract is read',
    () => client.must('listTokenRequests'),
    ({ content }) => content[0]!.onChain !== null,
  );
  const refusalOf = async (answer: Promise<unknown>) => {
    const outcome = (await answer) as { code?: string; details?: { reason?: string } };
    return [outcome.code, outcome.details?.reason];
  };
  t.deepEqual(await refusalOf(second.call('proposeTokenVersion', { params })), ['CONFLICT', 'state']);
  await first.must('acceptTokenRequest', { params, body: { acknowledgedHazards: [] } });
  const proposed = await second.must('proposeTokenVersion', { params });
  t.like(proposed, { version: 2 });
  const signed = (content: string, signers = REGISTRY_KEYS.slice(0, 2)) => ({
    content,
    signatures: signers.map((signer) =>
      signer.sign(registrySigningText(JSON.parse(content) as Registry)).toString('hex'),
    ),
    acknowledgedHazards: [] as 'pausable'[],
  });
  const changed = (change: (copy: Registry) => void) => {
    const copy = JSON.parse(proposed.content) as Registry;
    change(copy);
    return registryText(copy);
  };
  const publish = (by: typeof first, body: ReturnType<typeof signed>) =>
    by.call('publishTokenRequest', { params, body });
  for (const [by, body, ...refusal] of [
    [first, signed(proposed.content), 'FORBIDDEN', 'same_person'],
    [second, signed(proposed.content, [REGISTRY_KEYS[0]!, REGISTRY_KEYS[0]!]), 'INVALID_INPUT', 'registry_not_signed'],
    [second, signed(proposed.content, [REGISTRY_KEYS[0]!, STRANGER]), 'INVALID_INPUT', 'registry_not_signed'],
    [second, { ...signed(proposed.content), content: `${proposed.content} ` }, 'INVALID_INPUT', 'not_canonical'],
    [second, signed(changed((copy) => (copy.version = 3))), 'CONFLICT', 'registry_moved'],
    [
      second,
      signed(changed(({ tokens }) => (tokens[0]!.deployments[0]!.sweepable = false))),
      'INVALID_INPUT',
      'not_the_proposal',
    ],
    [
      second,
      signed(changed(({ tokens }) => (tokens.at(-1)!.deployments[0]!.decimals = 7))),
      'INVALID_INPUT',
      'not_the_proposal',
    ],
    [second, { ...signed(proposed.content), acknowledgedHazards: ['pausable'] }, 'CONFLICT', 'hazard'],
  ] satisfies [typeof first, ReturnType<typeof signed>, string, string][])
    t.deepEqual(await refusalOf(publish(by, body)), refusal, refusal.join());
  t.is((await client.must('listTokenRequests')).content[0]!.state, 'accepted', 'nothing was written');
  await anvil.setCode(TOKEN, tokenCode({ decimals: 7, symbol: 'EURC' }));
  t.deepEqual(await refusalOf(publish(second, signed(proposed.content))), ['CONFLICT', 'changed_on_chain']);
  await anvil.setCode(TOKEN, tokenCode({ decimals: 6, symbol: 'EURC' }));

  t.like(await second.must('publishTokenRequest', { params, body: signed(proposed.content) }), { state: 'published' });
  t.deepEqual(await refusalOf(publish(second, signed(proposed.content))), ['CONFLICT', 'registry_moved']);
  t.like((await client.must('listTokenRequests')).content[0], { state: 'published', monitored: true });
  const start = await eventually(
    'a block is read with the version',
    async () => {
      await anvil.mine();
      return cloud.database.owner`select height from flock.registry_start where ledger = 'eth' and version = 2`;
    },
    ({ length }) => length > 0,
  );
  const listed = (await client.must('listTokens')).content.find(({ symbol }) => symbol === 'EURC');
  t.like(listed?.deployments[0], { chain: 'eth', contractAddress: TOKEN, decimals: 6, hazards: [] });
  t.is(listed?.deployments[0]?.activeFrom, Number(start[0]!['height']));
  const shown = async (query: object) => {
    const { registryVersion, content } = await client.must('listTokens', { query });
    return [registryVersion, content.some(({ symbol }) => symbol === 'EURC')];
  };
  t.deepEqual(await shown({}), [2, true], 'K16');
  t.deepEqual(await shown({ version: '1' }), [1, false], 'K16: any published one');
  t.deepEqual(await refusalOf(client.call('listTokens', { query: { version: '3' } })), ['NOT_FOUND', undefined]);
  await pay(22n);
  await eventually('the deposit is there', credited, ({ length }) => length > 0);
  await followed();
  t.deepEqual(await credited(), ['22'], 'K13: what came before is not credited');

  while (frames.length === 0) await turn();
  t.is(frames[0]!.version, 2);
  t.is(registryIn().take(frames[0]!), null, 'an edge takes it');
  const later = streamOf(cloud.url, edge, live.apiKey);
  t.teardown(() => later.disconnect());
  const frame = await new Promise<RegistryFrame>((resolve) => later.once('registry', resolve));
  t.is(frame.version, 2, 'and whoever connects later');
  t.false(isRefusal(proposed as never));
});

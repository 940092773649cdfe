/** Changes to the token registry: one administrator proposes, two keys sign, another administrator publishes. */
import test from 'ava';
import { registryText, shippedRegistry, type Registry } from '../../chains/catalogue.ts';
import { TOKEN_MESSENGER } from '../../chains/evm/cctp.ts';
import { registrySigningText } from '../../chains/registry-signature.ts';
import { createClient, type Client } from '../../protocol/client.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { newId } from '../../protocol/node/ids.ts';
import type { BodyOf } from '../../protocol/routes.ts';
import { REGISTRY_KEYS, registryIn, frameOfVersion, STRANGER } from '../support/edge/registry.ts';
import { startTestCloud, type Person } from '../support/gateway.ts';

const cloud = await startTestCloud({ REGISTRY_KEYS: REGISTRY_KEYS.map(({ publicKey }) => publicKey).join() });
const [{ live, owner }, one, two] = [
  await cloud.organization(),
  await cloud.person({ admin: true }),
  await cloud.person({ admin: true }),
];
const clientOf = async (person: Person) => createClient({ baseUrl: cloud.url, bearer: await cloud.signIn(person) });
const [first, second, asOwner] = [await clientOf(one), await clientOf(two), await clientOf(owner)];
test.after.always(() => cloud.stop());

type Change = BodyOf<'proposeRegistryVersion'>;
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  DAI_E = '0xd586E7F844cEa2F87f50152665BCbc2C279D8d70';
const way = (from: string, to: string, status: 'open' | 'closed' = 'open', symbol = 'USDC') =>
  ({ symbol, from, to, status }) as NonNullable<Change['routes']>[number];
const nobodys = newId('rgp', Date.now());
const REASON = 'the issuer keeps the old contract';
const withdraw = (id: string, by: Client = second) =>
  by.call('withdrawRegistryProposal', { params: { id }, body: { reason: REASON } });

const refusalOf = async (asked: Promise<unknown>) => {
  const outcome = await asked;
  if (!isRefusal(outcome as never)) throw new Error(`not refused: ${JSON.stringify(outcome)}`);
  const { code, details } = outcome as { code: string; details: { reason?: string; field?: string } };
  return [code, details.reason, details.field];
};
const propose = (body: object, by: Client = first) => by.call('proposeRegistryVersion', { body: body as Change });
const proposed = (body: object) => first.must('proposeRegistryVersion', { body: body as Change });
const versionOf = (id: string) => second.must('getProposedVersion', { params: { id } });
const signed = (content: string, signers = REGISTRY_KEYS.slice(0, 2)) => ({
  content,
  signatures: signers.map((signer) =>
    signer.sign(registrySigningText(JSON.parse(content) as Registry)).toString('hex'),
  ),
});
const publish = (id: string, body: ReturnType<typeof signed>, by: Client = second) =>
  by.call('publishRegistryProposal', { params: { id }, body });
const stateOf = async (id: string) => (await first.must('getRegistryProposal', { params: { id } })).state;
const routeOf = async (from: string, to: string) =>
  (await live.client.must('listTokenRoutes')).routes.find(
    (one) => one.symbol === 'USDC' && one.from === from && one.to === to,
  )!;

test.serial('treasury K8, K9, H1: what may not change, or is not known, is refused by its field', async (t) => {
  const usdc = { chain: 'eth', contract: USDC };
  for (const [body, ...refusal] of [
    [{ deployments: [{ ...usdc, decimals: 7 }] }, 'INVALID_INPUT', undefined, 'deployments.0'],
    [{ deployments: [{ ...usdc, kind: 'bridged' }] }, 'INVALID_INPUT', undefined, 'deployments.0'],
    [{ deployments: [{ ...usdc, chain: 'doge' }] }, 'INVALID_CHAIN', undefined, 'deployments.0.chain'],
    [{ deployments: [{ ...usdc, contract: '0x1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c' }] }, 'TOKEN_NOT_SUPPORTED'],
    [{ deployments: [{ ...usdc, chain: 'bsc' }] }, 'TOKEN_NOT_ON_CHAIN'],
    [
      { deployments: [{ chain: 'avax', contract: DAI_E, bridgeable: true }] },
      ...['INVALID_INPUT', 'not_redeemable', 'deployments.0.bridgeable'],
    ],
    [{ deployments: [{ ...usdc, symbol: 'DAI' }] }, 'CONFLICT', 'symbol_taken'],
    [{ deployments: [usdc, usdc] }, 'INVALID_INPUT', 'said_twice', 'deployments.1'],
    [{ deployments: [{ ...usdc, monitored: true }] }, 'INVALID_INPUT', 'no_change', 'deployments'],
    [{}, 'INVALID_INPUT', 'no_change', 'deployments'],
    [{ routes: [way('eth', 'base'), way('eth', 'base')] }, 'INVALID_INPUT', 'said_twice', 'routes.1'],
    [{ routes: [way('eth', 'base'), way('eth', 'sol')] }, 'INVALID_INPUT', 'route_not_pinned', 'routes.1'],
    [{ routes: [way('eth', 'eth')] }, 'INVALID_INPUT', 'route_not_pinned', 'routes.0'],
    [{ routes: [way('eth', 'polygon', 'open', 'USDT')] }, 'INVALID_INPUT', 'route_not_pinned', 'routes.0'],
    [{ routes: [{ ...way('eth', 'base'), messenger: USDC }] }, 'INVALID_INPUT', undefined, 'routes.0'],
    [
      { deployments: [{ ...usdc, deprecated: true }], routes: [way('eth', 'base')] },
      ...['INVALID_INPUT', 'route_not_pinned', 'routes.0'],
    ],
  ] as [object, string, string | undefined, string | undefined][]) {
    const [code, reason, field] = await refusalOf(propose(body));
    t.is(code, refusal[0], JSON.stringify(body));
    if (refusal[1] !== undefined) t.is(reason, refusal[1], JSON.stringify(body));
    if (refusal[2] !== undefined) t.true(field?.startsWith(refusal[2]), `${field}: ${JSON.stringify(body)}`);
  }
  t.is((await refusalOf(propose({ routes: [way('eth', 'base')] }, asOwner)))[0], 'FORBIDDEN');
  t.deepEqual((await first.must('listRegistryProposals')).content, [], 'nothing was kept');
});

test.serial('treasury K7, K8, K10, H1: a route is opened by two administrators and two keys, once', async (t) => {
  const { id, ...kept } = await proposed({ routes: [way('eth', 'base')] });
  t.like(kept, { state: 'proposed', against: 1, version: null, proposedBy: one.id, publishedBy: null });
  const { version, content, differences } = await versionOf(id);
  t.is(version, 2);
  t.deepEqual(differences, [
    { symbol: 'USDC', chain: 'eth', to: 'base', contract: null, field: 'route', was: 'closed', becomes: 'open' },
  ]);
  t.deepEqual(
    (JSON.parse(content) as Registry).routes.map(({ from, to, messenger }) => [from, to, messenger]),
    [['eth', 'base', TOKEN_MESSENGER]],
  );
  const changed = (change: (copy: Registry) => void) => {
    const copy = JSON.parse(content) as Registry;
    change(copy);
    return signed(registryText(copy));
  };
  const body = signed(content);
  for (const [asked, ...refusal] of [
    [publish(id, body, first), 'FORBIDDEN', 'same_person'],
    [publish(id, body, asOwner), 'FORBIDDEN', undefined],
    [publish(nobodys, body), 'NOT_FOUND', undefined],
    [publish(id, signed(content, [REGISTRY_KEYS[0]!, STRANGER])), 'INVALID_INPUT', 'registry_not_signed'],
    [publish(id, { ...body, content: `${content} ` }), 'INVALID_INPUT', 'not_canonical'],
    [
      publish(
        id,
        changed((copy) => (copy.version = 3)),
      ),
      'CONFLICT',
      'registry_moved',
    ],
    [
      publish(
        id,
        changed(({ routes }) => (routes[0]!.messenger = USDC)),
      ),
      'INVALID_INPUT',
      'not_the_proposal',
    ],
    [
      publish(
        id,
        changed(({ tokens }) => tokens.pop()),
      ),
      'INVALID_INPUT',
      'not_the_proposal',
    ],
  ] as [Promise<unknown>, string, string | undefined][])
    t.deepEqual((await refusalOf(asked)).slice(0, 2), refusal, refusal.join());
  t.is(await stateOf(id), 'proposed', 'nothing was written');
  t.like(await routeOf('eth', 'base'), { status: 'closed', reason: 'not_offered' });

  // Of two that are published for the same number one is in force, and the other is signed anew.
  const other = await proposed({ deployments: [{ chain: 'avax', contract: DAI_E, deprecated: true }] });
  const late = signed((await versionOf(other.id)).content);
  const outcomes = await Promise.all([publish(id, body), publish(id, body), publish(other.id, late)]);
  const won = outcomes.filter((outcome) => !isRefusal(outcome));
  t.is(won.length, 1);
  for (const outcome of outcomes.filter(isRefusal)) {
    t.is(outcome.code, 'CONFLICT');
    t.true(['registry_moved', 'state'].includes(String(outcome.details['reason'])));
  }
  for (const left of [id, other.id]) {
    if ((await stateOf(left)) === 'published') continue;
    const again = signed((await versionOf(left)).content);
    t.like(await publish(left, again), { state: 'published', version: 3, publishedBy: two.id });
  }
  t.is((await refusalOf(publish(id, body)))[1], 'state');
  t.like(await routeOf('eth', 'base'), { status: 'open', reason: null, protocol: 'cctp_v2' });
  t.like(await routeOf('base', 'eth'), { status: 'closed', reason: 'not_offered' });
  const [newest] = await cloud.database.owner<{ content: string; keys: number }[]>`
    select v.content, (select count(*) from flock.registry_signature s where s.version = v.version)::int as keys
      from flock.registry_version v order by v.version desc limit 1`;
  const inForce = JSON.parse(newest!.content) as Registry;
  t.is(newest!.keys, 2);
  t.true(inForce.tokens.some(({ deployments }) => deployments.some((at) => at.contract === DAI_E && at.deprecated)));
  t.is(registryIn().take(frameOfVersion(inForce)), null, 'an edge takes it');
});

test.serial('treasury K8, H1: a route is closed, and none stays open over what no bridge takes', async (t) => {
  const deprecated = { chain: 'eth', contract: USDC, deprecated: true };
  t.deepEqual(await refusalOf(propose({ deployments: [deprecated] })), ['INVALID_INPUT', 'route_not_pinned', 'routes']);
  const { id } = await proposed({ deployments: [deprecated], routes: [way('eth', 'base', 'closed')] });
  t.like(await publish(id, signed((await versionOf(id)).content)), { state: 'published', version: 4 });
  t.like(await routeOf('eth', 'base'), { status: 'closed', reason: 'deprecated' });
});

test.serial(
  'treasury K8: hazards and names change as proposed, and nothing else of a token does; it is taken back with a reason',
  async (t) => {
    const { id } = await proposed({
      deployments: [
        { chain: 'avax', contract: DAI_E, hazards: ['pausable', 'fee_on_transfer'], name: 'Dai bridged', source: 'x' },
      ],
    });
    const next = JSON.parse((await versionOf(id)).content) as Registry;
    const entryIn = ({ tokens }: Registry) =>
      tokens.find(({ deployments }) => deployments.some(({ contract }) => contract === DAI_E))!;
    const { deployments, name } = entryIn(next);
    t.is(name, 'Dai bridged');
    const was = entryIn(shippedRegistry).deployments[0]!;
    t.deepEqual(deployments, [
      { ...was, deprecated: true, source: 'x', hazards: ['fee_on_transfer', 'pausable'], feeOnTransfer: true },
    ]);
    const others = ({ tokens }: Registry) => tokens.filter((entry) => entry.symbol !== entryIn(next).symbol);
    t.deepEqual(
      others(next).filter(({ symbol }) => symbol !== 'USDC'),
      others(shippedRegistry).filter(({ symbol }) => symbol !== 'USDC'),
    );

    const unsaid = second.call('withdrawRegistryProposal', { params: { id }, body: {} as { reason: string } });
    t.deepEqual(await refusalOf(unsaid), ['INVALID_INPUT', undefined, 'reason']);
    t.like(await withdraw(id), { state: 'withdrawn', withdrawnBy: two.id, reason: REASON });
    const over = ['CONFLICT', 'state'];
    t.deepEqual((await refusalOf(withdraw(id))).slice(0, 2), over);
    t.deepEqual((await refusalOf(second.call('getProposedVersion', { params: { id } }))).slice(0, 2), over);
    t.is((await refusalOf(withdraw(nobodys)))[0], 'NOT_FOUND');
    for (const name of ['getRegistryProposal', 'getProposedVersion'] as const)
      t.is((await refusalOf(second.call(name, { params: { id: nobodys } })))[0], 'NOT_FOUND', name);
    const page = await first.must('listRegistryProposals', { query: { size: '3' } });
    t.is(page.content[0]!.id, id, 'newest first');
    const rest = await first.must('listRegistryProposals', { query: { size: '3', after: page.next! } });
    t.deepEqual([page.content.length, rest.content.length, rest.next], [3, 1, null]);
  },
);

test.serial('treasury K10: the tables hold that two people publish, and that what has ended stays', async (t) => {
  const { id } = await proposed({ deployments: [{ chain: 'eth', contract: USDC, deprecated: false }] });
  const set = (change: string) =>
    t.throwsAsync(async () =>
      cloud.database.owner.unsafe(`update flock.registry_proposal set ${change} where id = '${id}'`),
    );
  const published = (by: string) => `state = 'published', version = 2, published_by = '${by}'`;
  t.regex((await set(published(one.id))).message, /registry_proposal_two_people/);
  t.regex((await set(`state = 'published', version = 2`)).message, /registry_proposal_published/);
  t.regex((await set(`changes = '{}'`)).message, /registry_proposal_ended_once/);
  t.regex((await set(`reason = 'x'`)).message, /registry_proposal_reason/);
  await withdraw(id, first);
  t.regex((await set(`state = 'proposed', withdrawn_by = null`)).message, /registry_proposal_ended_once/);
});

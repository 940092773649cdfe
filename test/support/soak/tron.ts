/** TRON in the soak: three nodes over one ledger. */
import { networkOf } from '../../../chains/registry.ts';
import type { Knobs } from '../../../developer/stand-ins/tron/api.ts';
import { createTronStandIn, keyOf } from '../../../developer/stand-ins/tron/stand-in.ts';
import { between, envOf, LAG_BLOCKS_MAX, oneOf, type SoakChain } from './soak-chain.ts';

const NODES = 3;
const PAYER_SUN = 1_000_000_000_000n;
/** What comes back after many reorgs must not have expired meanwhile. */
const EXPIRY_MS = 12 * 3_600_000;
type Told = Record<string, unknown>;
type Lie = NonNullable<Knobs['lie']>;

const headerOf = (answer: unknown) => (answer as { block_header?: { raw_data?: Told } }).block_header;
/** A header of another height, under a name that says so too. */
const raised = (answer: unknown): unknown => {
  const header = headerOf(answer),
    height = Number(header?.raw_data?.['number'] ?? 0) + 40;
  if (header?.raw_data === undefined) return answer;
  return {
    ...(answer as Told),
    blockID: height.toString(16).padStart(16, '0') + 'ab'.repeat(24),
    block_header: { ...header, raw_data: { ...header.raw_data, number: height } },
  };
};
const renamed = (answer: unknown): unknown =>
  headerOf(answer) === undefined
    ? answer
    : { ...(answer as Told), blockID: String((answer as Told)['blockID']).slice(0, 16) + 'ab'.repeat(24) };

/**
 * Infos left out, of another height, none; a block without transactions, of another name, lost; a head that is not
 * there.
 */
const LIES: readonly Lie[] = [
  (_view, method, _body, answer) =>
    method === 'gettransactioninfobyblocknum' && Array.isArray(answer) ? answer.slice(1) : answer,
  (_view, method, _body, answer) =>
    method === 'gettransactioninfobyblocknum' && Array.isArray(answer)
      ? answer.map((info: Told) => ({ ...info, blockNumber: Number(info['blockNumber']) + 1 }))
      : answer,
  (_view, method, _body, answer) => (method === 'gettransactioninfobyblocknum' ? {} : answer),
  (_view, method, _body, answer) => (method === 'getblockbynum' ? { ...(answer as Told), transactions: [] } : answer),
  (_view, method, _body, answer) =>
    method === 'getblockbynum'
      ? { ...(answer as Told), transactions: [] }
      : method === 'gettransactioninfobyblocknum'
        ? []
        : answer,
  (_view, method, _body, answer) => (method.startsWith('getblock') ? renamed(answer) : answer),
  (_view, method, _body, answer) => (method === 'getblockbynum' ? {} : answer),
  (_view, method, body, answer) =>
    method === 'getnowblock' || (method === 'getblock' && body['id_or_num'] === undefined) ? raised(answer) : answer,
  (_view, method, _body, answer) => (method === 'gettransactioninfobyid' ? {} : answer),
];

export async function openTron(): Promise<SoakChain> {
  const standIn = createTronStandIn(),
    { ledger } = standIn,
    payer = keyOf('payer'),
    { threshold } = networkOf('tron');
  standIn.setAccount(payer.address, { balance: PAYER_SUN });
  const nodes = Array.from({ length: NODES }, () => standIn.openNode());
  const urls = await Promise.all(nodes.map((node) => node.listen()));
  return {
    chain: 'tron',
    unit: 1_000_000n,
    threshold,
    reorgMax: 12,
    peers: NODES,
    cloudEnv: envOf('tron', urls),
    pay: async (address, amount) => standIn.send(payer, { type: 'TransferContract', to: address, amount }, EXPIRY_MS),
    mine: async (blocks) => ledger.mine(blocks),
    async reorg(depth, comesBack) {
      const head = ledger.headHeight();
      const removed = Array.from({ length: depth }, (_, i) => ledger.block(head - depth + 1 + i)!.entries).flat();
      ledger.reorg(depth, 'lost');
      for (const { transaction } of removed)
        if (comesBack(transaction.txid)) ledger.broadcast(transaction.bytes, new Set());
    },
    async makeIll(peer, ill, random) {
      const { knobs } = nodes[peer]!;
      if (ill === 'dead') knobs.down = true;
      else if (ill === 'limits') knobs.limited = oneOf(random, [403, 429] as const);
      else if (ill === 'lags') knobs.lagBlocks = between(random, 1, LAG_BLOCKS_MAX);
      else knobs.lie = oneOf(random, LIES);
    },
    heal: async () => {
      for (const { knobs } of nodes) Object.assign(knobs, { down: false, limited: null, lagBlocks: 0, lie: null });
    },
    stands: async (txid) => ledger.find(txid)?.entry.contractRet === 'SUCCESS',
    headHeight: async () => ledger.headHeight(),
    close: () => standIn.close(),
  };
}

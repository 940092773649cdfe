/** Whether the company's own nodes are of the chain, and how old the newest block of each is. */
import type { Chain } from '../../protocol/slugs.ts';
import { fail, ok, reasonOf, warn, type Check, type Finding } from '../../protocol/node/doctor/examine.ts';
import { catalogueOf } from '../../chains/catalogue.ts';
import { networkOf } from '../../chains/registry.ts';
import type { EdgeConfig } from '../config.ts';
import { createOwnNodes } from '../signing/own-nodes.ts';

const AGE_MIN_MS = 120_000;
const AGE_BLOCKS = 10;
const PAGE = 'docs/runbooks/endpoint-down.md';

/** A check for each chain that has a node, of each of its addresses alone. */
export function ownNodeChecks({ verifyNodes }: EdgeConfig): Check[] {
  return [...verifyNodes].map(([chain, urls]) => ({
    id: `verify_node_${chain}`,
    page: PAGE,
    look: async () => {
      const findings = await Promise.all(urls.map((url, at) => nodeFinding(chain, url, at + 1)));
      return findings.find(({ verdict }) => verdict === 'fail') ?? findings.find(isNoted) ?? findings[0]!;
    },
  }));
}

const isNoted = ({ verdict }: Finding): boolean => verdict !== 'ok';

/** `number`: its place in the setting; an address may carry a key. */
async function nodeFinding(chain: Chain, url: string, number: number): Promise<Finding> {
  const setting = `EDGE_VERIFY_RPC_${chain.toUpperCase()}`;
  const nodes = createOwnNodes({
    nodes: new Map([[chain, [url]]]),
    catalogueOf,
    monotonicMs: () => performance.now(),
  });
  try {
    const { client } = await nodes.of(chain);
    await client.checkIdentity();
    const { height } = await client.getHead();
    const block = await client.getBlock(height);
    const age = block.timeMs === null ? 0 : Date.now() - block.timeMs;
    const oldest = Math.max(AGE_MIN_MS, AGE_BLOCKS * networkOf(chain).blockTimeMs);
    const seen = `node ${number} is at ${height}, ${Math.max(0, Math.round(age / 1_000))} s old`;
    return age > oldest ? warn(seen, `look whether node ${number} of ${setting} still follows`) : ok(seen);
  } catch (error) {
    const reason = (error as { reason?: unknown }).reason;
    const why = typeof reason === 'string' && /^[\w ]{1,80}$/.test(reason) ? reason : reasonOf(error);
    return fail(`node ${number} is not usable: ${why}`, `correct ${setting}, or mend the node`);
  } finally {
    await nodes.close();
  }
}

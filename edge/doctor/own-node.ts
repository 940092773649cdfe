/** Whether the company's own nodes are of the chain, and how old the newest block of each is. */
import { newestOf, withNode } from '../../chains/node-look.ts';
import { fail, ok, reasonOf, warn, type Check, type Finding } from '../../protocol/node/doctor/examine.ts';
import type { Chain } from '../../protocol/slugs.ts';
import type { EdgeConfig } from '../config.ts';
import { NODE_ANSWER_TIMEOUT_MS } from '../signing/own-nodes.ts';

const PAGE = 'docs/runbooks/endpoint-down.md';

/** A check for each chain that has a node, of each of its addresses alone. */
export function ownNodeChecks({ verifyNodes }: EdgeConfig): Check[] {
  return [...verifyNodes].map(([chain, urls]) => ({
    id: `verify_node_${chain}`,
    page: PAGE,
    look: async (signal) => {
      const findings = await Promise.all(urls.map((url, at) => nodeFinding({ chain, url, number: at + 1 }, signal)));
      return findings.find(({ verdict }) => verdict === 'fail') ?? findings.find(isNoted) ?? findings[0]!;
    },
  }));
}

const isNoted = ({ verdict }: Finding): boolean => verdict !== 'ok';

/** `number`: its place in the setting; an address may carry a key. */
async function nodeFinding(
  { chain, url, number }: { chain: Chain; url: string; number: number },
  signal: AbortSignal,
): Promise<Finding> {
  const setting = `EDGE_VERIFY_RPC_${chain.toUpperCase()}`;
  try {
    const { height, ageMs, isLate } = await withNode(
      chain,
      url,
      { timeoutMs: NODE_ANSWER_TIMEOUT_MS, signal },
      (client) => newestOf(chain, client, Date.now()),
    );
    const seen = `node ${number} is at ${height}${ageMs === null ? '' : `, ${Math.round(ageMs / 1_000)} s old`}`;
    return isLate ? warn(seen, `look whether node ${number} of ${setting} still follows`) : ok(seen);
  } catch (error) {
    return fail(`node ${number} is not usable: ${reasonOf(error)}`, `correct ${setting}, or mend the node`);
  }
}

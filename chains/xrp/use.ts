/**
 * Whether addresses were used, at one validated ledger of one server. An account that was deleted is seen by its
 * transactions, as far back as the server has ledgers. Migration M-D6.
 */
import { ChainUnavailable, type Endpoint, type Transport } from '../chain.ts';
import type { Use, UseAsk } from '../use.ts';
import { listIn } from '../node-answer.ts';
import { readAccount } from './account-reader.ts';
import type { Heads } from './heads.ts';
import { refusedBy, tryAsk } from './node.ts';
import { holds } from './standing.ts';

/** The oldest ledger that there is: those before it were lost in 2012. Source: xrpl.org "Ledger History". */
const FIRST_LEDGER = 32_570;

/** Throws: ChainUnavailable, MalformedReply. */
export async function readUse(transport: Transport, heads: Heads, node: Endpoint, { addresses }: UseAsk): Promise<Use> {
  const { height, complete } = await heads.standingOf(node);
  const isWhole = holds(complete, FIRST_LEDGER, height);
  const used: boolean[] = [];
  let requests = 1;
  for (const address of addresses) {
    requests += 1;
    if ((await readAccount(transport, node, address, height)) !== null) used.push(true);
    else {
      requests += 1;
      used.push(await hasTransactions(transport, node, address));
    }
  }
  return { used, evidence: isWhole ? 'history' : 'state', height, requests };
}

async function hasTransactions(transport: Transport, node: Endpoint, account: string): Promise<boolean> {
  const asked = { account, ledger_index_min: -1, ledger_index_max: -1, limit: 1 };
  const answer = await tryAsk(transport, node, 'account_tx', asked);
  if (!answer.ok) {
    if (answer.error.token === 'actNotFound') return false;
    throw refusedBy('account_tx', answer.error);
  }
  if (answer.result['account'] !== account) throw new ChainUnavailable('xrp', 'account_tx: another account');
  return listIn(answer.result['transactions'], 'transactions').length > 0;
}

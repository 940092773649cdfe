/**
 * Proof that a transaction can never land (G27, L31): the finalized block height is above its last valid one, its
 * block hash is no longer taken, and the status with history is null; in this order, so that what lands meanwhile is
 * seen. Two endpoints must prove it where there are several, each of which keeps the time in which it could have
 * landed.
 */
import { ChainUnavailable, type Fate, type Network, type Transport, type Unsigned } from '../chain.ts';
import { countIn } from '../node-answer.ts';
import { decodeMessage } from './message.ts';
import { ask, call, contextual, CONFIRMED, endpointsOf, FINALIZED, type Node } from './node.ts';
import { readStatus } from './status.ts';

const PROOFS_NEEDED = 2;

/** One endpoint's word: a proof, or what is missing to it. */
type Word = { readonly dead: true; readonly height: number } | { readonly dead: false; readonly reason: string };

/** `dead` with its proof, or `unknown` with what is missing. Throws: MalformedReply. */
export async function proveDeath(
  network: Network,
  transport: Transport,
  unsigned: Unsigned,
  txid: string,
): Promise<Fate> {
  const needed = Math.min(PROOFS_NEEDED, transport.endpoints.length);
  const heights: number[] = [],
    missing: string[] = [];
  for (const endpoint of endpointsOf(transport)) {
    if (heights.length === needed) break;
    const word = await wordOf({ network, transport, endpoint }, unsigned, txid);
    if (word.dead) heights.push(word.height);
    else missing.push(`${endpoint.name}: ${word.reason}`);
  }
  if (heights.length < needed) {
    return { kind: 'unknown', reason: missing.join('; ') || 'too few endpoints can be asked' };
  }
  const proof =
    `block height ${Math.min(...heights)} is final, ${expiryOf(unsigned)} was the last valid one, and ` +
    `${heights.length === 1 ? 'the node knows' : `${heights.length} nodes know`} no status of ${txid}`;
  return { kind: 'dead', proof };
}

function expiryOf({ replayKey }: Unsigned): number {
  if (replayKey.kind !== 'expiry') throw new Error('a Solana payment without an expiry');
  return Number(replayKey.value);
}

async function wordOf(node: Node, unsigned: Unsigned, txid: string): Promise<Word> {
  try {
    const height = countIn(await ask(node, call('getBlockHeight', FINALIZED)), 'block height');
    const lastValid = expiryOf(unsigned);
    if (height <= lastValid) {
      return { dead: false, reason: `valid up to block height ${lastValid}, final is ${height}` };
    }
    if (await isStillTaken(node, unsigned)) return { dead: false, reason: 'the block hash is still valid' };
    const first = countIn(await ask(node, call('getFirstAvailableBlock')), 'first available block');
    if (first > unsigned.readAtHeight) return { dead: false, reason: `no history before slot ${first}` };
    const status = await readStatus(node, txid);
    return status === null ? { dead: true, height } : { dead: false, reason: `status ${status.level}` };
  } catch (error) {
    if (error instanceof ChainUnavailable) return { dead: false, reason: error.reason };
    throw error;
  }
}

/** An expiry that a node once stated too low is not enough: the chain itself must refuse the hash. */
async function isStillTaken(node: Node, { payload }: Unsigned): Promise<boolean> {
  const message = decodeMessage(Buffer.from(payload, 'base64'));
  if (!message.ok) throw new Error(`a payload of ours does not decode: ${message.reason}`);
  const asked = call('isBlockhashValid', message.blockhash, CONFIRMED);
  return contextual(await ask(node, asked), asked.method).value !== false;
}

/**
 * Blocks above the height that an import recorded, read again with the addresses that it adopted: nobody watched them
 * while the batch was filled. In the watcher's own turn, so that each later block is matched with them. Migration
 * M-I15.
 */
import { readAgreed } from './movements.ts';
import { contentOf } from './content.ts';
import type { Run } from '../memory.ts';
import type { Cursor } from '../../model/ports/watch-store.ts';

/** Batches and blocks of one tick. */
const BATCHES_PER_TICK = 20;
const BLOCKS_PER_TICK = 64;

/** Answers the number of accounts that got facts. Throws: ChainUnavailable; what was read stays noted. */
export async function readForAdopted(run: Run, cursor: Cursor): Promise<number> {
  const {
    parts: { store, ledger },
    waker,
  } = run;
  const behind = await store.adoptedBehind(ledger, BATCHES_PER_TICK);
  let late = 0,
    left = BLOCKS_PER_TICK;
  for (const one of behind) {
    let height = one.nextHeight;
    for (; height <= cursor.height && left > 0; height += 1, left -= 1) {
      const block = await readAgreed(run, height);
      const { record } = await contentOf(run, block, null);
      if (record.transfers.length === 0) continue;
      const accounts = await store.recordLate(ledger, { height, hash: block.hash }, record.transfers);
      waker.wake(accounts);
      late += accounts.length;
    }
    const isDone = height > cursor.height;
    if (isDone || height > one.nextHeight)
      await store.noteAdopted(ledger, { ...one, readFrom: one.nextHeight, nextHeight: height, isDone });
  }
  return late;
}

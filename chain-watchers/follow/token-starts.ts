/** From which height a ledger watches tokens of later versions of the registry, asked once for each version. K12. */
import { FIRST_VERSION } from '../../chains/catalogue.ts';
import type { WatchStore } from '../../model/ports/watch-store.ts';
import type { LedgerId } from '../../protocol/ids.ts';

const NONE: ReadonlyMap<string, number> = new Map();

/** `version` is that of the registry in force. */
export function tokenStartsOf(
  store: Pick<WatchStore, 'tokenStarts'>,
  ledger: LedgerId,
  version: () => number,
): () => Promise<ReadonlyMap<string, number>> {
  let known: { readonly version: number; readonly starts: Promise<ReadonlyMap<string, number>> } | null = null;
  const ask = async () =>
    new Map(
      (await store.tokenStarts(ledger)).flatMap(({ contract, height }) =>
        height === null ? [] : [[contract, height] as const],
      ),
    );
  return async () => {
    const now = version();
    if (now === FIRST_VERSION) return NONE;
    if (known?.version !== now) known = { version: now, starts: ask() };
    try {
      return await known.starts;
    } catch (error) {
      known = null;
      throw error;
    }
  };
}

/** How the registered key sources change. */
import type { KeySourceState } from '../../model/account/key-source.ts';
import type { Folds } from '../account/decision.ts';

export const keySourceFolds: Folds<KeySourceState, KeySourceState> = {
  key_source_registered: ({ keySources }, { source }) => ({ keySources: { ...keySources, [source.id]: source } }),
  key_source_purged: ({ keySources }, { id, atMs }) => {
    const source = keySources[id];
    return source === undefined ? {} : { keySources: { ...keySources, [id]: { ...source, purgedAtMs: atMs } } };
  },
  account_wiped: () => ({ keySources: {} }),
  sandbox_reset: ({ keySources }) => ({
    keySources: Object.fromEntries(Object.entries(keySources).map(([id, source]) => [id, { ...source, addresses: 0 }])),
  }),
};

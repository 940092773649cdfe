/** Phrases and keys from elsewhere. */
import type { KeySourceCommand, KeySourceState } from '../../model/account/key-source.ts';
import type { Capability } from '../account/decision.ts';
import { purgeKeySource, registerKeySource } from './decide.ts';
import { keySourceFolds } from './evolve.ts';

export const keySource: Capability<KeySourceCommand, KeySourceState, KeySourceState> = {
  owns: ['keySources'],
  decide: { register_key_source: registerKeySource, purge_key_source: purgeKeySource },
  folds: keySourceFolds,
};

/** The TRON family: tron. */
import type { ChainModule } from '../chain.ts';
import { agreeInputs } from './agreed.ts';
import { blockFromAnswers } from './block.ts';
import type { TronInputs } from './build-inputs.ts';
import { createClient } from './client.ts';
import { tronFacts } from './facts.ts';
import { estimateFee } from './fee.ts';
import { matchSigned } from './signed.ts';
import type { TronBlock } from './transfers.ts';
import { buildUnsigned, nextReplayValue, reprice } from './unsigned.ts';

export const tron: ChainModule<TronBlock, TronInputs> = {
  ...tronFacts,
  blockFromAnswers,
  estimateFee,
  declines: ({ tried }) => (tried.kind === 'reverted' ? tried.reason : null),
  buildUnsigned,
  matchSigned,
  reprice,
  nextReplayValue,
  agreeInputs,
  createClient,
};

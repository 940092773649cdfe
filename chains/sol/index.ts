/** The Solana family. */
import type { ChainModule } from '../chain.ts';
import { agreeInputs } from './agreed.ts';
import { blockFromAnswers } from './block.ts';
import { createClient } from './client.ts';
import { solFacts } from './facts.ts';
import { estimateFee, type SolInputs } from './fee.ts';
import { matchSigned } from './signed.ts';
import type { SolBlock } from './transfers.ts';
import { buildUnsigned, nextReplayValue, reprice } from './unsigned.ts';

export const sol: ChainModule<SolBlock, SolInputs> = {
  ...solFacts,
  blockFromAnswers,
  estimateFee,
  declines: ({ token, compute }) => token?.refusal ?? (compute.kind === 'failed' ? compute.reason : null),
  buildUnsigned,
  matchSigned,
  reprice,
  nextReplayValue,
  agreeInputs,
  createClient,
};

/** The EVM family: eth, bsc, polygon, avax and base. */
import type { ChainModule } from '../chain.ts';
import { agreeInputs } from './agreed.ts';
import { blockFromAnswers } from './block.ts';
import type { EvmRaw } from './raw.ts';
import { createClient } from './client.ts';
import { evmFacts } from './facts.ts';
import { estimateFee, type EvmInputs } from './fee.ts';
import { matchSigned } from './signed.ts';
import { formerOutputIndex, outcomesIn, transfersIn } from './transfers.ts';
import { buildUnsigned, cancel, nextReplayValue, pendingReplayValue, reprice, withCounter } from './unsigned.ts';

export const evm: ChainModule<EvmRaw, EvmInputs> = {
  ...evmFacts,
  blockFromAnswers,
  transfersIn,
  formerOutputIndex,
  outcomesIn,
  estimateFee,
  declines: ({ gas }) => (gas.kind === 'reverted' ? gas.reason : null),
  buildUnsigned,
  matchSigned,
  reprice,
  withCounter,
  cancel,
  nextReplayValue,
  pendingReplayValue,
  agreeInputs,
  createClient,
};

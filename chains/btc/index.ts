/** The Bitcoin family: btc. */
import type { ChainModule } from '../chain.ts';
import { agreeInputs } from './agreed.ts';
import { blockFromAnswers } from './block.ts';
import { createClient } from './client.ts';
import type { BtcInputs } from './coin.ts';
import { btcFacts } from './facts.ts';
import { estimateFee, exactFee } from './fee.ts';
import { matchSigned } from './signed.ts';
import type { BtcBlock } from './transfers.ts';
import { buildUnsigned, nextReplayValue, reprice } from './unsigned.ts';

export const btc: ChainModule<BtcBlock, BtcInputs> = {
  ...btcFacts,
  blockFromAnswers,
  estimateFee,
  exactFee,
  buildUnsigned,
  matchSigned,
  reprice,
  nextReplayValue,
  agreeInputs,
  createClient,
};

/** The Stellar family. */
import type { ChainModule } from '../chain.ts';
import { agreeInputs } from './agreed.ts';
import { createClient } from './client.ts';
import { xlmFacts } from './facts.ts';
import { estimateFee } from './fee.ts';
import type { XlmInputs } from './inputs.ts';
import { declines } from './payable.ts';
import { matchSigned } from './signed.ts';
import type { XlmLedger } from './transfers.ts';
import { buildUnsigned, nextReplayValue, reprice, withCounter } from './unsigned.ts';

export const xlm: ChainModule<XlmLedger, XlmInputs> = {
  ...xlmFacts,
  estimateFee,
  declines,
  buildUnsigned,
  matchSigned,
  reprice,
  withCounter,
  nextReplayValue,
  agreeInputs,
  createClient,
};

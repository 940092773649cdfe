/** The XRP Ledger family: xrp. */
import type { ChainModule } from '../chain.ts';
import { agreeInputs } from './agreed.ts';
import { createClient } from './client.ts';
import { xrpFacts } from './facts.ts';
import { estimateFee } from './fee.ts';
import type { XrpInputs } from './inputs.ts';
import { blockFromAnswers } from './ledger.ts';
import { matchSigned } from './signed.ts';
import { declines } from './payable.ts';
import type { XrpLedger } from './transfers.ts';
import { arrives, buildUnsigned, nextReplayValue, reprice, withCounter } from './unsigned.ts';

export const xrp: ChainModule<XrpLedger, XrpInputs> = {
  ...xrpFacts,
  blockFromAnswers,
  estimateFee,
  declines,
  arrives,
  buildUnsigned,
  matchSigned,
  reprice,
  withCounter,
  nextReplayValue,
  agreeInputs,
  createClient,
};

/** What answers of a sandbox's levers are: the simulated world is the cloud's. */
import type { ReplyOf } from '../../protocol/routes.ts';
import { firstFalse, nothing, word, type Ask } from './known.ts';

/** What was asked of an endpoint is what is said of it. */
const falseFailures = ({ webhookId, attempts }: ReplyOf<'simulateEndpointFailure'>, { body }: Ask): string | null =>
  firstFalse(['webhookId', webhookId === body['webhookId']], ['attempts', attempts === body['attempts']]);

export const SANDBOX_RULES = {
  simulateDeposit: word('txid', 'outputIndex', 'height'),
  simulateConfirmation: word('confirmations'),
  simulateStuck: word('stuck', 'mined', 'mined.*'),
  simulateReplaced: word('txid', 'height'),
  simulateEdgeOffline: word('until'),
  getSandboxClock: word('now', 'aheadSeconds'),
  advanceSandboxClock: word('now', 'ran', 'ran.*.at', 'ran.*.what', 'ran.*.id'),
  simulateEndpointFailure: { falseField: falseFailures, word: [] },
  simulateReorg: word('depth'),
  simulateChainDown: word('until'),
  simulateActivity: word('addresses', 'historical', 'live', 'txids', 'txids.*'),
  simulateConflict: word('address', 'batchId'),
  simulateDuplicateDelivery: word('deliveryIds', 'deliveryIds.*'),
  resetSandbox: { falseField: nothing, word: [] },
};
